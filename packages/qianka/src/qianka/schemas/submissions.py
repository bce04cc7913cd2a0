"""Hand-ins, their receipts and their gradings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer


class HandedInFile(Answer):
    """One file of the checked hand-in."""

    path: str
    size: int
    sha256: str


class Check(Answer):
    """One graded check as its author sees it."""

    kind: str
    title: str = ""
    points: float | None = None
    max_points: float | None = None
    message: str = ""
    facts: dict[str, Any] = Field(default_factory=dict)


class AttemptJob(Answer):
    """One stage of a grading."""

    id: str
    name: str
    state: str
    started_at: datetime | None = None
    ended_at: datetime | None = None
    output: bool = False
    """whether the caller may read what it printed"""


class QueueView(Answer):
    """Where something waits: `ahead` jobs go before it; the start is expected within [low, high] seconds."""

    position: int | None = None
    ahead: int | None = None
    low: float | None = None
    high: float | None = None
    code: str | None = None
    sentence: str = ""


class Attempt(Answer):
    """One grading of a submission."""

    id: str
    submission: str
    number: int
    why: str = "handin"
    counts: bool = True
    """false: a rehearsal or a replay, which only staff sees"""
    state: str
    """queued, running, done or cancelled"""
    stage: str = ""
    verdict: str | None = None
    verdict_text: str | None = None
    advice: str | None = None
    points: float | None = None
    max_points: float | None = None
    score: float | None = None
    findings: list[str] = Field(default_factory=list)
    """what went wrong where: the failing stage with file and line, files that are no UTF-8, lines of predictions"""
    checks: list[Check] = Field(default_factory=list)
    isolation: str | None = None
    retries: int = 0
    queue: QueueView | None = None
    jobs: list[AttemptJob] = Field(default_factory=list)
    staff_notes: dict[str, Any] | None = None
    """for staff alone"""
    queued_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None


class Refusal(Answer):
    """Why a hand-in was not taken for grading."""

    reason: str
    message: str
    hint: str | None = None


class Submission(Answer):
    """One hand-in."""

    id: str
    cohort: str
    zone: str = ""
    """of the cohort"""
    lab: str
    lab_title: str = ""
    lab_title_en: str = ""
    login: str
    name: str = ""
    filename: str
    size: int
    archive_sha256: str
    tree_sha256: str | None = None
    state: str
    """accepted or invalid"""
    refusal: Refusal | None = None
    notes: list[str] = Field(default_factory=list)
    late: bool = False
    charged: bool = True
    same_as: str | None = None
    """the earlier hand-in of the same files whose time counts for this late one"""
    submitted_at: datetime
    files: list[HandedInFile] = Field(default_factory=list)
    attempt: Attempt | None = None
    """the newest grading of it"""


class HandedIn(Answer):
    """The answer to a hand-in. `again`: the same Idempotency-Key had been taken before."""

    submission: Submission
    receipt: str | None = None
    """the receipt file, exactly as it is to be saved: every byte counts; null for an invalid hand-in"""
    attempt: Attempt | None = None
    again: bool = False


class FileDifference(Answer):
    """One file that differs between two hand-ins; `diff` in unified form, null where it is not shown."""

    path: str
    what: str
    """added, removed or changed"""
    diff: str | None = None


class Comparison(Answer):
    """Two gradings of one lab, with the hand-ins they are of."""

    a: Attempt
    b: Attempt
    submissions: list[Submission]
    files: list[FileDifference] = Field(default_factory=list)
