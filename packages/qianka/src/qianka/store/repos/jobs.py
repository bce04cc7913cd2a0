"""Queries on jobs, runs and the ledger."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from qianka.store.tables import Job


def by_key(session: Session, key: str) -> Job | None:
    """The job submitted under `key`."""
    return session.scalar(select(Job).where(Job.key == key))
