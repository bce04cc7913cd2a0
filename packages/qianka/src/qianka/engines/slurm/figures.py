"""result.json of a run that no supervisor measured: from what the accounting says of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from qianka.domain.jobs import JobState
from qianka.engines.slurm import states
from qianka.engines.slurm.models import Used

NOTHING = Used(id="", state="CANCELLED")


def result_of(
    job: Mapping[str, Any], run: int, used: Used, *, state: JobState | None = None, reason: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The record of an end: allocated cores and cards times the elapsed time, as Slurm itself charges.

    `state` and `reason` where more is known than the accounting tells.
    """
    ended = states.of(used.state) if state is None else state
    killed = used.signal or (used.code - 128 if 128 < used.code <= 192 else 0)
    return {
        "format": 1,
        "job": job["job"],
        "run": run,
        "state": ended.value,
        "exit_code": None if used.signal and not used.code else used.code,
        "signal": killed or None,
        "reason": reason if reason is not None else _reason(job, used, ended),
        "started_at": _moment(used.start or used.end or used.submit),
        "ended_at": _moment(used.end or used.start or used.submit),
        "wall": used.elapsed,
        "cpu": used.cpu,
        "peak_memory": used.memory,
        "peak_card_memory": None,
        "gpu_seconds": used.gpus * used.elapsed,
        "cpu_seconds": used.cpus * used.elapsed,
        "node": used.nodes or None,
        "isolation": "none",
        "missing": ["isolation"],
        "measured": {"wall": "sacct", "cpu": "sacct", "memory": "sacct"},
        "output": {"stdout": 0, "stderr": 0},
        "out": {"files": 0, "bytes": 0, "refused": []},
        "cores": [],
        "threads": max(1, int(float(job["resources"]["cpus"]))),
        "left_after": 0,
        "pids_denied": 0,
        "disturbed": None,
    }


def told(
    code: str, text: str | None = None, limit: float | None = None, measured: float | None = None
) -> dict[str, Any]:
    """A reason as it stands in a result."""
    return {"code": code, "limit": limit, "measured": measured, "text": text}


def cancelled(used: Used, *, asked: bool) -> dict[str, Any]:
    """Why a run ended CANCELLED: asked for here, or by somebody at Slurm itself."""
    return told("cancelled") if asked else told("cancelled_outside", text=f"scancel, uid {used.by or '?'}")


def _reason(job: Mapping[str, Any], used: Used, state: JobState) -> dict[str, Any] | None:
    if state is JobState.TIMEOUT:
        return told("timeout_wall", limit=float(job["limits"]["wall"]), measured=used.elapsed)
    if state is JobState.OUT_OF_MEMORY:
        return told("out_of_memory", limit=job["resources"]["memory"], measured=used.memory)
    if state is JobState.PREEMPTED:
        return told("preempted")
    if state is JobState.NODE_FAIL:
        return told("lost", text=used.state)
    return None


def _moment(seconds: float | None) -> str:
    instant = datetime.now(timezone.utc) if seconds is None else datetime.fromtimestamp(seconds, timezone.utc)
    return instant.isoformat(timespec="milliseconds")
