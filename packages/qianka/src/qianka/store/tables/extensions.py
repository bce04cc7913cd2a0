"""Extensions: more time for a person or a section, for one lab or for all of a cohort."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Extension(Base):
    """More time. Exactly one of `person_id` and `section` says for whom; no lab: all labs (standing)."""

    __tablename__ = "extension"

    id: Mapped[str] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    lab_id: Mapped[int | None] = mapped_column(ForeignKey("lab.id"), index=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"), index=True)
    section: Mapped[str | None]
    days: Mapped[int] = mapped_column(default=0)
    """calendar days in the cohort's zone"""
    hours: Mapped[float] = mapped_column(default=0.0)
    until: Mapped[datetime | None]
    """instead of days and hours: a fixed instant"""
    reason: Mapped[str]
    by_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    """who gave it; null: the platform itself"""
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    revoked_by_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    revoke_reason: Mapped[str | None]
