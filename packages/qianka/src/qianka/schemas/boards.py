"""Boards, grades and budgets."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer


class Entry(Answer):
    """One line of a board; entries that are displayed equal share a rank."""

    rank: int | None = None
    name: str
    """the alias, unless the person chose to show their name"""
    score: float | None = None
    score_text: str | None = None
    """as it is displayed, and as it is ranked"""
    points: float | None = None
    max_points: float | None = None
    verdict: str | None = None
    at: datetime | None = None
    mine: bool = False


class Board(Answer):
    """The best accepted entry of each person in a lab."""

    cohort: str
    lab: str
    title: str
    metric: str = ""
    higher_is_better: bool = True
    entries: list[Entry] = Field(default_factory=list)
    total: int = 0


class Grade(Answer):
    """The attempt that counts for a person in a lab."""

    cohort: str
    lab: str
    title: str = ""
    login: str
    name: str = ""
    student_number: str | None = None
    section: str = ""
    verdict: str | None = None
    verdict_text: str | None = None
    points: float | None = None
    max_points: float | None = None
    late: bool = False
    attempt: str | None = None
    submission: str | None = None
    updated_at: datetime | None = None


class Budget(Answer):
    """What a person may use in the cohort's week and what they have used, in hours."""

    cohort: str
    week_starts_at: datetime
    week_ends_at: datetime
    zone: str
    cpu_limit: float | None = None
    cpu_used: float = 0.0
    cpu_held: float = 0.0
    """by what is queued or runs"""
    gpu_limit: float | None = None
    gpu_used: float = 0.0
    gpu_held: float = 0.0
