"""Queries on jobs that wait in an engine's own queue: a run is open from its submit until it is settled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, exists, func, or_, select, update
from sqlalchemy.orm import Session

from qianka.store.repos.jobs import OPEN
from qianka.store.tables import Job, Run

_OPEN_RUN = and_(Run.job_id == Job.id, Run.number == Job.run, Run.accepted.is_(None), Run.ended_at.is_(None))


def ready(session: Session, now: datetime, limit: int) -> list[Job]:
    """Jobs that no engine has been given yet and whose time has come, oldest first.

    Of an array only as many as may be with the engine at once.
    """
    query = (
        select(Job)
        .where(Job.state == "PENDING", ~exists().where(_OPEN_RUN))
        .where(or_(Job.not_before.is_(None), Job.not_before <= now))
        .where(or_(Job.array_most.is_(None), Job.id.in_(_next_of_arrays(now))))
        .order_by(Job.queued_at, Job.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def _next_of_arrays(now: datetime) -> Select[tuple[str]]:
    """Ids of waiting jobs of arrays for which there is a place beside those that the engine has."""
    waits = (
        select(
            Job.id,
            Job.array_id,
            Job.array_most,
            func.row_number().over(partition_by=Job.array_id, order_by=Job.array_index).label("place"),
        )
        .where(Job.array_most.is_not(None), Job.state == "PENDING", ~exists().where(_OPEN_RUN))
        .where(or_(Job.not_before.is_(None), Job.not_before <= now))
        .subquery()
    )
    given = (
        select(Job.array_id, func.count().label("held"))
        .join(Run, _OPEN_RUN)
        .where(Job.array_most.is_not(None), Job.state.in_(OPEN))
        .group_by(Job.array_id)
        .subquery()
    )
    query = select(waits.c.id).outerjoin(given, given.c.array_id == waits.c.array_id)
    return query.where(waits.c.place + func.coalesce(given.c.held, 0) <= waits.c.array_most)


def next_retry(session: Session, now: datetime) -> datetime | None:
    """When the next job that has to wait may be submitted."""
    query = select(Job.not_before).where(Job.state == "PENDING", Job.not_before > now, ~exists().where(_OPEN_RUN))
    return session.scalar(query.order_by(Job.not_before).limit(1))


def submitted(session: Session) -> Sequence[Any]:
    """Jobs that an engine has: (id, run, state, cancel_at, reason)."""
    query = (
        select(Job.id, Job.run, Job.state, Job.cancel_at, Job.reason).join(Run, _OPEN_RUN).where(Job.state.in_(OPEN))
    )
    return session.execute(query.order_by(Job.id)).all()


def is_submitted(session: Session, job: Job) -> bool:
    """Whether an engine has the job's present run."""
    return session.scalar(select(Run.id).join(Job, _OPEN_RUN).where(Job.id == job.id)) is not None


def mark_unknown(session: Session, ids: Sequence[str], answered_at: datetime | None) -> None:
    """Nobody knows where these stand; last heard of at `answered_at`."""
    values = {"state": "UNKNOWN"} | ({} if answered_at is None else {"answered_at": answered_at})
    for start in range(0, len(ids), 500):
        session.execute(update(Job).where(Job.id.in_(ids[start : start + 500])).values(**values))
