"""Inquiries: a student asks about a grade, staff answers."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request


class NewInquiry(Request):
    """A question about one's grade in a lab; without `attempt` about the grading that counts."""

    text: str = Field(min_length=1, max_length=4000)
    attempt: str | None = Field(default=None, max_length=40)


class NewMessage(Request):
    """One more message; a student's opens a closed inquiry again."""

    text: str = Field(min_length=1, max_length=4000)


class InquiryMessage(Answer):
    """One message."""

    id: int
    name: str
    by_staff: bool
    mine: bool
    at: datetime
    text: str


class Inquiry(Answer):
    """An inquiry in a list."""

    id: str
    cohort: str
    lab: str
    title: str
    """of the lab"""
    login: str
    name: str
    attempt: str | None = None
    state: str
    """open or closed"""
    opened_at: datetime
    moved_at: datetime
    closed_at: datetime | None = None
    messages: int
    waiting_for_staff: bool
    """open, and the newest message is the student's"""
    first: str
    """its first words"""


class InquiryThread(Answer):
    """An inquiry with all its messages, and the points that count now."""

    inquiry: Inquiry
    points: float | None = None
    max_points: float | None = None
    messages: list[InquiryMessage] = Field(default_factory=list)
