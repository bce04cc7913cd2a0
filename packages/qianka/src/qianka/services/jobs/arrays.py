"""Job arrays: one job an index, each with its own id, ledger lines and logs, held together by an array's id.

All jobs of an array are made in one transaction. An engine sees jobs like any other: that no more than `most`
run at once is the dispatchers' doing, so arrays are the same on every engine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from qianka.domain.jobs import JobKind
from qianka.ids import new_id
from qianka.services import access, audit
from qianka.services.jobs.cancel import request_cancel
from qianka.services.jobs.indexes import Indexes
from qianka.services.jobs.stages import submit_stage
from qianka.services.platform import Caller, Platform
from qianka.store.repos import arrays as repo
from qianka.store.tables import Job

if TYPE_CHECKING:
    from qianka.services.jobs.own import Admitted


@dataclass(frozen=True)
class JobArray:
    """An array and its jobs in the order of their indexes."""

    id: str
    jobs: list[Job]

    @property
    def states(self) -> dict[str, int]:
        """How many of its jobs are in which state."""
        return dict(Counter(job.state for job in self.jobs))


def variables(array_id: str, indexes: Indexes, index: int) -> dict[str, str]:
    """What a job of an array finds in its environment: our names, and Slurm's for scripts that know those."""
    values = indexes.values
    return {
        "QIANKA_ARRAY": array_id,
        "QIANKA_ARRAY_INDEX": str(index),
        "QIANKA_ARRAY_COUNT": str(len(values)),
        "SLURM_ARRAY_JOB_ID": array_id,
        "SLURM_ARRAY_TASK_ID": str(index),
        "SLURM_ARRAY_TASK_COUNT": str(len(values)),
        "SLURM_ARRAY_TASK_MIN": str(values[0]),
        "SLURM_ARRAY_TASK_MAX": str(values[-1]),
        "SLURM_ARRAY_TASK_STEP": str(indexes.step),
    }


def make(
    session: Session, platform: Platform, caller: Caller, found: Admitted, indexes: Indexes, key: str | None
) -> Job:
    """Queue all jobs of an array inside the caller's transaction; the first is returned and carries `key`."""
    array_id = repo.new_array_id()
    made = []
    # In ascending order, so that jobs begin in the order of their indexes.
    ids = sorted(new_id("j") for _ in indexes.values)
    with session.no_autoflush:
        for place, (job_id, index) in enumerate(zip(ids, indexes.values, strict=True)):
            words = {**found.spec["environment"], **variables(array_id, indexes, index)}
            job = submit_stage(
                session,
                platform,
                key=None if place else key,
                person_id=caller.person_id or 0,
                cohort_id=found.cohort.id if found.cohort else None,
                kind=JobKind.RUN,
                name=found.name,
                spec={**found.spec, "environment": words},
                resources=found.request.resources,
                wall_limit=float(found.request.wall),
                label=found.request.label,
                job_id=job_id,
            )
            job.held_cpus, job.held_gpus = found.held
            job.array_id, job.array_index, job.array_most = array_id, index, indexes.most
            if indexes.most is not None and place >= indexes.most:
                job.reason = {"code": "waiting_array"}
            made.append(job)
    audit.record(session, platform, caller, "job.submit", f"array:{array_id}")
    return made[0]


def get_array(platform: Platform, caller: Caller, array_id: str) -> JobArray:
    """Raises NotFound when there is none that the caller may see."""
    with platform.store.reading() as session:
        return JobArray(array_id, access.array_for(session, caller, array_id))


def array_states(platform: Platform, array_ids: list[str]) -> dict[str, dict[str, int]]:
    """How many jobs of each array are in which state."""
    with platform.store.reading() as session:
        return repo.states(session, array_ids)


def cancel_array(platform: Platform, caller: Caller, array_id: str) -> JobArray:
    """Cancel every job of an array that has not ended, all in one transaction; again, it changes nothing."""
    with platform.store.transaction() as session:
        found = access.array_for(session, caller, array_id)
        changed = [request_cancel(session, platform, job) for job in found]
        if any(changed):
            audit.record(session, platform, caller, "job.cancel", f"array:{array_id}")
    platform.wake_worker()
    return JobArray(array_id, found)
