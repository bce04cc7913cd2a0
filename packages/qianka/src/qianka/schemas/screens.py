"""Projectors: what they are set to show, and what they show."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request
from qianka.schemas.usage import TopLine


class NewScreen(Request):
    """What a projector shows, scene by scene."""

    name: str = Field(default="", max_length=60)
    """where it hangs, such as the room"""
    scenes: list[str] = Field(default_factory=lambda: ["board", "queue", "deadlines", "top"], max_length=10)
    """board, queue, deadlines, top, jobs: in this order, again and again"""
    seconds: int = Field(default=15, ge=5, le=600)
    """for which a scene stays"""
    jobs: list[str] = Field(default_factory=list, max_length=4)
    """whose curves are compared in the scene `jobs`"""
    always: bool = False
    """also outside of classes"""


class Screen(Answer):
    """A projector, without its token."""

    id: int
    name: str
    scenes: list[str]
    seconds: int
    jobs: list[str]
    always: bool
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None = None


class ScreenSecret(Screen):
    """A projector just made: the only time its token is shown."""

    secret: str


class ScreenRow(Answer):
    """A line of a board, under an alias."""

    rank: int | None = None
    name: str
    score: str | None = None
    bonus: bool = False


class ScreenBoard(Answer):
    """The first ten of a board."""

    title: str
    title_en: str = ""
    metric: str
    total: int
    rows: list[ScreenRow] = Field(default_factory=list)


class ScreenJob(Answer):
    """A job that waits or runs, under the alias of its person."""

    name: str
    state: str
    since: datetime
    gpus: int = 0


class ScreenDate(Answer):
    """A lab that is due."""

    title: str
    title_en: str = ""
    due_at: datetime


class ScreenCurve(Answer):
    """The loss of a job over its steps, under the alias of its person."""

    name: str
    points: list[list[float]] = Field(default_factory=list)
    """[step, loss]"""


class ScreenShown(Answer):
    """Everything a projector shows, by alias; `on` false: a clock until the next class."""

    cohort: str
    title: str
    zone: str
    now: datetime
    on: bool
    lesson_starts_at: datetime | None = None
    lesson_ends_at: datetime | None = None
    next_at: datetime | None = None
    """when the next class begins"""
    scenes: list[str]
    seconds: int
    boards: list[ScreenBoard] = Field(default_factory=list)
    waiting: int = 0
    running: int = 0
    queue: list[ScreenJob] = Field(default_factory=list)
    dates: list[ScreenDate] = Field(default_factory=list)
    top: list[TopLine] = Field(default_factory=list)
    curves: list[ScreenCurve] = Field(default_factory=list)
