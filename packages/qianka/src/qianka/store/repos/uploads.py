"""Queries on uploads that are on their way."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from qianka.store.tables import Upload


def of_person(session: Session, person_id: int) -> list[Upload]:
    """The uploads of a person, oldest first."""
    return list(session.scalars(select(Upload).where(Upload.person_id == person_id).order_by(Upload.created_at)))


def expired(session: Session, now: datetime) -> list[Upload]:
    """The uploads that nobody has gone on with."""
    return list(session.scalars(select(Upload).where(Upload.expires_at <= now)))
