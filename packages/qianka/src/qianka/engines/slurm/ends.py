"""What a run ended with, from the supervisor's result, Slurm's word and the accounting. Pure.

A supervisor that Slurm ends by SIGTERM writes CANCELLED; only Slurm knows whether that was a preemption,
a time limit, or somebody's scancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qianka.domain.jobs import JobState
from qianka.engines.base import Status
from qianka.engines.slurm import figures, states
from qianka.engines.slurm.models import Used


def is_open_question(result: Mapping[str, Any], *, asked: bool) -> bool:
    """Whether a supervisor's result needs Slurm's word: it was ended from outside and nobody here asked for that."""
    if asked:
        return False
    code = (result.get("reason") or {}).get("code")
    ended_from_outside = result["state"] == JobState.CANCELLED.value and code == "cancelled"
    return ended_from_outside or (result["state"] == JobState.NODE_FAIL.value and code == "lost")


def supervised(
    job: Mapping[str, Any], run: int, word: str, used: Used | None, result: dict[str, Any] | None, *, asked: bool
) -> Status:
    """A run with a supervisor. `word`: Slurm's state; `result`: what the supervisor wrote, if it came to that."""
    state = states.of(word)
    known = used or Used(id="", state=word)
    if result is not None and not is_open_question(result, asked=asked):
        return Status(state=JobState(result["state"]), result=result)
    if state is JobState.CANCELLED:
        reason = figures.cancelled(known, asked=asked)
        return _with(job, run, known, result, state, reason)
    if state in (JobState.PREEMPTED, JobState.TIMEOUT):
        return _with(job, run, known, result, state, None)
    if state is JobState.OUT_OF_MEMORY and result is None:
        return _with(job, run, known, None, state, None)
    if result is not None:
        return Status(state=JobState(result["state"]), result=result)
    # COMPLETED or FAILED without a result: the supervisor never came to its end. The platform's fault.
    return Status(state=JobState.NODE_FAIL, detail=f"Slurm says {word}; its supervisor left no result")


def direct(job: Mapping[str, Any], run: int, used: Used, *, asked: bool) -> Status:
    """A person's own job: the accounting alone speaks."""
    state = states.of(used.state)
    if state is JobState.NODE_FAIL:
        return Status(state=state, detail=f"Slurm says {used.state}")
    reason = figures.cancelled(used, asked=asked) if state is JobState.CANCELLED else None
    return Status(state=state, result=figures.result_of(job, run, used, reason=reason))


def _with(
    job: Mapping[str, Any],
    run: int,
    used: Used,
    result: dict[str, Any] | None,
    state: JobState,
    reason: dict[str, Any] | None,
) -> Status:
    made = figures.result_of(job, run, used, state=state, reason=reason)
    if result is not None:
        made = {**result, "state": state.value, "reason": made["reason"]}
    return Status(state=state, result=made)
