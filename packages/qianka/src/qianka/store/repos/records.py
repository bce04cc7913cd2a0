"""Queries on events, audit and leases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from qianka.store.tables import Audit, Event, Person


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


def audit_lines(
    session: Session,
    *,
    before: int | None,
    limit: int,
    action: str = "",
    words: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[tuple[Audit, Person | None]]:
    """Lines of the audit log with who did it, newest first; `before`: an id; `action`: how it begins.

    `words` are looked for in the target, the address, and the name and login of who did it.
    """
    query = select(Audit, Person).outerjoin(Person, Person.id == Audit.person_id)
    if before is not None:
        query = query.where(Audit.id < before)
    if action:
        query = query.where(Audit.action.startswith(action, autoescape=True))
    if words:
        places = (Audit.target, Audit.address, Person.login, Person.name)
        query = query.where(or_(*(place.icontains(words, autoescape=True) for place in places)))
    if since is not None:
        query = query.where(Audit.at >= since)
    if until is not None:
        query = query.where(Audit.at < until)
    found = session.execute(query.order_by(Audit.id.desc()).limit(limit))
    return [(line, person) for line, person in found]
