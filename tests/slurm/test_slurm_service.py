"""The platform's own jobs on Slurm: in the sandbox as an ordinary service, and through the whole worker."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka import jobdir
from qianka.cli import slurmlook
from qianka.domain.jobs import JobKind
from qianka.domain.resources import Resources
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.engine import SlurmEngine
from qianka.engines.slurm.hands import OwnHand
from qianka.engines.slurm.submitting import Submitting
from qianka.errors import SandboxRefused
from qianka.settings import Settings
from qianka.store.tables import Job
from qianka.store.upgrade import upgrade
from qianka.testing import make_job, make_person
from qianka.testing.slurm import Cluster
from qianka.testing.slurm.rigs import SITE
from qianka.testing.slurm.scene import as_account
from qianka.testing.supervised import reachable_sources
from qianka.worker import main

pytestmark = [
    pytest.mark.root,
    pytest.mark.sandbox,
    pytest.mark.timeout(180),
    pytest.mark.xdist_group("slurm"),
]
MIB = 1 << 20


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that everybody can reach: the cluster's shared file system."""
    base = Path(tempfile.mkdtemp(prefix="qianka-service-", dir="/var/tmp"))
    base.chmod(0o755)
    yield base
    shutil.rmtree(base, ignore_errors=True)


def spec(program: str, **changes: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "job": "j-1",
        "kind": "grade",
        "name": "train",
        "argv": ["/usr/bin/python3", "-c", program],
        "resources": {"cpus": 1.0, "memory": 256 * MIB, "gpus": 0},
        "limits": {"wall": 60.0, "disk": 64 * MIB, "inodes": 1000, "tmp": 64 * MIB, "shm": 64 * MIB},
        "isolation": {"backend": "bubblewrap", "minimum": "degraded"},
        "volume": "folder",
        **changes,
    }


def graded(cluster: Cluster, base: Path, login: str, job: dict[str, Any]) -> dict[str, Any]:
    """The end of a stage that the service `login` submits by itself, and what it printed."""
    sources = reachable_sources(base)
    jobs = base / "data/jobs"
    jobs.mkdir(parents=True)
    for folder in (base / "data", jobs):
        shutil.chown(folder, login)
    (base / "data").chmod(0o700)

    def act() -> dict[str, Any]:
        client = Client(str(cluster.conf))
        supervisor = str(sources / "supervisor/__main__.py")
        submitting = Submitting(jobs, client, SITE, OwnHand(client, SITE), None, supervisor=supervisor)
        engine = SlurmEngine(jobs, client, submitting, 0.25, 1.0)
        handle = engine.submit(job, 1, None)
        end = time.monotonic() + 60
        while not (found := engine.poll([handle])[handle]).state.ended and time.monotonic() < end:
            engine.wait(1.0)
        log = jobdir.read_log(jobs / "j-1", 1, "stdout", 0)[0] if found.result else found.detail
        return {"state": found.state.value, "result": found.result, "log": log}

    found: dict[str, Any] = as_account(login, act)
    return found


def test_a_stage_runs_in_the_sandbox_under_the_service(slurm_cluster: Cluster, base: Path) -> None:
    login = slurm_cluster.person("service")
    program = "import os; print(os.getuid(), os.path.exists('/var/tmp'), sorted(os.listdir('/')))"
    found = graded(slurm_cluster, base, login, spec(program))
    assert found["state"] == "COMPLETED", found
    assert found["result"]["isolation"] == "degraded"
    assert "own_uid" in found["result"]["missing"]
    assert found["log"].split()[1] == "False", "nothing of the machine's files is to be seen"
    assert found["result"]["node"] in slurm_cluster.names


def test_a_stage_that_asks_for_more_than_a_node_can_give_does_not_run(slurm_cluster: Cluster, base: Path) -> None:
    login = slurm_cluster.person("service")
    job = spec("print(1)", isolation={"backend": "bubblewrap", "minimum": "full"})
    found = graded(slurm_cluster, base, login, job)
    assert (found["state"], found["result"]["reason"]["code"], found["log"]) == ("NODE_FAIL", "sandbox", "")


def test_root_does_not_submit_what_a_sandbox_should_contain(tmp_path: Path) -> None:
    assert os.geteuid() == 0
    found = Settings(data_dir=str(tmp_path), engine_name="slurm")
    with pytest.raises(SandboxRefused, match="root"):
        main.make_engine(found, main.open_platform(found))


def test_the_whole_worker_on_slurm(slurm_cluster: Cluster, base: Path) -> None:
    found = Settings(
        data_dir=str(base / "data"),
        engine_name="slurm",
        slurm_conf=str(slurm_cluster.conf),
        slurm_poll=0.25,
        sandbox_backend="none",
        sandbox_minimum="none",
    )
    platform = main.open_platform(found)
    upgrade(platform.store)
    stop = threading.Event()
    worker = threading.Thread(target=main.run, args=(found, stop))
    worker.start()
    try:
        person = make_person(platform)
        made = [
            make_job(
                platform, person, kind=JobKind.GRADE, spec={"argv": ["/bin/sh", "-c", f"echo {n}"]}, resources=small()
            )
            for n in range(5)
        ]
        end = time.monotonic() + 60
        while not all(job.ended_at for job in rows(platform)) and time.monotonic() < end:
            time.sleep(0.1)
    finally:
        stop.set()
        worker.join(60)
    assert {(job.state, job.run) for job in rows(platform)} == {("COMPLETED", 1)}
    log = platform.folders.jobs / made[3].id / "runs/1/stdout.log"
    assert log.read_text() == "3\n"
    platform.store.close()


def small() -> Resources:
    return Resources(cpus=1, memory=64 * MIB)


def rows(platform: Any) -> list[Job]:
    with platform.store.reading() as session:
        return list(session.query(Job))


def test_doctor_tells_what_slurm_lacks(slurm_cluster: Cluster) -> None:
    found = Settings(engine_name="slurm", slurm_conf=str(slurm_cluster.conf), sandbox_minimum="full")
    told = {name: level for name, level, _, _ in slurmlook.look(found)}
    assert told == {"slurm": "ok", "slurm.accounting": "ok", "slurm.isolation": "bad", "slurm.shared": "ok"}
    assert slurmlook.look(Settings()) == []
