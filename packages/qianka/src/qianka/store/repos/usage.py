"""Queries on what running jobs used over time, and on the ledger of a week."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from qianka.store.tables import Job, Ledger, Person, Run, UsageSample

_CHUNK = 500


def of_job(session: Session, job_id: str) -> list[UsageSample]:
    """All samples of a job, oldest first."""
    query = select(UsageSample).where(UsageSample.job_id == job_id).order_by(UsageSample.at, UsageSample.id)
    return list(session.scalars(query))


def counts(session: Session, job_ids: Sequence[str]) -> dict[tuple[str, int], tuple[int, datetime]]:
    """(how many, the last one's time) by (job, run)."""
    found: dict[tuple[str, int], tuple[int, datetime]] = {}
    for start in range(0, len(job_ids), _CHUNK):
        query = (
            select(UsageSample.job_id, UsageSample.run, func.count(), func.max(UsageSample.at))
            .where(UsageSample.job_id.in_(job_ids[start : start + _CHUNK]))
            .group_by(UsageSample.job_id, UsageSample.run)
        )
        found.update({(job, run): (count, last) for job, run, count, last in session.execute(query)})
    return found


def newest(session: Session, job_ids: Sequence[str]) -> dict[str, UsageSample]:
    """The last sample of each job that has one."""
    found: dict[str, UsageSample] = {}
    for start in range(0, len(job_ids), _CHUNK):
        last = (
            select(func.max(UsageSample.id))
            .where(UsageSample.job_id.in_(job_ids[start : start + _CHUNK]))
            .group_by(UsageSample.job_id)
        )
        rows = session.scalars(select(UsageSample).where(UsageSample.id.in_(last)))
        found.update((row.job_id, row) for row in rows)
    return found


def thin(session: Session, job_id: str, run: int) -> int:
    """Delete every second sample of a run; how many are left."""
    query = select(UsageSample.id).where(UsageSample.job_id == job_id, UsageSample.run == run)
    ids = list(session.scalars(query.order_by(UsageSample.at, UsageSample.id)))
    doomed = ids[1::2]
    for start in range(0, len(doomed), _CHUNK):
        session.execute(delete(UsageSample).where(UsageSample.id.in_(doomed[start : start + _CHUNK])))
    return len(ids) - len(doomed)


def delete_before(session: Session, instant: datetime, limit: int) -> int:
    """Delete the oldest samples before `instant`, at most `limit`; how many."""
    query = select(UsageSample.id).where(UsageSample.at < instant).order_by(UsageSample.at).limit(limit)
    ids = list(session.scalars(query))
    if ids:
        session.execute(delete(UsageSample).where(UsageSample.id.in_(ids)))
    return len(ids)


def running(session: Session) -> Sequence[Any]:
    """What runs: its job, whose it is, and the run that holds cores and cards."""
    query = (
        select(
            Job.id,
            Job.name,
            Job.kind,
            Job.state,
            Job.cohort_id,
            Job.person_id,
            Job.memory,
            Job.wall_limit,
            Job.run,
            Person.name.label("person"),
            Run.node,
            Run.cores,
            Run.cards,
            Run.started_at,
        )
        .join(Run, (Run.job_id == Job.id) & (Run.number == Job.run))
        .join(Person, Person.id == Job.person_id)
        .where(Job.state.in_(("RUNNING", "UNKNOWN")))
        .order_by(Run.started_at, Job.id)
    )
    return session.execute(query).all()


def names(session: Session, person_ids: Iterable[int]) -> dict[int, str]:
    """Names of people by number."""
    query = select(Person.id, Person.name).where(Person.id.in_(sorted(person_ids)))
    return {row.id: row.name for row in session.execute(query)}


def waiting(session: Session) -> tuple[int, datetime | None]:
    """How many jobs wait, and since when the first of them."""
    count, since = session.execute(select(func.count(), func.min(Job.queued_at)).where(Job.state == "PENDING")).one()
    return int(count), since


def of_week(session: Session, cohort_id: int, start: datetime, end: datetime) -> Sequence[Any]:
    """What was charged in a cohort for runs that ended in [start, end), with what the run itself measured."""
    query = (
        select(Ledger.person_id, Ledger.job_id, Ledger.run, Ledger.cpu_seconds, Ledger.gpu_seconds, Run.result)
        .outerjoin(Run, (Run.job_id == Ledger.job_id) & (Run.number == Ledger.run))
        .where(
            Ledger.cohort_id == cohort_id,
            Ledger.charged.is_(True),
            Ledger.ended_at >= start,
            Ledger.ended_at < end,
        )
    )
    return session.execute(query).all()


def card_means(session: Session, cohort_id: int, since: datetime) -> dict[tuple[str, int], float]:
    """Mean card utilisation, percent, by (job, run) of a cohort, where it was measured."""
    query = (
        select(UsageSample.job_id, UsageSample.run, func.avg(UsageSample.card_percent))
        .join(Ledger, (Ledger.job_id == UsageSample.job_id) & (Ledger.run == UsageSample.run))
        .where(Ledger.cohort_id == cohort_id, Ledger.ended_at >= since, UsageSample.card_percent.is_not(None))
        .group_by(UsageSample.job_id, UsageSample.run)
    )
    return {(job, run): float(mean) for job, run, mean in session.execute(query)}
