"""What Slurm says of jobs, nodes and their use, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Line:
    """One job (or one task of an array) as the controller sees it now; instants in seconds since 1970."""

    id: str
    """`12`, or `12_3` for task 3 of an array"""
    state: str
    """Slurm's word, such as PENDING or NODE_FAIL"""
    reason: str
    start: float | None
    """when it began, or is expected to begin"""
    submit: float | None
    nodes: str
    user: str
    cpus: int
    priority: int
    partition: str


@dataclass(frozen=True, kw_only=True)
class Used:
    """One job as the accounting knows it: what was allocated, for how long, and what was used of it."""

    id: str
    state: str
    by: str | None = None
    """uid of who cancelled it"""
    code: int = 0
    signal: int = 0
    submit: float | None = None
    start: float | None = None
    end: float | None = None
    elapsed: float = 0.0
    """seconds"""
    cpu: float | None = None
    """seconds of processor time; None: not measured"""
    cpus: int = 0
    """allocated, on all nodes together"""
    gpus: int = 0
    nodes: str = ""
    memory: int | None = None
    """bytes of the largest step's largest task; None: not measured"""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One node; `memory` in bytes."""

    name: str
    cpus: int
    memory: int
    gpus: int
    model: str
    state: str

    @property
    def alive(self) -> bool:
        """Whether jobs can start on it."""
        return not self.state.rstrip("*").startswith(("down", "drain", "fail", "unknown", "power", "inval", "reboot"))
