"""Jobs: what a person runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer, Request
from qianka.schemas.submissions import QueueView


class Container(Request):
    """What a job runs in on Slurm."""

    kind: str = Field(pattern="^(apptainer|docker|podman)$")
    image: str = Field(min_length=1, max_length=1000)


class NewJob(Request):
    """A job to submit: a command, or a script of code that was sent before (`code`)."""

    argv: list[str] = Field(default_factory=list, max_length=1000)
    script: str | None = Field(default=None, max_length=1000)
    """path inside of the code"""
    args: list[str] = Field(default_factory=list, max_length=1000)
    code: str | None = Field(default=None, max_length=500)
    """id from POST /api/uploads; mounted read-only at /work"""
    name: str = Field(default="", max_length=200)
    cohort: str | None = Field(default=None, max_length=100)
    cpus: float = 1.0
    memory: int = 1 << 30
    """bytes"""
    gpus: int = 0
    nodes: int = 1
    """machines; cpus, memory and gpus are those of each"""
    exclusive: bool = False
    """whole machines"""
    torchrun: bool | None = None
    """start the script by torchrun, a process a card; null: on several nodes"""
    container: Container | None = None
    sbatch: list[str] = Field(default_factory=list, max_length=50)
    """further options of sbatch, as on a command line (Slurm only)"""
    array: str | None = Field(default=None, min_length=1, max_length=4000)
    """indexes in Slurm's notation, such as `0-9`, `1,3,7`, `0-9:2`, `0-99%4`: one job each, all or none"""
    label: str = Field(default="normal", pattern="^(urgent|normal|idle)$")
    wall: float = 600.0
    """seconds"""
    environment: dict[str, str] = Field(default_factory=dict, max_length=200)


class JobRun(Answer):
    """One start of a job; a requeue is a new one."""

    number: int
    node: str
    state: str
    accepted: bool | None = None
    started_at: datetime
    ended_at: datetime | None = None


class Job(Answer):
    """One job and, once it has ended, what it used."""

    id: str
    name: str
    kind: str
    mine: bool = True
    person: str | None = None
    """whose it is; in a list of everybody's"""
    attempt: str | None = None
    label: str
    state: str
    reason: dict[str, Any] | None = None
    reason_text: str | None = None
    cpus: float
    memory: int
    gpus: int
    nodes: int = 1
    """cpus, memory and gpus are those of each"""
    exclusive: bool = False
    wall_limit: float
    run: int
    argv: list[str] = Field(default_factory=list)
    array: str | None = None
    """id of the array that it is a job of"""
    array_index: int | None = None
    array_most: int | None = None
    """how many jobs of the array run at once; null: any number"""
    array_states: dict[str, int] | None = None
    """jobs of the whole array by state; on a submit and in a folded list"""
    queued_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    answered_at: datetime | None = None
    """of an UNKNOWN job: when its engine last answered"""
    exit_code: int | None = None
    wall: float | None = None
    cpu: float | None = None
    peak_memory: int | None = None
    node: str | None = None
    isolation: str | None = None
    charged: bool = True
    queue: QueueView | None = None
    runs: list[JobRun] = Field(default_factory=list)


class ArrayJob(Answer):
    """One job of an array."""

    id: str
    index: int
    state: str
    reason_text: str | None = None
    exit_code: int | None = None
    wall: float | None = None


class JobArray(Answer):
    """An array and its jobs in the order of their indexes."""

    id: str
    name: str
    most: int | None = None
    states: dict[str, int]
    jobs: list[ArrayJob]


class DryRun(Answer):
    """What a submit would do; nothing was submitted."""

    engine: str
    script: str | None = None
    """the exact batch script; null on an engine that has none"""
    job: dict[str, Any]
    """the text of job.json"""
    sentences: list[str]
    jobs: int = 1
    """how many: of an array one an index; `script` and `job` are those of the first"""
    cpu_hours: float
    """at most, of all nodes and jobs together"""
    gpu_hours: float


class JobLog(Answer):
    """A piece of a job's output, cut on character boundaries."""

    text: str
    offset: int
    """where the next piece begins"""
    ended: bool
    """nothing more will come"""
    run: int = 0


class Code(Answer):
    """Code that waits for the job that will use it; the id is good for its owner alone."""

    id: str
    files: int
    size: int
    notes: list[str] = Field(default_factory=list)
