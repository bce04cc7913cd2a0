"""Jobs: what a person runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer, Request
from qianka.schemas.submissions import QueueView


class NewJob(Request):
    """A job to submit. The code is sent before it as an archive (`upload`) or there is none."""

    argv: list[str] = Field(min_length=1, max_length=1000)
    name: str = Field(default="", max_length=200)
    cohort: str | None = None
    cpus: float = Field(default=1.0, gt=0, le=4096)
    memory: int = Field(default=1 << 30, gt=0)
    """bytes"""
    gpus: int = Field(default=0, ge=0, le=4096)
    label: str = Field(default="normal", pattern="^(urgent|normal|idle)$")
    wall: float = Field(default=600.0, gt=0)
    """seconds"""
    environment: dict[str, str] = Field(default_factory=dict)
    upload: str | None = None
    """id from POST /api/uploads: the code, mounted read-only at /work"""


class Job(Answer):
    """One job and, once it has ended, what it used."""

    id: str
    name: str
    kind: str
    login: str
    cohort: str | None = None
    attempt: str | None = None
    label: str
    state: str
    reason: dict[str, Any] | None = None
    reason_text: str | None = None
    cpus: float
    memory: int
    gpus: int
    wall_limit: float
    run: int
    argv: list[str] = Field(default_factory=list)
    queued_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    answered_at: datetime | None = None
    exit_code: int | None = None
    wall: float | None = None
    cpu: float | None = None
    peak_memory: int | None = None
    node: str | None = None
    isolation: str | None = None
    charged: bool = True
    queue: QueueView | None = None


class JobLog(Answer):
    """A piece of a job's output, cut on character boundaries."""

    text: str
    offset: int
    """where the next piece begins"""
    ended: bool
    """nothing more will come"""
    run: int = 0


class Upload(Answer):
    """Code that waits for the job that will use it."""

    id: str
    size: int
    sha256: str
    files: int
