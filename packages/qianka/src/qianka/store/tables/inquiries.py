"""Inquiries: a student asks about a grade, staff answers."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Inquiry(Base):
    """A question of a student about what counts in one lab."""

    __tablename__ = "inquiry"

    id: Mapped[str] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    attempt_id: Mapped[str | None] = mapped_column(ForeignKey("attempt.id"))
    """the grading that is asked about"""
    state: Mapped[str] = mapped_column(default="open", server_default="open", index=True)
    """open or closed"""
    opened_at: Mapped[datetime]
    moved_at: Mapped[datetime]
    """of its newest message or change"""
    closed_at: Mapped[datetime | None]


class InquiryMessage(Base):
    """One message of an inquiry; never changed."""

    __tablename__ = "inquiry_message"

    id: Mapped[int] = mapped_column(primary_key=True)
    inquiry_id: Mapped[str] = mapped_column(ForeignKey("inquiry.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    by_staff: Mapped[bool]
    at: Mapped[datetime]
    text: Mapped[str]
