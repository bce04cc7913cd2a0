"""Published labs and the reference runs that timing is compared with."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Lab(Base):
    """A lab as published in a cohort; `version` names its folder under labs/ in the data directory."""

    __tablename__ = "lab"
    __table_args__ = (UniqueConstraint("cohort_id", "slug"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    slug: Mapped[str]
    title: Mapped[str]
    title_en: Mapped[str] = mapped_column(default="")
    version: Mapped[str]
    opens_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    locks_at: Mapped[datetime | None]
    """nothing is accepted later, not even late"""
    published_at: Mapped[datetime]
    published_by: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    """whose name the platform's own jobs for this lab carry"""


class Reference(Base):
    """The teacher's solution timed on one node: what `time` and `memory` are measured against."""

    __tablename__ = "reference"
    __table_args__ = (UniqueConstraint("lab_id", "version", "node"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"), index=True)
    version: Mapped[str]
    node: Mapped[str]
    state: Mapped[str] = mapped_column(default="wanted")
    """wanted, running, done or failed"""
    job_ids: Mapped[list[Any]] = mapped_column(default=list)
    figures: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """seconds, cpu, wall, peak_memory (medians) and the single runs"""
    created_at: Mapped[datetime]
