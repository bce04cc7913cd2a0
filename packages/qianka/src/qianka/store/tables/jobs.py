"""Jobs, their runs and the ledger of seconds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Job(Base):
    """One job; `run` is its fence: the number of the run whose result will be accepted (0: none yet)."""

    __tablename__ = "job"
    __table_args__ = (Index("ix_job_state_queued", "state", "queued_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str | None] = mapped_column(unique=True)
    """makes a submit idempotent, such as `attempt:ID:train:1`"""
    cohort_id: Mapped[int | None] = mapped_column(ForeignKey("cohort.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    attempt_id: Mapped[str | None] = mapped_column(ForeignKey("attempt.id"), index=True)
    kind: Mapped[str]
    name: Mapped[str]
    label: Mapped[str] = mapped_column(default="normal")
    state: Mapped[str]
    reason: Mapped[dict[str, Any] | None]
    """why it ended or waits: {code, …}"""
    spec: Mapped[dict[str, Any]]
    """the text of job.json"""
    cpus: Mapped[float]
    memory: Mapped[int]
    gpus: Mapped[int] = mapped_column(default=0)
    nodes: Mapped[int] = mapped_column(default=1, server_default="1")
    """cpus, memory and gpus are those of each node"""
    exclusive: Mapped[bool] = mapped_column(default=False, server_default=false())
    held_cpus: Mapped[float | None]
    """cores that a run may be charged for, where that is not cpus x nodes (whole nodes)"""
    held_gpus: Mapped[int | None]
    array_id: Mapped[str | None] = mapped_column(index=True)
    """the array that it is a job of"""
    array_index: Mapped[int | None]
    array_most: Mapped[int | None]
    """how many jobs of the array run at once; None: any number"""
    wall_limit: Mapped[float]
    continues: Mapped[bool] = mapped_column(default=False)
    charged: Mapped[bool] = mapped_column(default=True)
    run: Mapped[int] = mapped_column(default=0)
    retries: Mapped[int] = mapped_column(default=0)
    max_retries: Mapped[int] = mapped_column(default=0)
    queued_at: Mapped[datetime]
    not_before: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    answered_at: Mapped[datetime | None]
    """last good answer of the engine"""
    cancel_at: Mapped[datetime | None]
    """when cancelling was asked for"""
    result: Mapped[dict[str, Any] | None]
    """result.json of the accepted run"""


class Run(Base):
    """One start of a job; the accepted one is the run whose number the job carried when it ended."""

    __tablename__ = "run"
    __table_args__ = (UniqueConstraint("job_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), index=True)
    number: Mapped[int]
    engine: Mapped[str]
    node: Mapped[str]
    cores: Mapped[list[Any]] = mapped_column(default=list)
    cards: Mapped[list[Any]] = mapped_column(default=list)
    state: Mapped[str]
    accepted: Mapped[bool | None]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    result: Mapped[dict[str, Any] | None]


class Ledger(Base):
    """Seconds used by one run: allocated cores and cards times time. Never written for a platform fault."""

    __tablename__ = "ledger"
    __table_args__ = (UniqueConstraint("job_id", "run"), Index("ix_ledger_person_ended", "person_id", "ended_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"))
    run: Mapped[int]
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    cohort_id: Mapped[int | None] = mapped_column(ForeignKey("cohort.id"), index=True)
    kind: Mapped[str]
    cpu_seconds: Mapped[float]
    gpu_seconds: Mapped[float]
    charged: Mapped[bool]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime]
