"""The Slurm engine: a run is a Slurm job; Slurm's own queue decides when and where."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from qianka import jobdir
from qianka.domain.jobs import JobState
from qianka.domain.resources import Card, Node, Placement
from qianka.engines.base import Handle, Status
from qianka.engines.directories import ended, move_fence, never_began, unreadable
from qianka.engines.slurm import figures, records
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.listing import Listing
from qianka.engines.slurm.looking import LINGERS, Looking
from qianka.engines.slurm.submitting import Submitting
from qianka.errors import PlatformFault, Refused, Text
from qianka.jobdir import FormatError
from qianka.jobdir.out import remove
from qianka.jobdir.records import claim, put_result

NODES_KEPT = 60.0
INSIST = 15.0
"""seconds that a supervisor has to end a cancelled run before Slurm ends it"""
DOUBTFUL = 120.0
"""seconds for which a run that was submitted twice is watched for a second Slurm job"""


class SlurmEngine:
    """Engine, Waits, Logs and Cleans over job directories and Slurm's commands."""

    name = "slurm"
    queues = True

    def __init__(
        self, jobs: Path, client: Client, submitting: Submitting, every: float = 2.0, lingers: float = LINGERS
    ) -> None:
        self.jobs = jobs
        self.client = client
        self.every = every
        self.listing = Listing(client.jobs, every)
        self._submitting = submitting
        self._looking = Looking(jobs, client, self.listing, submitting, every, lingers)
        self._nodes: tuple[float, list[Node]] | None = None
        self._tries: dict[Handle, int] = {}
        self._doubtful: dict[Handle, float] = {}
        self._asked: dict[Handle, float] = {}
        self._woken = threading.Event()

    def submit(self, job: Mapping[str, Any], run: int, placement: Placement | None) -> Handle:
        handle = Handle(str(job["job"]), run)
        try:
            directory = jobdir.make(self.jobs, dict(job))
            # Where it will run Slurm decides; the supervisor learns its node and cards there.
            move_fence(directory, {"run": run, "node": "", "cores": [], "cards": []})
            self._tries[handle] = self._tries.get(handle, 0) + 1
            record = self._submitting.submit(job, directory, run)
            if record is not None and self._tries.pop(handle, 1) > 1:
                self._doubtful[handle] = time.monotonic() + DOUBTFUL
            self._looking.submitted(handle)
        except Refused as error:
            self._refused(job, directory, handle, error)
        except FormatError as error:
            raise PlatformFault(Text(f"任务目录不合格：{error}", f"the job directory is not fit: {error}")) from error
        except OSError as error:
            raise unreadable(error) from error
        return handle

    def poll(self, handles: Iterable[Handle]) -> dict[Handle, Status]:
        wanted = list(handles)
        try:
            found = self._looking.look(wanted)
            self._end_doubles()
        except OSError as error:
            raise unreadable(error) from error
        return found

    def cancel(self, handle: Handle) -> None:
        directory = jobdir.job_dir(self.jobs, handle.job)
        try:
            os.makedirs(os.path.join(directory, "runs"), exist_ok=True)
            record = records.read(directory, handle.run)
            if record is None:
                if claim(directory, handle.run):
                    # It never began, and now it never will: who submits it later finds its run taken.
                    put_result(directory, handle.run, never_began(handle))
                return
            if ended(directory, handle) is not None:
                return
            jobdir.ask_cancel(directory)
        except OSError as error:
            raise unreadable(error) from error
        if record.id is None:
            return  # the next submit finds it, or not; the next cancel ends it
        since = self._asked.setdefault(handle, time.monotonic())
        supervised = record.supervised and os.path.isdir(jobdir.run_dir(directory, handle.run))
        if supervised and time.monotonic() - since < INSIST:
            return  # the supervisor sees the mark within a second and leaves the better result
        job = jobdir.read_job(directory)
        hand = self._submitting.hand(job)
        if hand is None:
            self.client.scancel([record.id])
        else:
            hand.cancel(job, handle.run, record.id)

    def nodes(self) -> list[Node]:
        now = time.monotonic()
        if self._nodes is None or now - self._nodes[0] > NODES_KEPT:
            self._nodes = (now, [_node(machine) for machine in self.client.machines()])
        return self._nodes[1]

    def wait(self, timeout: float) -> None:
        """Until `wake`, the next time that Slurm may be asked, or `timeout`."""
        self._woken.wait(min(timeout, self.every) if self._looking.live else timeout)
        self._woken.clear()

    def wake(self) -> None:
        self._woken.set()

    def log(self, handle: Handle, stream: str, offset: int) -> tuple[str, int]:
        return jobdir.read_log(jobdir.job_dir(self.jobs, handle.job), handle.run, stream, offset)

    def clean(self, job: str) -> None:
        parent = os.open(self.jobs, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            remove(parent, jobdir.safe_id(job))
        finally:
            os.close(parent)

    def close(self) -> None:
        """Nothing to give back: what runs, runs in Slurm."""
        self._woken.set()

    def _refused(self, job: Mapping[str, Any], directory: str, handle: Handle, error: Refused) -> None:
        """Slurm will never take it: the run ends with Slurm's words, without having cost anything."""
        own = job["kind"] == "run"
        state = JobState.FAILED if own else JobState.NODE_FAIL
        reason = figures.told("slurm_refused", text=str(error.details.get("said") or error.message.en))
        result = figures.result_of(job, handle.run, figures.NOTHING, state=state, reason=reason)
        os.makedirs(jobdir.run_dir(directory, handle.run), exist_ok=True)
        put_result(directory, handle.run, {**result, "exit_code": None})

    def _end_doubles(self) -> None:
        now = time.monotonic()
        for handle, until in list(self._doubtful.items()):
            record = records.read(jobdir.job_dir(self.jobs, handle.job), handle.run)
            if now > until or record is None or record.account is not None:
                del self._doubtful[handle]
            else:
                self.client.scancel(self._submitting.doubles(record))


def _node(machine: Any) -> Node:
    cards = tuple(
        Card(index=number, uuid=f"{machine.name}-{number}", model=machine.model, memory=0)
        for number in range(machine.gpus)
    )
    cores = tuple(range(machine.cpus))
    return Node(name=machine.name, cores=cores, memory=machine.memory, cards=cards, alive=machine.alive)
