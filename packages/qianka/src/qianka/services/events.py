"""Events: written with the change they tell of, read by live pages from a cursor on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from qianka.services.platform import Platform
from qianka.store.repos import records
from qianka.store.tables import Event


def emit(session: Session, platform: Platform, topic: str, kind: str, **payload: Any) -> None:
    """Record a change on `topic` (`attempt:ID`, `job:ID`, `board:LAB`) inside the caller's transaction."""
    session.add(Event(at=platform.now(), topic=topic, kind=kind, payload=payload))


def read(platform: Platform, topics: Sequence[str], after: int, limit: int = 200) -> list[Event]:
    """The events on `topics` with an id above `after`, oldest first."""
    with platform.store.reading() as session:
        return records.events_after(session, topics, after, limit)


def newest(platform: Platform) -> int:
    """The id of the newest event; 0 when there is none."""
    with platform.store.reading() as session:
        return records.newest_event(session)
