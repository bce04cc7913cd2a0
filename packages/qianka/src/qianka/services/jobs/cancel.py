"""Cancelling: a job that waits here ends at once, one that an engine has is asked to."""

from __future__ import annotations

from sqlalchemy.orm import Session

from qianka.domain.jobs import JobKind, JobState
from qianka.errors import Forbidden, Text
from qianka.services import access, audit
from qianka.services.jobs.settle import end
from qianka.services.jobs.stages import tell
from qianka.services.platform import Caller, Platform
from qianka.store.repos import queued
from qianka.store.tables import Job


def cancel(platform: Platform, caller: Caller, job_id: str) -> Job:
    """Cancel a job; again, or after its end, changes nothing.

    Raises NotFound, and Forbidden for a stage of one's own grading: that is not for a student to stop.
    """
    with platform.store.transaction() as session:
        job = access.job_for(session, caller, job_id)
        staff = job.cohort_id is not None and access.is_staff(session, caller, job.cohort_id)
        if job.kind != JobKind.RUN.value and not (staff or caller.is_admin):
            raise Forbidden(
                Text("评分中的步骤不能单独取消", "a stage of a grading cannot be cancelled by itself"),
                Text("交一份新的会取代还在排队的那份", "a newer hand-in takes the place of one still queued"),
                reason="stage",
            )
        if request_cancel(session, platform, job):
            audit.record(session, platform, caller, "job.cancel", f"job:{job.id}")
    platform.wake_worker()
    return job


def request_cancel(session: Session, platform: Platform, job: Job) -> bool:
    """Cancel `job` inside the caller's transaction; False when there is nothing left to do."""
    if job.cancel_at is not None or JobState(job.state).ended:
        return False
    job.cancel_at = platform.now()
    if job.state == JobState.PENDING.value and not queued.is_submitted(session, job):
        end(session, platform, job, JobState.CANCELLED, None)
    else:
        tell(session, platform, job, "cancelling")
    return True
