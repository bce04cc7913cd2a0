"""A job, its states (Slurm's words) and what a run of it ended with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from qianka.domain.resources import Label, Resources


class JobState(str, Enum):
    """Where a job stands; UNKNOWN: the engine did not answer."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    CANCELLED = "CANCELLED"
    PREEMPTED = "PREEMPTED"
    NODE_FAIL = "NODE_FAIL"
    UNKNOWN = "UNKNOWN"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to a run in this state."""
        return self not in (JobState.PENDING, JobState.RUNNING, JobState.UNKNOWN)


class JobKind(str, Enum):
    """Why a job runs; decides network, isolation and who is charged."""

    RUN = "run"
    """a person's own job"""
    GRADE = "grade"
    """a stage of an attempt"""
    REFERENCE = "reference"
    """the teacher's solution, timed for comparison"""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A PENDING job as the queue policy sees it."""

    job: str
    person: int
    resources: Resources
    label: Label
    queued_at: datetime
    wall_limit: float
    continues: bool = False
    """a later stage of something already begun: goes before new work"""
    array: str | None = None
    """the array that it is a job of"""
    array_most: int | None = None
    """how many jobs of the array may run at once; None: any number"""


@dataclass(frozen=True, kw_only=True)
class Occupied:
    """A RUNNING job as the queue policy sees it."""

    job: str
    person: int
    node: str
    cores: tuple[int, ...]
    cards: tuple[int, ...]
    memory: int
    started_at: datetime
    wall_limit: float
    cpus: float = 1.0
    """below 1: a share of its one core"""
    array: str | None = None
