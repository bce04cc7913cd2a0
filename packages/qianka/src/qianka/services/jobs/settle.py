"""The end of a run: accepted exactly once, entered into the ledger, or tried again after a platform fault.

All of it happens in the caller's transaction; the fence is the job's own run number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from sqlalchemy.orm import Session

from qianka.domain.jobs import JobKind, JobState
from qianka.policy.retry import delay
from qianka.services.jobs.stages import tell
from qianka.services.platform import Platform
from qianka.store.repos import jobs as repo
from qianka.store.tables import Job, Ledger, Run

LOST: dict[str, Any] = {"code": "lost", "limit": None, "measured": None, "text": None}


def settle(
    session: Session,
    platform: Platform,
    job: Job,
    number: int,
    result: Mapping[str, Any] | None,
    *,
    runs: Mapping[tuple[str, int], Run] | None = None,
) -> bool:
    """Take in what run `number` of `job` ended with; None: it is lost. Returns whether it was accepted.

    A result of a run that is no longer the job's, or of a job that has ended, is kept aside with its
    run. NODE_FAIL is the platform's fault: never charged, tried again as a new run up to the job's
    `max_retries`. A run preempted is tried again as well, but what it used is counted.
    `runs`: those already at hand, by job and number.
    A run that was stopped from outside (CANCELLED, but nobody asked) counts as NODE_FAIL, but for a person's
    own job that somebody cancelled at the engine itself (scancel): that is over, and what it used is counted.
    """
    result = None if result is None else dict(result)
    state = JobState.NODE_FAIL if result is None else JobState(result["state"])
    run = repo.run_of(session, job.id, number) if runs is None else runs.get((job.id, number))
    if job.run != number or JobState(job.state).ended:
        if run is not None and run.accepted is None:
            _close(run, state, result, platform.now(), accepted=False)
        return False
    # Cancelled, but not by us: the machine is being shut down, or somebody ended the supervisor.
    stopped = state is JobState.CANCELLED and job.cancel_at is None and not _is_over_outside(job, result)
    faulty = state is JobState.NODE_FAIL or stopped
    if (faulty or state is JobState.PREEMPTED) and job.cancel_at is None:
        if not faulty:
            _enter(session, platform, job, run, number, result or {})
        if not faulty or job.retries < job.max_retries:
            _requeue(session, platform, job, run, state, result, faulty=faulty)
            return False
    if faulty:
        state = JobState.NODE_FAIL if job.cancel_at is None else JobState.CANCELLED
    if run is not None:
        _close(run, state, result, platform.now(), accepted=True)
    if not faulty:
        _enter(session, platform, job, run, number, result or {})
    end(session, platform, job, state, result)
    return True


def end(session: Session, platform: Platform, job: Job, state: JobState, result: dict[str, Any] | None) -> None:
    """Close a job for good and tell of it."""
    reason = (result or {}).get("reason")
    if state is JobState.NODE_FAIL and reason is None:
        reason = dict(LOST)
    if state is JobState.CANCELLED and reason is None:
        reason = {"code": "cancelled"}
    job.state, job.reason, job.result = state.value, reason, result
    job.ended_at = _instant((result or {}).get("ended_at")) or platform.now()
    job.started_at = _instant((result or {}).get("started_at")) or job.started_at
    job.answered_at = platform.now()
    tell(session, platform, job, "ended", reason=reason)


def _requeue(
    session: Session,
    platform: Platform,
    job: Job,
    run: Run | None,
    state: JobState,
    result: dict[str, Any] | None,
    *,
    faulty: bool,
) -> None:
    if run is not None:
        _close(run, state, result, platform.now(), accepted=False)
    wait = 0.0
    if faulty:
        wait = delay(job.retries)
        job.retries += 1
    job.state = JobState.PENDING.value
    job.not_before = platform.now() + timedelta(seconds=wait)
    job.reason = {"code": "waiting_retry", "after": (result or {}).get("reason") or dict(LOST)}
    tell(session, platform, job, "requeued", retries=job.retries, reason=job.reason, seconds=wait)


def _close(run: Run, state: JobState, result: dict[str, Any] | None, now: datetime, *, accepted: bool) -> None:
    run.state, run.accepted, run.result = state.value, accepted, result
    run.ended_at = _instant((result or {}).get("ended_at")) or now


def _enter(
    session: Session, platform: Platform, job: Job, run: Run | None, number: int, result: Mapping[str, Any]
) -> None:
    """One line in the ledger: what was allocated, for as long as the run took."""
    wall = result.get("wall")
    if not isinstance(wall, int | float) or not math.isfinite(wall) or wall < 0:
        return
    ended = _instant(result.get("ended_at")) or platform.now()
    started = _instant(result.get("started_at")) or ended - timedelta(seconds=wall)
    cpu_seconds, gpu_seconds = _used(job, run, result, wall)
    session.add(
        Ledger(
            job_id=job.id,
            run=number,
            person_id=job.person_id,
            cohort_id=job.cohort_id,
            kind=job.kind,
            cpu_seconds=cpu_seconds,
            gpu_seconds=gpu_seconds,
            charged=job.charged,
            started_at=started,
            ended_at=ended,
        )
    )


def _used(job: Job, run: Run | None, result: Mapping[str, Any], wall: float) -> tuple[float, float]:
    """Core-seconds and card-seconds of what was allocated."""
    if (result.get("measured") or {}).get("wall") == "sacct":
        # Slurm's own reckoning: whole nodes where it gave whole nodes.
        return float(result.get("cpu_seconds") or 0.0), float(result.get("gpu_seconds") or 0.0)
    if run is None or run.engine == "slurm":
        return job.cpus * job.nodes * wall, job.gpus * job.nodes * wall
    cores = float(len(run.cores)) if job.cpus >= 1 and run.cores else job.cpus
    return cores * wall, len(run.cards) * wall


def _is_over_outside(job: Job, result: Mapping[str, Any] | None) -> bool:
    code = ((result or {}).get("reason") or {}).get("code")
    return code == "cancelled_outside" and job.kind == JobKind.RUN.value


def _instant(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        # Python 3.10 does not read the Z.
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
