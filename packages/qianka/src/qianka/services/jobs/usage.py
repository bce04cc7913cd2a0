"""What running jobs use over time: written by the worker's sampler, read beside the learning curve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from qianka.services import access
from qianka.services.platform import Caller, Platform
from qianka.store.repos import jobs as jobs_repo
from qianka.store.repos import usage as repo
from qianka.store.tables import UsageSample

MOST = 720
"""samples kept of a run; when there are more, every second one goes and the next ones come half as often"""


@dataclass(frozen=True, kw_only=True)
class Look:
    """One look at a running job; None where that could not be measured."""

    job: str
    run: int
    at: datetime
    cpu_percent: float | None = None
    """of one core: 200 means two cores"""
    memory: int | None = None
    """bytes"""
    card_percent: float | None = None
    """mean over the job's cards"""
    card_memory: int | None = None
    """bytes, of all its cards"""


@dataclass(frozen=True)
class JobUsage:
    """The samples of a job and the start of each of its runs."""

    samples: list[UsageSample] = field(default_factory=list)
    started: dict[int, datetime] = field(default_factory=dict)


def record(session: Session, looks: Iterable[Look]) -> None:
    """Keep looks inside the caller's transaction."""
    session.add_all(
        UsageSample(
            job_id=look.job,
            run=look.run,
            at=look.at,
            cpu_percent=look.cpu_percent,
            memory=look.memory,
            card_percent=look.card_percent,
            card_memory=look.card_memory,
        )
        for look in looks
    )


def usage_of(platform: Platform, caller: Caller, job_id: str) -> JobUsage:
    """What a job used over time, oldest sample first. Raises NotFound."""
    with platform.store.reading() as session:
        job = access.job_for(session, caller, job_id)
        samples = repo.of_job(session, job.id)
        return JobUsage(samples, {run.number: run.started_at for run in jobs_repo.runs_of(session, job.id)})
