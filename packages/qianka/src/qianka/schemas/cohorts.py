"""Cohorts: one run of a course in a term."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request


class ClassTime(Answer):
    """A class each week; weekday 1 is Monday, times such as `08:00`."""

    weekday: int
    start: str
    end: str
    place: str = ""


class Cohort(Answer):
    """A cohort as its members see it; rules are evaluated in `zone`."""

    slug: str
    title: str
    term: str = ""
    zone: str
    week_start: str = "1 00:00"
    """ISO weekday and local time at which the budget week begins"""
    class_times: list[ClassTime] = Field(default_factory=list)
    """the timetable, in local times of `zone`"""
    late_days: int = 0
    archived_at: datetime | None = None
    cpu_hours: float | None = None
    gpu_hours: float | None = None
    demo: bool = False
    role: str | None = None
    """what the caller is in it"""
    created_at: datetime


class NewCohort(Request):
    """A cohort to make."""

    slug: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    title: str = Field(min_length=1, max_length=200)
    term: str = Field(default="", max_length=100)
    zone: str = Field(default="Asia/Shanghai", max_length=100)
    week_start: str = Field(default="1 00:00", max_length=20)
    """ISO weekday and local time at which the budget week begins"""
    cpu_hours: float | None = Field(default=None, ge=0)
    gpu_hours: float | None = Field(default=None, ge=0)
    demo: bool = False
    """made-up people; shown as such"""


class NewClassTime(Request):
    """A class each week, on one day."""

    weekday: int = Field(ge=1, le=7)
    start: str = Field(max_length=5)
    end: str = Field(max_length=5)
    place: str = Field(default="", max_length=60)


class Archived(Request):
    """Whether a cohort is put away."""

    archived: bool


class ChangeCohort(Request):
    """What a teacher changes; a field that is left out stays, null hours are no limit."""

    title: str | None = Field(default=None, min_length=1, max_length=200)
    term: str | None = Field(default=None, max_length=100)
    zone: str | None = Field(default=None, max_length=100)
    week_start: str | None = Field(default=None, max_length=20)
    class_times: list[NewClassTime] | None = None
    cpu_hours: float | None = Field(default=None, ge=0)
    gpu_hours: float | None = Field(default=None, ge=0)
