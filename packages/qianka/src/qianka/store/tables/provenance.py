"""What is known of where files came from: recorded when a person's own job has ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class JobTrace(Base):
    """One ended job: its code, its seed, what it reached. Outlives the job's directory."""

    __tablename__ = "job_trace"

    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    tree: Mapped[str | None] = mapped_column(index=True)
    """digest of the code tree"""
    seed: Mapped[str | None]
    seed_from: Mapped[str | None]
    """metrics, config, arguments or environment: none of it is measured, all of it is the program's own word"""
    figures: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """the last value of each metric"""
    curve: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """{name, steps, values} of one metric, thinned"""
    files: Mapped[int] = mapped_column(default=0)
    skipped: Mapped[list[Any]] = mapped_column(default=list)
    """[{path, size, why}] of files that were not hashed: too large, too many"""
    is_gone: Mapped[bool] = mapped_column(default=False)
    """the job's directory was not there any more"""
    traced_at: Mapped[datetime]


class TreeFile(Base):
    """A file of a code tree that some job ran."""

    __tablename__ = "tree_file"
    __table_args__ = (UniqueConstraint("tree", "path"), Index("ix_tree_file_sha256", "sha256"))

    id: Mapped[int] = mapped_column(primary_key=True)
    tree: Mapped[str]
    path: Mapped[str]
    size: Mapped[int]
    sha256: Mapped[str]


class OutFile(Base):
    """A file that a job left in out/."""

    __tablename__ = "out_file"
    __table_args__ = (UniqueConstraint("job_id", "path"), Index("ix_out_file_sha256", "sha256"))

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"))
    path: Mapped[str]
    size: Mapped[int]
    sha256: Mapped[str]
