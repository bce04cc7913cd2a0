"""What running jobs used over time, looked at from outside."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class UsageSample(Base):
    """One look at a running job; null where that could not be measured."""

    __tablename__ = "usage_sample"
    __table_args__ = (Index("ix_usage_sample_job_at", "job_id", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"))
    run: Mapped[int]
    at: Mapped[datetime] = mapped_column(index=True)
    cpu_percent: Mapped[float | None]
    """of one core: 200 means two cores"""
    memory: Mapped[int | None]
    """bytes"""
    card_percent: Mapped[float | None]
    """mean over the job's cards"""
    card_memory: Mapped[int | None]
    """bytes, of all the job's cards"""
