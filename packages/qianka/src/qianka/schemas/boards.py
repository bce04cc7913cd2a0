"""Boards, grades and budgets."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer


class Entry(Answer):
    """One line of a board; entries that are displayed equal share a rank."""

    rank: int | None = None
    name: str
    """the alias, unless the person chose to show their name or the caller is staff"""
    score: str | None = None
    """as it is displayed, and as it is ranked"""
    points: float | None = None
    at: datetime
    bonus: bool = False
    """among the top tenth, ties included"""
    mine: bool = False
    entries: int | None = None
    """how many hand-ins it is the best of, where that is told"""


class Board(Answer):
    """The best accepted entry of each person in a lab: by its score alone, whatever was taken for being late."""

    cohort: str
    lab: str
    lab_id: int
    title: str
    metric: str
    higher_is_better: bool
    entries: list[Entry] = Field(default_factory=list)
    total: int
    unit: str | None = None
    """of an efficiency board: the score by gpu_minute, or by cpu_minute where no card was used"""


class Grade(Answer):
    """The attempt that counts for the caller in a lab; `points` null: nothing graded yet."""

    cohort: str
    lab: str
    title: str
    verdict: str | None = None
    verdict_text: str | None = None
    points: float | None = None
    """what counts: `raw_points` less `penalty`, or the override, and the bonus on top"""
    max_points: float | None = None
    raw_points: float | None = None
    penalty: float = 0.0
    """points taken for being late"""
    days_late: int = 0
    """calendar days after the person's own due date"""
    late_days: int = 0
    """of the cohort's late days, those spent on it"""
    attempt: str | None = None
    graded_points: float | None = None
    """`raw_points` less `penalty`, before anything staff decided"""
    override: float | None = None
    """points that staff set instead of those graded"""
    override_reason: str | None = None
    bonus: float | None = None
    """points that staff gave on top"""
    bonus_reason: str | None = None
    comment: str | None = None
    inquiry: str | None = None
    """the caller's newest inquiry about it"""


class GradeCell(Answer):
    """One student's grade in one lab; without a grading where staff decided about one who handed in nothing."""

    verdict: str | None = None
    points: float | None = None
    """what counts; null: there is but a comment"""
    max_points: float | None = None
    raw_points: float | None = None
    penalty: float = 0.0
    days_late: int = 0
    late_days: int = 0
    attempt: str | None = None
    graded_points: float | None = None
    override: float | None = None
    override_reason: str | None = None
    bonus: float | None = None
    bonus_reason: str | None = None
    comment: str | None = None


class GradeLine(Answer):
    """One student of a cohort, with the grades by lab."""

    login: str
    student_number: str | None = None
    name: str
    section: str = ""
    active: bool = True
    grades: dict[str, GradeCell] = Field(default_factory=dict)
    total: float


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
