"""Slurm's words for where a job stands, as ours. Every state of the manual is here."""

from __future__ import annotations

from qianka.domain.jobs import JobState

WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
GOING = frozenset(
    {"CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"}
)
ENDED = {
    "COMPLETED": JobState.COMPLETED,
    "FAILED": JobState.FAILED,
    "TIMEOUT": JobState.TIMEOUT,
    "DEADLINE": JobState.TIMEOUT,
    "OUT_OF_MEMORY": JobState.OUT_OF_MEMORY,
    "CANCELLED": JobState.CANCELLED,
    "REVOKED": JobState.CANCELLED,
    "PREEMPTED": JobState.PREEMPTED,
    "NODE_FAIL": JobState.NODE_FAIL,
    "BOOT_FAIL": JobState.NODE_FAIL,
    "LAUNCH_FAILED": JobState.NODE_FAIL,
    "RECONFIG_FAIL": JobState.NODE_FAIL,
}


def of(word: str) -> JobState:
    """Our state of Slurm's `word`; UNKNOWN for one that no version up to now has: nothing is concluded from it."""
    if word in WAITING:
        return JobState.PENDING
    if word in GOING:
        return JobState.RUNNING
    return ENDED.get(word, JobState.UNKNOWN)
