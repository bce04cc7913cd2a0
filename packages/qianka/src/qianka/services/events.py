"""Events: written with the change they tell of, read by live pages from a cursor on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from qianka.services.platform import Platform
from qianka.store.repos import records
from qianka.store.tables import Attempt, Cohort, Event, Lab


def emit(session: Session, platform: Platform, topic: str, kind: str, **payload: Any) -> None:
    """Record a change on `topic` (see store.tables.Event) inside the caller's transaction."""
    session.add(Event(at=platform.now(), topic=topic, kind=kind, payload=payload))


def emit_for_person(session: Session, platform: Platform, person_id: int, kind: str, **payload: Any) -> None:
    """Tell one person that something of theirs has changed; `payload` holds ids only."""
    emit(session, platform, topic_of_person(person_id), kind, **payload)


def emit_for_cohort(session: Session, platform: Platform, slug: str, kind: str, **payload: Any) -> None:
    """Tell everybody of a cohort; `payload` holds ids only."""
    emit(session, platform, f"cohort:{slug}", kind, **payload)


def emit_for_staff(session: Session, platform: Platform, slug: str, kind: str, **payload: Any) -> None:
    """Tell the staff of a cohort; `payload` holds ids only."""
    emit(session, platform, f"staff:{slug}", kind, **payload)


def emit_of_attempt(session: Session, platform: Platform, attempt: Attempt, kind: str, **payload: Any) -> None:
    """Tell who looks at a grading; where it counts, its owner, and of beginning and end the staff of the cohort."""
    facts = {"attempt": attempt.id, "submission": attempt.submission_id, "state": attempt.state}
    emit(session, platform, f"attempt:{attempt.id}", kind, **facts, **payload)
    if not attempt.counts:
        return
    emit_for_person(session, platform, attempt.person_id, "attempt", **facts)
    lab = session.get(Lab, attempt.lab_id)
    cohort = None if lab is None else session.get(Cohort, lab.cohort_id)
    if lab is not None and cohort is not None and kind in ("queued", "verdict"):
        emit_for_staff(session, platform, cohort.slug, "submission", **facts, lab=lab.slug)


def topic_of_person(person_id: int) -> str:
    """The topic that `me` stands for."""
    return f"person:{person_id}"


def read(platform: Platform, topics: Sequence[str], after: int, limit: int = 200) -> list[Event]:
    """The events on `topics` with an id above `after`, oldest first."""
    with platform.store.reading() as session:
        return records.events_after(session, topics, after, limit)


def read_all(platform: Platform, after: int, limit: int = 200) -> list[Event]:
    """The events on any topic with an id above `after`, oldest first."""
    with platform.store.reading() as session:
        return records.all_events_after(session, after, limit)


def newest(platform: Platform) -> int:
    """The id of the newest event; 0 when there is none."""
    with platform.store.reading() as session:
        return records.newest_event(session)
