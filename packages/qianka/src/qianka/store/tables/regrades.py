"""Regrades, rehearsed before they count, and every change of a grade."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Regrade(Base):
    """A second grading of hand-ins of a lab by one version; its attempts do not count until it is applied."""

    __tablename__ = "regrade"

    id: Mapped[str] = mapped_column(primary_key=True)
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"), index=True)
    open_lab_id: Mapped[int | None] = mapped_column(unique=True)
    """the lab while the regrade is open, then null: at most one is open in a lab"""
    version: Mapped[str]
    """the version of the lab that the hand-ins are graded by"""
    state: Mapped[str] = mapped_column(default="open")
    """open, applied or dropped"""
    reason: Mapped[str]
    chosen: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """which hand-ins were asked for"""
    started_by: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    started_at: Mapped[datetime]
    ended_by: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    ended_at: Mapped[datetime | None]
    outcome: Mapped[dict[str, Any] | None]
    """how many grades moved, once applied"""


class GradeChange(Base):
    """One change of a grade: what it was, what it became, who, when and why. Never changed itself."""

    __tablename__ = "grade_change"
    __table_args__ = (Index("ix_grade_change_lab_person", "lab_id", "person_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    why: Mapped[str]
    """graded, rerun, dates, extension, late_days or regrade"""
    reason: Mapped[str] = mapped_column(default="")
    by_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    """who caused it; null: the platform itself"""
    regrade_id: Mapped[str | None] = mapped_column(ForeignKey("regrade.id"), index=True)
    before: Mapped[dict[str, Any] | None]
    """{attempt, verdict, points, raw_points, max_points, penalty, days_late, late_days}; null: there was none"""
    after: Mapped[dict[str, Any] | None]
