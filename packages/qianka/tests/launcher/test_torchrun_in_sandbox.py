"""`qianka submit --torchrun` on one machine: the processes of a job meet inside the sandbox, without a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from qianka.domain.resources import Resources
from qianka.services.jobs import JobRequest, asks
from qianka.services.platform import Caller, Platform
from qianka.testing.supervised import Launched, job

pytestmark = [pytest.mark.root, pytest.mark.sandbox, pytest.mark.runtime, pytest.mark.slow]

ALL_REDUCE = """
import json, sys, torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
sys.stdout.write(json.dumps([dist.get_rank(), dist.get_world_size(), total.item(), sys.argv[1:]]) + chr(10))
dist.destroy_process_group()
"""


@pytest.mark.timeout(300)
def test_two_processes_meet_in_the_sandbox(platform: Platform, student_runtime: Path) -> None:
    request = JobRequest(argv=("x",), torchrun=True, resources=Resources(gpus=2))
    argv, by_engine = asks.launched(platform, Caller.system(), request, ["python", "/work/train.py", "--lr", "1"])
    assert not by_engine
    words = ["--runtime", str(student_runtime), "--allow", str(student_runtime)]
    with Launched(*words, "--uid-base", "62600", "--uid-count", "4") as at:
        tree = at.data / "trees" / "ab"
        tree.mkdir()
        (tree / "train.py").write_text(ALL_REDUCE)
        at.own()
        limits = {"wall": 240, "processes": 256, "shm": 256 << 20, "tmp": 256 << 20}
        done = at.run(
            job(
                "j-torchrun",
                argv,
                work=str(tree),
                runtime=str(student_runtime),
                isolation={"minimum": "full"},
                limits=limits,
                resources={"memory": 4 << 30, "cpus": 2.0},
            )
        )
    assert done.result["state"] == "COMPLETED", done.stderr
    told = sorted(json.loads(line) for line in done.stdout.splitlines())
    assert told == [[0, 2, 3.0, ["--lr", "1"]], [1, 2, 3.0, ["--lr", "1"]]]
