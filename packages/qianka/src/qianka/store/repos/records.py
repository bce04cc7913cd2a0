"""Queries on events, audit and leases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from qianka.store.tables import Event


def events_after(session: Session, topics: Sequence[str], after: int, limit: int) -> list[Event]:
    """Events on `topics` with an id above `after`, oldest first."""
    query = select(Event).where(Event.topic.in_(topics), Event.id > after).order_by(Event.id).limit(limit)
    return list(session.scalars(query))


def all_events_after(session: Session, after: int, limit: int) -> list[Event]:
    """Events with an id above `after`, oldest first."""
    return list(session.scalars(select(Event).where(Event.id > after).order_by(Event.id).limit(limit)))


def newest_event(session: Session) -> int:
    """The id of the newest event; 0 when there is none."""
    return session.scalar(select(func.max(Event.id))) or 0


def last_event_id(session: Session) -> int:
    """The newest event; 0: none. Every change of a job emits one, so the same id means that none changed."""
    return session.scalar(select(func.max(Event.id))) or 0


def jobs_changed_after(session: Session, after: int, limit: int) -> list[str]:
    """Ids of the jobs that events above `after` tell of, at most `limit`."""
    query = select(Event.topic).where(Event.id > after, Event.topic.like("job:%")).distinct().limit(limit)
    return [topic.removeprefix("job:") for topic in session.scalars(query)]


def database_time(session: Session) -> datetime | None:
    """The present instant by the clock of a database that several machines share; None: there is no such."""
    if session.get_bind().dialect.name != "postgresql":
        return None
    now: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
    return now.astimezone(timezone.utc)
