"""A platform on a test cluster: store, dispatcher and Slurm engine, stepped by the test itself."""

from __future__ import annotations

import json
import os
import pwd
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qianka.clock import SystemClock
from qianka.domain.jobs import JobKind
from qianka.domain.resources import Label, Resources
from qianka.services.platform import Platform
from qianka.store.tables import Job, Ledger, Run
from qianka.testing.factories import make_job, make_person, make_platform
from qianka.testing.slurm.cluster import Cluster
from qianka.testing.slurm.rigs import SlurmPersonRig
from qianka.worker.queueing import QueueDispatcher

MIB = 1 << 20


class Scene:
    """One person with an account, a launcher, and a dispatcher that can be started anew."""

    def __init__(self, cluster: Cluster, folder: Path, person: str = "alice") -> None:
        self.cluster = cluster
        self.rig = SlurmPersonRig(cluster, folder, person)
        self.platform: Platform = make_platform(
            self.rig.jobs.parent,
            clock=SystemClock(),
            engine_name="slurm",
            sandbox_backend="none",
            sandbox_minimum="none",
        )
        self.person = make_person(self.platform, self.rig.person)
        self.dispatcher = QueueDispatcher(self.platform, self.rig.engine)

    def restart(self) -> None:
        """Another worker process: nothing is carried over but store and files."""
        self.dispatcher.close()
        self.dispatcher = QueueDispatcher(self.platform, self.rig.restarted())

    def own(self, argv: list[str], *, wall: float = 600.0, label: Label = Label.NORMAL, **resources: Any) -> Job:
        """A job of the person's own."""
        return self._job(JobKind.RUN, argv, wall, label, resources, account=self.rig.person)

    def stage(self, argv: list[str], *, wall: float = 600.0, label: Label = Label.NORMAL, **resources: Any) -> Job:
        """A stage of a grading: the platform's own, supervised."""
        return self._job(JobKind.GRADE, argv, wall, label, resources)

    def until(self, true: Callable[[], Any], seconds: float = 60.0) -> Any:
        """Step the dispatcher until `true()`. Raises TimeoutError with where all jobs stand."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.dispatcher.step()
            if found := true():
                return found
            self.dispatcher.wait(0.2)
        with self.platform.store.reading() as session:
            stand = [(job.id, job.state, job.run, job.reason) for job in session.query(Job)]
        raise TimeoutError(f"it did not come to pass: {stand}")

    def job(self, job: Job) -> Job:
        """The row as it is now."""
        with self.platform.store.reading() as session:
            found = session.get(Job, job.id)
            assert found is not None  # noqa: S101
            return found

    def runs(self, job: Job) -> list[Run]:
        """The runs of a job."""
        with self.platform.store.reading() as session:
            return list(session.query(Run).filter(Run.job_id == job.id).order_by(Run.number))

    def ledger(self) -> list[Ledger]:
        """All that was charged or counted."""
        with self.platform.store.reading() as session:
            return list(session.query(Ledger).order_by(Ledger.id))

    def has(self, state: str, *jobs: Job) -> Callable[[], bool]:
        """Whether all of `jobs` are in `state`."""
        return lambda: all(self.job(job).state == state for job in jobs)

    def over(self, *jobs: Job) -> Callable[[], bool]:
        """Whether all of `jobs` have ended."""
        return lambda: all(self.job(job).ended_at is not None for job in jobs)

    def accounted(self) -> tuple[float, float]:
        """Core-seconds and card-seconds of the person by sacct, but for what a node's failure cost."""
        told = self.cluster.ask(
            "sacct", "-X", "-n", "-P", "-D", f"--user={self.rig.person}", "--starttime=now-1hours",
            "-o", "State,ElapsedRaw,AllocTRES",
        )  # fmt: skip
        cpu = gpu = 0.0
        for line in told.splitlines():
            state, elapsed, tres = line.split("|")
            if state == "NODE_FAIL":
                continue
            given = dict(item.partition("=")[::2] for item in tres.split(",") if item)
            cpu += int(elapsed) * int(given.get("cpu", 0))
            gpu += int(elapsed) * int(given.get("gres/gpu", 0))
        return cpu, gpu

    def close(self) -> None:
        """End everything that still runs."""
        self.dispatcher.close()
        self.rig.close()
        self.platform.store.close()

    def _job(
        self, kind: JobKind, argv: list[str], wall: float, label: Label, resources: dict[str, Any], **spec: Any
    ) -> Job:
        asked = Resources(**{"memory": 256 * MIB, **resources})
        words = {"argv": argv, "volume": "folder", "isolation": {"backend": "none", "minimum": "none"}, **spec}
        words["resources"] = {"nodes": asked.nodes, "exclusive": asked.exclusive}
        return make_job(
            self.platform, self.person, kind=kind, spec=words, resources=asked, wall_limit=wall, label=label
        )


def as_account(login: str, act: Callable[[], Any]) -> Any:
    """What `act()` returns (JSON) when a fork of this process does it as `login` and as nobody else."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            found = pwd.getpwnam(login)
            os.initgroups(login, found.pw_gid)
            os.setresgid(found.pw_gid, found.pw_gid, found.pw_gid)
            os.setresuid(found.pw_uid, found.pw_uid, found.pw_uid)
            os.write(writer, json.dumps(act()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError(f"as {login}: status {status}")
    return json.loads(text)
