"""Boards of predictions: what they ask for, what was entered, where everybody stands."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer, Request
from qianka.schemas.boards import Entry


class Allowance(Answer):
    """What the caller (or their group) may still enter; `left` null: as many as they like."""

    left: int | None = None
    a_day: int | None = None
    used_today: int = 0
    resets_at: datetime
    sentence: str


class PredictionBoard(Answer):
    """A board on which CSV predictions are ranked."""

    id: str
    cohort: str
    slug: str
    title: str
    title_en: str = ""
    metric: str
    higher_is_better: bool
    digits: int
    phase: str
    """unopened, open, closed (past the deadline, private ranking not shown yet) or final"""
    opens_at: datetime | None = None
    due_at: datetime | None = None
    reveal_at: datetime | None = None
    zone: str
    id_column: str
    column: str
    labels: list[str] | None = None
    max_bytes: int
    a_day: int
    a_week: int | None = None
    limit_in_all: int | None = None
    selections: int
    """entries that may be chosen for the private ranking; by default the best public ones are"""
    bonus: float
    ladder: bool
    """whether the public score moves only for a gain above its own noise"""
    group_size: int
    has_sample: bool


class PredictionRanking(PredictionBoard):
    """A board with its ranking in its phase: public until the reveal, then private."""

    private: bool
    """whether `entries` are ranked by the private part"""
    entries: list[Entry] = Field(default_factory=list)
    total: int
    allowance: Allowance | None = None


class EntryProblem(Answer):
    """One kind of mistake in a file: how often, and the first five of them."""

    code: str
    count: int
    message: str
    first: list[dict[str, Any]] = Field(default_factory=list)
    """[{line, id, value}]"""


class PredictionEntry(Answer):
    """One file that was entered; one that is not `scored` has no score and cost no try."""

    id: str
    board: str
    login: str
    group: int | None = None
    filename: str
    size: int
    sha256: str
    state: str
    """scored, invalid, failed (our fault) or withdrawn"""
    message: str | None = None
    """what was wrong, in one sentence"""
    problems: list[EntryProblem] = Field(default_factory=list)
    shown: str | None = None
    """the public score as the board told it after this entry"""
    public: float | None = None
    """its own public score; where a Ladder protects the board, for staff alone"""
    private: float | None = None
    """once it is revealed; for staff at any time"""
    charged: bool
    selected: bool
    submitted_at: datetime


class EnteredFile(Answer):
    """The answer to entering: 201 means recorded; a scored one has a receipt."""

    entry: PredictionEntry
    receipt: str | None = None
    again: bool = False
    allowance: Allowance | None = None


class Selection(Request):
    """The entries that count in the private ranking, in place of those chosen before; empty: the default."""

    entries: list[str] = Field(max_length=100)


class BoardChanges(Request):
    """New dates and limits of a board; what is left out stays, null lifts a date or a limit."""

    title: str | None = Field(default=None, min_length=1, max_length=200)
    opens_at: datetime | None = None
    due_at: datetime | None = None
    reveal_at: datetime | None = None
    a_day: int | None = Field(default=None, ge=1, le=1000)
    a_week: int | None = Field(default=None, ge=1, le=10_000)
    total: int | None = Field(default=None, ge=1, le=100_000)


class Rebuilt(Answer):
    """What scoring everything again has changed."""

    owners: int
    changed: int
