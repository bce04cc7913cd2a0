"""Labs as published in a cohort."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer, Request
from qianka.schemas.dates import MyDates


class LabCheck(Answer):
    """Something that is graded, with its weight in points."""

    kind: str
    weight: float
    facts: dict[str, Any] = Field(default_factory=dict)


class LabProblem(Answer):
    """Something wrong in a lab folder."""

    file: str
    line: int
    key: str = ""
    message: str


class Tries(Answer):
    """Hand-ins of the caller today, in the cohort's zone; `limit` null: as many as they like."""

    limit: int | None = None
    used: int
    left: int | None = None
    resets_at: datetime
    sentence: str


class Lab(Answer):
    """A published lab."""

    id: int
    cohort: str
    slug: str
    title: str
    title_en: str = ""
    version: str
    opens_at: datetime | None = None
    due_at: datetime | None = None
    """of the class; see `mine` for the caller's own"""
    locks_at: datetime | None = None
    """nothing is taken later, not even late"""
    mine: MyDates | None = None
    """the caller's own dates; only of a single lab"""
    zone: str
    published_at: datetime
    required: list[str] = Field(default_factory=list)
    upload_limit: int | None = None
    """bytes of the largest archive that is taken"""
    attempts_a_day: int | None = None
    group_size: int = 1
    """how many may hand in as one; 1: everybody alone"""
    late: str = "mark"
    checks: list[LabCheck] = Field(default_factory=list)
    tries: Tries | None = None
    readiness: dict[str, Any] | None = None
    """for staff: whether data and reference runs are there"""
    warnings: list[LabProblem] = Field(default_factory=list)
    """only in the answer to publishing"""
    regrade: str | None = None
    """in the answer to publishing: that grades by earlier versions stay, and the command that changes it"""


class LabFolder(Request):
    """A lab folder on the server's own disk: only for an administrator of a platform on the same machine."""

    path: str
    slug: str | None = None
    opens: datetime | None = None
    due: datetime | None = None
    practice: bool = False


class LabDates(Request):
    """New dates of a lab; null lifts one, a field that is not sent stays."""

    opens: datetime | None = None
    due: datetime | None = None


class Handout(Answer):
    """The handout of a lab as Markdown; its pictures lie below `base`."""

    text: str
    base: str


class LabReport(Answer):
    """What was found in a lab folder, before anything is published."""

    ok: bool
    title: str | None = None
    title_en: str | None = None
    checks: list[LabCheck] = Field(default_factory=list)
    errors: list[LabProblem] = Field(default_factory=list)
    warnings: list[LabProblem] = Field(default_factory=list)
