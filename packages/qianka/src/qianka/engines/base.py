"""The port to whatever runs jobs: one machine, Slurm, a partner campus, or a fake.

`submit` is idempotent: the same job and run twice is one run. `poll` asks for many runs at once.
Any method raises Unavailable when the engine does not answer; nothing is then concluded about a run.
Powers that not every engine has are protocols of their own (`Waits`, `Logs`, `Cleans`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from qianka.domain.jobs import JobState
from qianka.domain.resources import Node, Placement


@dataclass(frozen=True)
class Handle:
    """One run of one job."""

    job: str
    run: int


@dataclass(frozen=True, kw_only=True)
class Status:
    """What the engine knows of a run.

    PENDING without a `reason`: not begun (submit it again if that lasts); with one: it waits in the engine's
    own queue. Ended states carry the text of result.json in `result`, but for NODE_FAIL without one: the run is
    lost, its supervisor died unheard. UNKNOWN: the engine answers, but not about this run.
    """

    state: JobState
    result: dict[str, Any] | None = None
    since: datetime | None = None
    detail: str | None = None
    reason: dict[str, Any] | None = None
    """why it waits in the engine's queue: {"code", "text", "ahead" (jobs before it), "starts" (s since 1970)}"""
    node: str | None = None
    """where it runs, if the engine chose"""


class Engine(Protocol):
    """Where jobs run."""

    name: str
    queues: bool
    """whether the engine has a queue of its own; if not, only what has a placement is submitted"""

    def submit(self, job: Mapping[str, Any], run: int, placement: Placement | None) -> Handle:
        """Start run number `run` of `job` (the text of job.json) and return without waiting for it."""
        ...

    def poll(self, handles: Iterable[Handle]) -> dict[Handle, Status]:
        """The status of each of `handles`."""
        ...

    def cancel(self, handle: Handle) -> None:
        """Ask for the end of a run; it ends CANCELLED unless it ended otherwise before."""
        ...

    def nodes(self) -> list[Node]:
        """The machines, with all that may be handed out on them."""
        ...


@runtime_checkable
class Waits(Protocol):
    """An engine that notices the end of a run by itself."""

    def wait(self, timeout: float) -> None:
        """Return when a run has ended, `wake` was called, or after `timeout` seconds."""
        ...

    def wake(self) -> None:
        """End a `wait` in another thread, or the next one."""
        ...


@runtime_checkable
class Logs(Protocol):
    """An engine whose logs can be read while a run goes on."""

    def log(self, handle: Handle, stream: str, offset: int) -> tuple[str, int]:
        """The text of `stdout` or `stderr` from byte `offset` on, and the offset to go on from."""
        ...


@runtime_checkable
class Cleans(Protocol):
    """An engine that keeps files of ended jobs until told not to."""

    def clean(self, job: str) -> None:
        """Remove what is kept of an ended job; nothing to remove is fine."""
        ...
