"""The record of a run's end, as it stands in result.json."""

from __future__ import annotations

import os
import time

from qianka.sandbox.environment import threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from qianka.supervisor.watch import Watch


class Outcome:
    """What is known of a run; whatever happens, it can be written down."""

    def __init__(self, run: int) -> None:
        self.run = run
        self.job: dict[str, Any] = {}
        self.fence: dict[str, Any] = {}
        self.state = "NODE_FAIL"
        self.reason: dict[str, Any] | None = None
        self.started = time.time()
        self.wall = 0.0
        self.level = "none"
        self.missing: list[str] = []
        self.out: dict[str, Any] = {"files": 0, "bytes": 0, "refused": []}
        self.figures: dict[str, Any] = {}
        self.peer: dict[str, Any] | None = None
        """what the other side of a paired run ended with"""

    def know(self, job: dict[str, Any], fence: dict[str, Any]) -> None:
        """Once job.json and fence.json are read."""
        self.job, self.fence = job, fence

    def end(self, state: str, reason: dict[str, Any] | None) -> None:
        """State and reason."""
        self.state, self.reason = state, reason

    def take(self, watch: Watch, stderr: int) -> None:
        """The figures of a run that took place."""
        self.figures = figures_of(watch, stderr)


def figures_of(watch: Watch, stderr: int) -> dict[str, Any]:
    """What was measured of a run, or of one side of it. `stderr`: bytes of that stream."""
    seen = watch.seen
    return {
        "exit_code": seen.code,
        "signal": seen.signal,
        "cpu": None if seen.cpu is None else round(seen.cpu, 4),
        "peak_memory": seen.memory_peak,
        "peak_card_memory": watch.cards.peak if watch.cards is not None else None,
        "measured": dict(watch.meter.measured),
        "output": {"stdout": watch.total - stderr, "stderr": stderr},
        "left_after": watch.left,
        "pids_denied": seen.forks_denied,
    }


def result_of(outcome: Outcome) -> dict[str, Any]:
    """result.json, format 1."""
    resources = outcome.job.get("resources") or {"cpus": 0.0}
    cards = outcome.fence.get("cards") or []
    wall = round(outcome.wall, 4)
    result: dict[str, Any] = {
        "format": 1,
        "job": outcome.job.get("job"),
        "run": outcome.run,
        "state": outcome.state,
        "exit_code": None,
        "signal": None,
        "reason": outcome.reason,
        "started_at": moment(outcome.started),
        "ended_at": moment(outcome.started + outcome.wall),
        "wall": wall,
        "cpu": None,
        "peak_memory": None,
        "peak_card_memory": None,
        "gpu_seconds": round(len(cards) * outcome.wall, 4),
        "cpu_seconds": round(float(resources["cpus"]) * outcome.wall, 4),
        "node": outcome.fence.get("node") or os.uname().nodename,
        "isolation": outcome.level,
        "missing": outcome.missing,
        "measured": {},
        "output": {"stdout": 0, "stderr": 0},
        "out": outcome.out,
        "cores": [int(core) for core in outcome.fence.get("cores") or []],
        "threads": threads(float(resources["cpus"])),
        "left_after": 0,
        "pids_denied": 0,
        "disturbed": None,
    }
    result.update(outcome.figures)
    if outcome.peer is not None:
        result["peer"] = outcome.peer
    if result["cpu"] is not None and result["cpu"] > 0.5:
        # 1.0 for a program that computes on one core all the time; more when it had to wait for the core.
        result["disturbed"] = round(wall / result["cpu"], 4)
    return result


def moment(seconds: float) -> str:
    """ISO 8601 in UTC with milliseconds."""
    whole = int(seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{int((seconds - whole) * 1000):03d}+00:00"
