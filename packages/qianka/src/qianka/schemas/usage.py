"""What jobs, people and machines use."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer


class UsageSample(Answer):
    """One look at a running job from outside; null where that could not be measured."""

    run: int
    at: datetime
    seconds: float
    """since the start of the run"""
    cpu_percent: float | None = None
    """of one core: 200 means two cores"""
    memory: int | None = None
    """bytes"""
    card_percent: float | None = None
    """mean over the job's cards"""
    card_memory: int | None = None
    """bytes, of all its cards"""


class TopLine(Answer):
    """One of those who used the machines best this week, under the name that everybody may see."""

    rank: int
    name: str
    mine: bool = False
    gpu_hours: float
    """card-hours that were theirs"""
    cpu_hours: float
    """core-hours that were theirs"""
    gpu_busy: float | None = None
    """percent of their card time in which the card computed; null: not measured"""
    cpu_busy: float | None = None
    """percent of their core time that was used"""


class Top(Answer):
    """The week's best of a cohort by how much computing was really done."""

    cohort: str
    week_starts_at: datetime
    week_ends_at: datetime
    zone: str
    lines: list[TopLine] = Field(default_factory=list)


class NodeJob(Answer):
    """What runs on a node; of jobs that are not in a cohort of the caller's only what they hold."""

    id: str | None = None
    name: str | None = None
    person: str | None = None
    cohort: str | None = None
    kind: str
    state: str
    cores: list[int]
    cards: list[int]
    """indexes"""
    memory_limit: int
    started_at: datetime
    wall_limit: float
    cpu_percent: float | None = None
    memory: int | None = None
    card_percent: float | None = None
    card_memory: int | None = None


class NodeCard(Answer):
    """One card and who has it; `job` is its place in the node's jobs."""

    index: int
    uuid: str
    model: str
    memory: int
    simulated: bool = False
    job: int | None = None
    percent: float | None = None
    """how busy it is; null: not measured"""
    memory_used: int | None = None


class Node(Answer):
    """One machine: what it has, what is taken, how busy it is."""

    name: str
    alive: bool
    cores: int
    cores_taken: int
    memory: int
    """bytes that may be handed out"""
    memory_taken: int
    cpu_percent: float | None = None
    """of all its cores, measured; null: not seen from here"""
    memory_used: int | None = None
    seen_at: datetime | None = None
    cards: list[NodeCard] = Field(default_factory=list)
    jobs: list[NodeJob] = Field(default_factory=list)


class Part(Answer):
    """One part of the platform and whether it is well."""

    key: str
    """database, worker, sandbox, disk or queue"""
    ok: bool
    text: str
    fix: str | None = None


class Machines(Answer):
    """The parts of the platform, all nodes, and how many jobs wait for them."""

    parts: list[Part]
    nodes: list[Node]
    waiting: int
    waiting_since: datetime | None = None
