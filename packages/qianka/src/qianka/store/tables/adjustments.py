"""What staff decides about a grade beside what was graded: bonus, override, comment."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Adjustment(Base):
    """One decision; the newest one of a kind that is not revoked holds. Never changed but to be revoked."""

    __tablename__ = "adjustment"
    __table_args__ = (Index("ix_adjustment_lab_person", "lab_id", "person_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    kind: Mapped[str]
    """bonus (points on top), override (points instead of what was graded) or comment"""
    points: Mapped[float | None]
    text: Mapped[str] = mapped_column(default="")
    """the reason of a bonus or override, or the comment; the student sees it"""
    by_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    revoked_by_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
