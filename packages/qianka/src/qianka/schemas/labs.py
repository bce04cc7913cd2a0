"""Labs as published in a cohort."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer, Request


class Lab(Answer):
    """A published lab, with what it asks for."""

    cohort: str
    slug: str
    title: str
    title_en: str = ""
    version: str
    opens_at: datetime | None = None
    due_at: datetime | None = None
    zone: str
    published_at: datetime
    required: list[str] = Field(default_factory=list)
    attempts_a_day: int | None = None
    attempts_left: int | None = None
    """today, in the cohort's zone, for the caller"""
    max_points: float | None = None
    checks: list[dict[str, Any]] = Field(default_factory=list)
    """what is graded and with how many points"""
    reference: str | None = None
    """wanted, running, done or failed: the teacher's own run that time and memory are measured against"""


class LabFolder(Request):
    """A lab folder on the server's own disk: only for an administrator of a platform on the same machine."""

    path: str
    opens: datetime | None = None
    due: datetime | None = None
