"""Hand-ins, their receipts, their gradings and the grades that count."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, true
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Submission(Base):
    """One hand-in; `charged` says whether it used up a try of its day."""

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("person_id", "idempotency_key"),
        Index("ix_submission_lab_person", "lab_id", "person_id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    group_id: Mapped[int | None] = mapped_column(ForeignKey("group.id"), index=True)
    """the group that handed in together; null: one person"""
    idempotency_key: Mapped[str]
    filename: Mapped[str]
    size: Mapped[int]
    archive_sha256: Mapped[str]
    tree_sha256: Mapped[str | None]
    files: Mapped[list[Any]] = mapped_column(default=list)
    """[{path, size, sha256}] of the checked tree"""
    notes: Mapped[list[Any]] = mapped_column(default=list)
    """what intake ignored, unwrapped or decoded: [{zh, en}]"""
    state: Mapped[str]
    """accepted or invalid"""
    refusal: Mapped[dict[str, Any] | None]
    """{reason, zh, en, hint_zh, hint_en} of an invalid hand-in"""
    late: Mapped[bool] = mapped_column(default=False)
    charged: Mapped[bool] = mapped_column(default=True)
    same_as: Mapped[str | None] = mapped_column(ForeignKey("submission.id"))
    """the earlier hand-in of the same files whose time counts for this late one"""
    submitted_at: Mapped[datetime]


class Receipt(Base):
    """The signed proof of a hand-in; `body` is the exact text that was signed."""

    __tablename__ = "receipt"

    id: Mapped[str] = mapped_column(primary_key=True)
    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"), unique=True)
    body: Mapped[str]
    signature: Mapped[str]
    key_id: Mapped[str]
    created_at: Mapped[datetime]


class Attempt(Base):
    """One grading of a submission; the grader moves it from stage to stage."""

    __tablename__ = "attempt"
    __table_args__ = (UniqueConstraint("submission_id", "number"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"), index=True)
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    number: Mapped[int]
    why: Mapped[str] = mapped_column(default="handin")
    """handin, rerun, regrade, replay, or same (a copy: the same files had been graded before)"""
    counts: Mapped[bool] = mapped_column(default=True, server_default=true())
    """false: a rehearsal or a replay, which only staff may know of"""
    regrade_id: Mapped[str | None] = mapped_column(ForeignKey("regrade.id"), index=True)
    replay_of: Mapped[str | None] = mapped_column(ForeignKey("attempt.id"))
    state: Mapped[str] = mapped_column(default="queued", index=True)
    """queued, running, done or cancelled"""
    stage: Mapped[str] = mapped_column(default="")
    lab_version: Mapped[str]
    figures: Mapped[dict[str, Any]] = mapped_column(default=dict)
    verdict: Mapped[str | None]
    points: Mapped[float | None]
    max_points: Mapped[float | None]
    score: Mapped[float | None]
    """the metric that ranks on the board"""
    feedback: Mapped[dict[str, Any] | None]
    """what the student sees"""
    staff_notes: Mapped[dict[str, Any] | None]
    retries: Mapped[int] = mapped_column(default=0)
    next_try_at: Mapped[datetime | None]
    isolation: Mapped[str | None]
    conditions: Mapped[dict[str, Any] | None]
    """what it was graded with, to grade it again: reference figures, digests of environment, tree and seed, node"""
    queued_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class Grade(Base):
    """The attempt that counts for a person in a lab."""

    __tablename__ = "grade"
    __table_args__ = (UniqueConstraint("lab_id", "person_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempt.id"))
    verdict: Mapped[str]
    points: Mapped[float]
    """what counts: `raw_points` less the penalty for being late"""
    raw_points: Mapped[float | None]
    """as graded; null in a grade from before there were penalties: the same as `points`"""
    penalty: Mapped[float] = mapped_column(default=0.0, server_default="0")
    days_late: Mapped[int] = mapped_column(default=0, server_default="0")
    """calendar days after the person's own due date"""
    late_days: Mapped[int] = mapped_column(default=0, server_default="0")
    """of the cohort's late days, those spent on it"""
    max_points: Mapped[float]
    updated_at: Mapped[datetime]
