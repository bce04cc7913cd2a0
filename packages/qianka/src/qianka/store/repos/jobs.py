"""Queries on jobs, runs and the ledger. What the dispatcher asks at every step reads columns, not objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from qianka.store.repos import arrays
from qianka.store.tables import Job, Ledger, Run

LIVE = ("RUNNING", "UNKNOWN")
OPEN = ("PENDING", *LIVE)
_CHUNK = 500


def by_key(session: Session, key: str) -> Job | None:
    """The job submitted under `key`."""
    return session.scalar(select(Job).where(Job.key == key))


def by_ids(session: Session, ids: Iterable[str]) -> dict[str, Job]:
    """Jobs by id; those that are gone are missing."""
    wanted = list(ids)
    found: dict[str, Job] = {}
    for start in range(0, len(wanted), _CHUNK):
        query = select(Job).where(Job.id.in_(wanted[start : start + _CHUNK]))
        found.update((job.id, job) for job in session.scalars(query))
    return found


def run_of(session: Session, job_id: str, number: int) -> Run | None:
    """Run `number` of a job."""
    return session.scalar(select(Run).where(Run.job_id == job_id, Run.number == number))


def with_runs(session: Session, ids: Iterable[str]) -> tuple[dict[str, Job], dict[tuple[str, int], Run]]:
    """Jobs by id, and of each the run that its number names."""
    wanted = list(ids)
    found: dict[str, Job] = {}
    runs: dict[tuple[str, int], Run] = {}
    for start in range(0, len(wanted), _CHUNK):
        query = select(Job, Run).outerjoin(Run, (Run.job_id == Job.id) & (Run.number == Job.run))
        for job, run in session.execute(query.where(Job.id.in_(wanted[start : start + _CHUNK]))):
            found[job.id] = job
            if run is not None:
                runs[job.id, run.number] = run
    return found, runs


def runs_of(session: Session, job_id: str) -> list[Run]:
    """All runs of a job, first one first."""
    return list(session.scalars(select(Run).where(Run.job_id == job_id).order_by(Run.number)))


def pending(session: Session, limit: int, ids: Sequence[str] | None = None) -> Sequence[Any]:
    """PENDING jobs (of `ids`), oldest first: what policy needs of each, and its present reason."""
    query = (
        select(
            Job.id,
            Job.person_id,
            Job.cpus,
            Job.memory,
            Job.gpus,
            Job.nodes,
            Job.exclusive,
            Job.label,
            Job.queued_at,
            Job.wall_limit,
            Job.continues,
            Job.not_before,
            Job.reason,
            Job.kind,
            Job.name,
            Job.array_id,
            Job.array_most,
        )
        .where(Job.state == "PENDING")
        .order_by(Job.queued_at)
        .limit(limit)
    )
    return session.execute(query if ids is None else query.where(Job.id.in_(ids))).all()


def live(session: Session, ids: Sequence[str] | None = None) -> Sequence[Any]:
    """Jobs (of `ids`) that hold resources, with the run that holds them."""
    query = (
        select(
            Job.id,
            Job.run,
            Job.person_id,
            Job.state,
            Job.cpus,
            Job.memory,
            Job.wall_limit,
            Job.cancel_at,
            Job.kind,
            Job.name,
            Job.array_id,
            Run.node,
            Run.cores,
            Run.cards,
            Run.started_at,
        )
        .join(Run, (Run.job_id == Job.id) & (Run.number == Job.run))
        .where(Job.state.in_(LIVE))
        .order_by(Job.id)
    )
    return session.execute(query if ids is None else query.where(Job.id.in_(ids))).all()


def mark_unknown(session: Session, answered_at: datetime | None) -> list[str]:
    """Turn what runs into UNKNOWN, last heard of at `answered_at`; the ids that this changed."""
    ids = list(session.scalars(select(Job.id).where(Job.state == "RUNNING")))
    if ids:
        values = {"state": "UNKNOWN"} | ({} if answered_at is None else {"answered_at": answered_at})
        session.execute(update(Job).where(Job.state == "RUNNING").values(**values))
    return ids


def set_reasons(session: Session, reasons: dict[str, dict[str, Any]]) -> None:
    """Why jobs wait; those that are no longer PENDING keep the reason they have."""
    if reasons:
        query = update(Job).where(Job.id == bindparam("job"), Job.state == "PENDING")
        query = query.values(reason=bindparam("why"))
        session.connection().execute(query, [{"job": job, "why": reason} for job, reason in reasons.items()])


def of_attempt(session: Session, attempt_id: str) -> list[Job]:
    """The jobs of an attempt, first one first."""
    return list(session.scalars(select(Job).where(Job.attempt_id == attempt_id).order_by(Job.queued_at, Job.id)))


def visible(
    session: Session,
    *,
    person_id: int | None,
    cohort_id: int | None,
    states: Sequence[str] | None,
    kind: str | None,
    before: str | None,
    limit: int,
    fold: bool = False,
) -> list[Job]:
    """Jobs newest first, narrowed by what is not None; `before` is the id to go on behind.

    With `fold` an array is one line: that of its newest job.
    """
    query = select(Job)
    if person_id is not None:
        query = query.where(Job.person_id == person_id)
    if cohort_id is not None:
        query = query.where(Job.cohort_id == cohort_id)
    if states is not None:
        query = query.where(Job.state.in_(states))
    if kind is not None:
        query = query.where(Job.kind == kind)
    if fold:
        query = arrays.folded(query)
    if before is not None:
        query = query.where(Job.id < before)
    return list(session.scalars(query.order_by(Job.id.desc()).limit(limit)))


def ended_before(session: Session, instant: datetime, limit: int) -> list[str]:
    """Ids of jobs that ended before `instant`, oldest first."""
    query = select(Job.id).where(Job.ended_at < instant).order_by(Job.ended_at).limit(limit)
    return list(session.scalars(query))


def open_ids(session: Session, ids: Sequence[str]) -> set[str]:
    """Which of `ids` have not ended."""
    return set(session.scalars(select(Job.id).where(Job.id.in_(ids), Job.state.in_(OPEN))))


def ledger_after(session: Session, after: int, since: datetime | None) -> Sequence[Any]:
    """Ledger lines with an id above `after`; with `since` only those that ended later."""
    query = (
        select(Ledger.id, Ledger.person_id, Ledger.cpu_seconds, Ledger.gpu_seconds, Ledger.ended_at)
        .where(Ledger.id > after)
        .order_by(Ledger.id)
    )
    return session.execute(query if since is None else query.where(Ledger.ended_at > since)).all()


def charged_between(
    session: Session, person_id: int, cohort_id: int, start: datetime, end: datetime
) -> tuple[float, float]:
    """Core-seconds and card-seconds charged to a person in a cohort for runs that ended in [start, end)."""
    query = select(func.coalesce(func.sum(Ledger.cpu_seconds), 0.0), func.coalesce(func.sum(Ledger.gpu_seconds), 0.0))
    query = query.where(
        Ledger.person_id == person_id,
        Ledger.cohort_id == cohort_id,
        Ledger.charged.is_(True),
        Ledger.ended_at >= start,
        Ledger.ended_at < end,
    )
    cpu, gpu = session.execute(query).one()
    return float(cpu), float(gpu)


def reserved(session: Session, person_id: int, cohort_id: int) -> tuple[float, float]:
    """Core-seconds and card-seconds that a person's open charged jobs in a cohort may still use up."""
    cpus = func.coalesce(Job.held_cpus, Job.cpus * Job.nodes)
    gpus = func.coalesce(Job.held_gpus, Job.gpus * Job.nodes)
    query = select(
        func.coalesce(func.sum(Job.wall_limit * cpus), 0.0), func.coalesce(func.sum(Job.wall_limit * gpus), 0.0)
    ).where(Job.person_id == person_id, Job.cohort_id == cohort_id, Job.charged.is_(True), Job.state.in_(OPEN))
    cpu, gpu = session.execute(query).one()
    return float(cpu), float(gpu)


def recent_walls(session: Session, limit: int) -> Sequence[Any]:
    """(kind, name, started_at, ended_at) of the jobs that completed last."""
    query = (
        select(Job.kind, Job.name, Job.started_at, Job.ended_at)
        .where(Job.state == "COMPLETED", Job.started_at.is_not(None))
        .order_by(Job.ended_at.desc())
        .limit(limit)
    )
    return session.execute(query).all()
