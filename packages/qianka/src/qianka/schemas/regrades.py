"""Regrades: rehearsed, compared, applied or dropped; and single gradings replayed. All for staff."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request
from qianka.schemas.submissions import Attempt


class NewRegrade(Request):
    """What to grade again, and why. Without names: every hand-in of every student."""

    reason: str = Field(min_length=1, max_length=500)
    version: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
    """the version to grade by; null: the lab's present one"""
    counting: bool = False
    """only the hand-ins that count now"""
    logins: list[str] = Field(default_factory=list, max_length=1000)
    submissions: list[str] = Field(default_factory=list, max_length=5000)


class Approval(Request):
    """The `digest` of what was looked at: only that is applied."""

    digest: str = Field(min_length=8, max_length=64)


class Regrade(Answer):
    """A regrade without what it found."""

    id: str
    cohort: str
    lab: str
    version: str
    state: str
    """open, applied or dropped"""
    reason: str
    started_at: datetime
    ended_at: datetime | None = None
    moved: int | None = None
    """grades that moved, once applied"""


class CheckChange(Answer):
    """One thing that differs between two gradings: a check's points, the verdict, the hand-in, the penalty."""

    kind: str
    title: str
    before: float | None = None
    after: float | None = None
    was: str | None = None
    now: str | None = None


class RegradeLine(Answer):
    """Somebody whose grade moves, and why; `lab` is another one where late days are spent anew."""

    login: str
    name: str = ""
    lab: str
    before: float | None = None
    after: float
    moved: float
    changes: list[CheckChange] = Field(default_factory=list)
    attempt: str
    override: float | None = None
    """points that staff set: they count on, whatever is graded"""


class RegradeFault(Answer):
    """A hand-in that the platform could not grade again: its grade stays."""

    login: str
    name: str = ""
    submission: str
    attempt: str
    verdict: str
    fault: str | None = None


class RegradeShown(Answer):
    """What a regrade has found; `lines` lists who moves, most points lost first."""

    regrade: Regrade
    waiting: int
    """hand-ins still being graded"""
    graded: int
    lines: list[RegradeLine] = Field(default_factory=list)
    faults: list[RegradeFault] = Field(default_factory=list)
    digest: str
    """to be sent with the approval"""


class Replay(Answer):
    """A grading done again; it never counts. `same` null: not ended, or the platform failed."""

    original: Attempt
    replay: Attempt
    same: bool | None = None
    changes: list[CheckChange] = Field(default_factory=list)
    environment: list[str] = Field(default_factory=list)
    """what differed in versions, digests, packages, machine"""
