"""The Slurm engine on a test cluster, as the conformance suite handles engines."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from qianka import jobdir
from qianka.engines.base import Handle
from qianka.engines.local.starters import LauncherStarter
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.engine import SlurmEngine
from qianka.engines.slurm.hands import LauncherHand, OwnHand
from qianka.engines.slurm.site import Site
from qianka.engines.slurm.submitting import Submitting
from qianka.testing.slurm.cluster import Cluster
from qianka.testing.supervised import Launched, wait_for

EVERY, LINGERS = 0.25, 1.0
"""seconds; on a cluster of one machine nothing is ever late"""
MIB = 1 << 20
SITE = Site(qos={"urgent": "urgent", "normal": "normal", "idle": "idle"})
QOS = ("normal", "urgent", "idle")


class SlurmRig:
    """The platform's own jobs: under the supervisor, as the service (here root, so without a sandbox)."""

    nodes = 4
    patience = 30.0
    """seconds for the end of a run whose time is up"""
    SCRIPTS: dict[str, list[str]] = {
        "quick": ["/bin/sh", "-c", "echo hello; echo oops >&2; printf made > /out/made.txt"],
        "fails": ["/bin/sh", "-c", "exit 3"],
        "endless": ["/bin/sleep", "1000"],
        "hog": [sys.executable, "-c", f"import time; x = b'x' * {400 * MIB}; time.sleep(1000)"],
    }

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.jobs, self.run = folder / "jobs", folder / "run"
        self.jobs.mkdir(exist_ok=True)
        self.run.mkdir(exist_ok=True)
        self.conf = str(cluster.conf)
        self.engine: Any = None
        self.restarted()

    def job(self, name: str, behaviour: str, **limits: Any) -> dict[str, Any]:
        """A job that behaves as its name says."""
        argv = [word.replace("/out/", f"{self.jobs}/{name}/out/") for word in self.SCRIPTS[behaviour]]
        return self.text(name, argv, **limits)

    def text(self, name: str, argv: list[str], **limits: Any) -> dict[str, Any]:
        """The text of job.json."""
        resources = {"cpus": limits.pop("cpus", 1.0), "memory": limits.pop("memory", 512 * MIB)}
        return {
            "format": 1,
            "job": name,
            "kind": "grade",
            "name": name,
            "argv": argv,
            "resources": {**resources, "gpus": limits.pop("gpus", 0)},
            "limits": {"wall": 60.0, "output": MIB, **limits},
            "isolation": {"backend": "none", "minimum": "none"},
            "volume": "folder",
            "work": None,
        }

    def restarted(self) -> SlurmEngine:
        """As another process would see it: nothing is carried over but the files."""
        if self.engine is not None:
            self.engine.close()
        client = Client(self.conf)
        submitting = Submitting(self.jobs, client, SITE, OwnHand(client, SITE), None)
        engine = self.engine = SlurmEngine(self.jobs, client, submitting, EVERY, LINGERS)
        return engine

    def slurm_id(self, handle: Handle) -> str:
        """The number that Slurm gave a run."""
        record = jobdir.files.read_json(f"{self.jobs}/{handle.job}/slurm-{handle.run}.json")
        return str(record["id"])

    def lose(self, handle: Handle) -> None:
        """The supervisor dies unheard."""
        beat = wait_for(lambda: jobdir.read_beat(self.jobs / handle.job, handle.run)) or {}
        os.kill(beat["pid"], signal.SIGKILL)
        if beat["child"]:
            os.kill(beat["child"], signal.SIGKILL)

    def silence(self, handle: Handle) -> None:
        """The controller does not answer: nobody listens where the engine asks."""
        elsewhere = self.jobs.parent / "elsewhere.conf"
        port = f"SlurmctldPort={self.cluster.shape.ports['slurmctld']}"
        elsewhere.write_text(self.cluster.conf.read_text().replace(port, "SlurmctldPort=9"))
        self.conf = str(elsewhere)
        self.restarted()

    def close(self) -> None:
        """End what still runs."""
        self.engine.close()
        self._end_all("root")

    def _end_all(self, user: str) -> None:
        self.cluster.ask("scancel", "--quiet", f"--user={user}", check=False)
        wait_for(lambda: not self.cluster.ask("squeue", "-h", f"--user={user}", check=False).strip(), 30)


class SlurmPersonRig(SlurmRig):
    """A person's own jobs: through the launcher, under the person's account, figures by the accounting."""

    patience = 200.0
    """Slurm counts limits in minutes and looks at them twice a minute"""
    SCRIPTS = {
        **SlurmRig.SCRIPTS,
        "quick": ["/bin/sh", "-c", "echo hello; echo oops >&2; printf made > $QIANKA_OUT/made.txt"],
        "hog": ["/usr/bin/python3", *SlurmRig.SCRIPTS["hog"][1:]],
    }

    def __init__(self, cluster: Cluster, folder: Path, person: str = "alice") -> None:
        self.name = person
        self.person = cluster.person(person, qos=QOS)
        self.launched = Launched(
            "--service-uid", "0", "--uid-base", "61700", "--uid-count", "8", "--slurm", str(cluster.conf)
        )
        for path in [self.launched.data, *self.launched.data.rglob("*")]:
            os.chown(path, 0, 0)
        super().__init__(cluster, self.launched.data)

    def job(self, name: str, behaviour: str, **limits: Any) -> dict[str, Any]:
        return self.text(name, list(self.SCRIPTS[behaviour]), **limits)

    def text(self, name: str, argv: list[str], **limits: Any) -> dict[str, Any]:
        return {**super().text(name, argv, **limits), "kind": "run", "account": self.person}

    def restarted(self) -> SlurmEngine:
        if self.engine is not None:
            self.engine.close()
        client = Client(self.conf)
        hand = LauncherHand(self.jobs, SITE, LauncherStarter(self.run / "launcher.sock").ask)
        submitting = Submitting(self.jobs, client, SITE, OwnHand(client, SITE), hand)
        engine = self.engine = SlurmEngine(self.jobs, client, submitting, EVERY, LINGERS)
        return engine

    def lose(self, handle: Handle) -> None:
        """The node fails, as the controller sees it."""
        node = wait_for(lambda: self.engine.poll([handle])[handle].node)
        self.cluster.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=test")

    def close(self) -> None:
        self.engine.close()
        self._end_all(self.person)
        self.launched.close()
        shutil.rmtree(self.cluster.folder / "home" / self.name / "qianka", ignore_errors=True)
        self.cluster.wait_idle()
