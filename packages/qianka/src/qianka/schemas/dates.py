"""Dates of a lab, extensions, and whose grades move when they change."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request


class MyDates(Answer):
    """The dates of a lab for one person, and why. Show `sentence`: it has the offset and the countdown."""

    cohort: str
    lab: str
    zone: str
    now: datetime
    class_due_at: datetime | None = None
    opens_at: datetime | None = None
    due_at: datetime | None = None
    """the most generous of the class's date and all extensions that hold for the person"""
    locks_at: datetime | None = None
    """nothing is taken later, not even late"""
    sentence: str
    extension: str | None = None
    """the extension that gives the due date; null: it is the class's"""
    reason: str | None = None
    late: str
    """refuse, mark or penalty"""
    late_rule: str
    """what being late costs, in a sentence"""
    grace_seconds: int
    late_days: int
    """of the cohort, for each person"""
    late_days_used: int


class Move(Answer):
    """A grade that moves."""

    login: str
    name: str = ""
    lab: str
    before: float | None = None
    after: float
    moved: float
    """points"""
    penalty: float = 0.0
    days_late: int = 0
    late_days: int = 0
    """spent on it"""


class NewDates(Request):
    """Dates of a lab to set; a field that is not sent stays as it is, null lifts it."""

    opens: datetime | None = None
    due: datetime | None = None
    locks: datetime | None = None
    preview: bool = False
    """only tell whose grades would move"""


class DatesChanged(Answer):
    """The dates of a lab after (in a preview: before) a change, and the grades that move by it."""

    cohort: str
    lab: str
    zone: str
    opens_at: datetime | None = None
    due_at: datetime | None = None
    locks_at: datetime | None = None
    preview: bool = False
    moves: list[Move] = Field(default_factory=list)


class LateDays(Request):
    """Late days that each person may spend in a cohort."""

    days: int = Field(ge=0, le=366)
    preview: bool = False


class LateDaysChanged(Answer):
    """The late days of a cohort after (in a preview: before) a change, and the grades that move by it."""

    cohort: str
    days: int
    preview: bool = False
    moves: list[Move] = Field(default_factory=list)


class NewExtension(Request):
    """More time for a person or a section; without `lab` for all labs of the cohort (standing)."""

    lab: str | None = Field(default=None, max_length=100)
    login: str | None = Field(default=None, max_length=100)
    section: str | None = Field(default=None, max_length=100)
    days: int = Field(default=0, ge=0, le=366)
    """calendar days in the cohort's zone"""
    hours: float = Field(default=0.0, ge=0, le=8784, allow_inf_nan=False)
    until: datetime | None = None
    """instead of days and hours"""
    reason: str = Field(min_length=1, max_length=500)
    preview: bool = False


class Revocation(Request):
    """Why an extension is taken back."""

    reason: str = Field(min_length=1, max_length=500)
    preview: bool = False


class Extension(Answer):
    """An extension; `more` says how much in words."""

    id: str
    lab: str | None = None
    """null: all labs"""
    login: str | None = None
    name: str | None = None
    section: str | None = None
    days: int = 0
    hours: float = 0.0
    until: datetime | None = None
    more: str = ""
    reason: str
    by: str | None = None
    created_at: datetime
    revoked_at: datetime | None = None
    revoke_reason: str | None = None


class ExtensionChanged(Answer):
    """An extension given or revoked (in a preview: that would be), and the grades that move by it."""

    extension: Extension
    preview: bool = False
    moves: list[Move] = Field(default_factory=list)


class GradeChange(Answer):
    """One change of a grade."""

    at: datetime
    why: str
    """graded, rerun, dates, extension, late_days or regrade"""
    reason: str = ""
    by: str | None = None
    """null: the platform itself"""
    regrade: str | None = None
    before: float | None = None
    after: float | None = None
    penalty: float = 0.0
    verdict: str | None = None
    attempt: str | None = None
