"""Projectors: what they show, and the token with which they may ask for it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Screen(Base):
    """A projector of a cohort; only the hash of its token is kept. It sees aliases, never names."""

    __tablename__ = "screen"

    id: Mapped[int] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    name: Mapped[str]
    secret_hash: Mapped[str] = mapped_column(unique=True)
    shows: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """{scenes, seconds, jobs, always}: see services.screens.Shows."""
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
