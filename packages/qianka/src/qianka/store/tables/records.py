"""What happened: events for live pages, the audit log, leases of the loops."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Event(Base):
    """One change, written in the transaction that made it; the id is the cursor of a live stream."""

    __tablename__ = "event"
    __table_args__ = (Index("ix_event_topic_id", "topic", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    topic: Mapped[str]
    """attempt:ID, job:ID, board:LAB, board:BOARD, person:ID, cohort:SLUG or staff:SLUG"""
    kind: Mapped[str]
    payload: Mapped[dict[str, Any]]


class Audit(Base):
    """Who changed what; never changed itself."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    action: Mapped[str]
    target: Mapped[str]
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    address: Mapped[str | None]


class Lease(Base):
    """Which process does a job of which there must be one; free once expired."""

    __tablename__ = "lease"

    name: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
    expires_at: Mapped[datetime]
