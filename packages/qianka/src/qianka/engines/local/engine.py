"""The engine of one machine: a supervisor a run, found again after a restart by its heartbeat."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from qianka import jobdir
from qianka.domain.jobs import JobState
from qianka.domain.resources import Node, Placement
from qianka.engines.base import Handle, Status
from qianka.engines.directories import ended, move_fence, never_began, unreadable
from qianka.engines.local.starters import Starter
from qianka.engines.local.watch import Watcher
from qianka.errors import PlatformFault, Text
from qianka.jobdir import FormatError
from qianka.jobdir.records import claim, put_result

STARTING = 10.0
"""seconds for which a claimed run may be without a heartbeat"""
_NODES_KEPT = 60.0


class LocalEngine:
    """Engine, Waits, Logs and Cleans over job directories; keeps nothing that a restart would lose."""

    name = "local"
    queues = False

    def __init__(self, jobs: Path, starter: Starter, nodes: Callable[[], Node], watcher: Watcher | None = None) -> None:
        self.jobs = jobs
        self._starter = starter
        self._inventory = nodes
        self._nodes: tuple[float, Node] | None = None
        self._watcher = watcher or Watcher()
        self._begun: dict[Handle, Status] = {}
        """what runs under a supervisor that is watched: nothing need be read until it ends"""

    def submit(self, job: Mapping[str, Any], run: int, placement: Placement | None) -> Handle:
        handle = Handle(str(job["job"]), run)
        try:
            directory = jobdir.make(self.jobs, dict(job))
            move_fence(directory, _fence(run, placement))
        except FormatError as error:
            raise PlatformFault(Text(f"任务目录不合格：{error}", f"the job directory is not fit: {error}")) from error
        except OSError as error:
            raise unreadable(error) from error
        if not os.path.isdir(jobdir.run_dir(directory, run)):
            self._watcher.watch(handle, self._starter.start(handle.job, run))
        return handle

    def poll(self, handles: Iterable[Handle]) -> dict[Handle, Status]:
        self._watcher.reap()
        try:
            return {handle: self._status(handle) for handle in handles}
        except OSError as error:
            raise unreadable(error) from error

    def cancel(self, handle: Handle) -> None:
        directory = jobdir.job_dir(self.jobs, handle.job)
        try:
            os.makedirs(os.path.join(directory, "runs"), exist_ok=True)
            if claim(directory, handle.run):
                # It never began, and now it never will: a supervisor that comes late finds its run taken.
                put_result(directory, handle.run, never_began(handle))
                return
            jobdir.ask_cancel(directory)
        except OSError as error:
            raise unreadable(error) from error
        self._starter.stop(handle.job, handle.run)

    def nodes(self) -> list[Node]:
        now = time.monotonic()
        if self._nodes is None or now - self._nodes[0] > _NODES_KEPT:
            self._nodes = (now, self._inventory())
        return [self._nodes[1]]

    def wait(self, timeout: float) -> None:
        self._watcher.wait(timeout)

    def wake(self) -> None:
        self._watcher.wake()

    def log(self, handle: Handle, stream: str, offset: int) -> tuple[str, int]:
        return jobdir.read_log(jobdir.job_dir(self.jobs, handle.job), handle.run, stream, offset)

    def clean(self, job: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._starter.clean(job)

    def close(self) -> None:
        """Stop watching; what runs goes on."""
        self._watcher.close()
        self._starter.close()

    def _status(self, handle: Handle) -> Status:
        known = self._begun.get(handle)
        if known is not None and self._watcher.watches(handle):
            return known
        self._begun.pop(handle, None)
        directory = jobdir.job_dir(self.jobs, handle.job)
        result = ended(directory, handle)
        if result is not None:
            return result
        try:
            claimed = os.stat(jobdir.run_dir(directory, handle.run)).st_mtime
        except FileNotFoundError:
            return Status(state=JobState.PENDING)
        beat = jobdir.read_beat(directory, handle.run)
        if beat is not None and jobdir.alive(beat):
            self._watcher.watch(handle, beat["pid"])
            found = Status(state=JobState.RUNNING, since=datetime.fromtimestamp(claimed, timezone.utc))
            self._begun[handle] = found
            return found
        if beat is None and (self._watcher.watches(handle) or time.time() - claimed < STARTING):
            return Status(state=JobState.RUNNING, detail="starting")
        # It may have written its result and gone between the two looks above.
        return ended(directory, handle) or Status(
            state=JobState.NODE_FAIL, detail="its supervisor is gone and left no result"
        )


def _fence(run: int, placement: Placement | None) -> dict[str, Any]:
    if placement is None:
        return {"run": run, "node": os.uname().nodename, "cores": [], "cards": []}
    return {
        "run": run,
        "node": placement.node,
        "cores": list(placement.cores),
        "cards": [asdict(card) for card in placement.cards],
    }
