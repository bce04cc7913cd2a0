"""What jobs of several nodes and of whole nodes cost: the ledger counts what Slurm allocated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka.engines.base import Handle
from qianka.store.tables import Job
from qianka.testing.slurm.cluster import Cluster
from qianka.testing.slurm.scene import Scene

pytestmark = [pytest.mark.root, pytest.mark.slow, pytest.mark.xdist_group("slurm")]


@pytest.fixture
def scene(slurm_cluster: Cluster, tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(slurm_cluster, tmp_path)
    yield scene
    scene.close()


def test_cards_and_cores_of_all_nodes_are_counted(scene: Scene) -> None:
    job = scene.own(["/bin/sh", "-c", "echo $SLURM_PROCID; sleep 3"], nodes=2, gpus=4, cpus=2.0)
    scene.until(scene.over(job))
    found = scene.job(job)
    assert found.state == "COMPLETED", found.result
    (line,) = scene.ledger()
    wall = found.result["wall"]  # type: ignore[index]
    assert wall >= 3
    assert (line.gpu_seconds, line.cpu_seconds) == (8 * wall, 4 * wall)
    assert (line.cpu_seconds, line.gpu_seconds) == _accounted(scene, job)


def test_whole_nodes_are_counted_as_slurm_gives_them(scene: Scene) -> None:
    """A job that asks for one card of an exclusive node is charged for what it keeps from others."""
    job = scene.own(["/bin/sleep", "3"], nodes=2, gpus=1, exclusive=True)
    scene.until(scene.over(job))
    (line,) = scene.ledger()
    wall = scene.job(job).result["wall"]  # type: ignore[index]
    cores = scene.cluster.shape.cpus
    assert line.cpu_seconds == 2 * cores * wall
    assert line.gpu_seconds == 2 * scene.cluster.shape.gpus * wall
    assert (line.cpu_seconds, line.gpu_seconds) == _accounted(scene, job)


def test_the_first_failure_of_two_nodes_is_the_exit_code(scene: Scene) -> None:
    job = scene.own(["/bin/sh", "-c", "test $SLURM_NODEID = 0 && exec sleep 1000; exit 5"], nodes=2)
    scene.until(scene.over(job))
    found = scene.job(job)
    assert (found.state, found.result and found.result["exit_code"]) == ("FAILED", 5)


def test_memory_of_the_second_node_is_told_as_out_of_memory(scene: Scene) -> None:
    hog = (
        "test $SLURM_NODEID = 0 && exec sleep 1000; exec python3 -c 'x = bytes(800 << 20); import time; time.sleep(99)'"
    )
    job = scene.own(["/bin/bash", "-c", hog.replace("bytes(", 'b"x" * (')], nodes=2)
    scene.until(scene.over(job))
    assert scene.job(job).state == "OUT_OF_MEMORY"


def _accounted(scene: Scene, job: Job) -> tuple[float, float]:
    """Core-seconds and card-seconds of one job by sacct."""
    number = scene.rig.slurm_id(Handle(job.id, 1))
    told = scene.cluster.ask("sacct", "-X", "-n", "-P", "-j", number, "-o", "ElapsedRaw,AllocTRES")
    elapsed, tres = told.strip().split("|")
    given = dict(item.partition("=")[::2] for item in tres.split(","))
    return int(elapsed) * float(given["cpu"]), int(elapsed) * float(given["gres/gpu"])
