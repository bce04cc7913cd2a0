"""Batch scripts on a real Slurm: several nodes, torchrun, cards, labels, quoting; a person in a clean environment."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.layout import own_places
from qianka.engines.slurm.script import Places, port_of, render
from qianka.engines.slurm.site import Site
from qianka.testing.slurm.cluster import Cluster
from qianka.testing.supervised import wait_for

pytestmark = [pytest.mark.root, pytest.mark.slow, pytest.mark.xdist_group("slurm")]

OPEN = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")
STANDIN = Path(__file__).parents[2] / "packages/qianka/tests/engines/slurm/standin"
SHOW = """
import json, os, sys
names = ["RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "SLURMD_NODENAME", "CUDA_VISIBLE_DEVICES", "QIANKA_RUN"]
names += ["LOADED", "SECRET", "HOME", "OMP_NUM_THREADS", "QIANKA_PORT"]
told = {name: os.environ.get(name) for name in names}
sys.stdout.write(json.dumps([told, sys.argv[1:], os.getuid(), os.getcwd()]) + chr(10))
"""
ALL_REDUCE = """
import json, os, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
torch.manual_seed(dist.get_rank())
model(torch.randn(8, 4)).sum().backward()
told = [dist.get_rank(), dist.get_world_size(), total.item(), model.module.weight.grad.sum().item()]
sys.stdout.write(json.dumps([told, os.environ["SLURMD_NODENAME"]]) + chr(10))
dist.destroy_process_group()
"""


@dataclass
class Person:
    """Somebody with an account, and what they run."""

    cluster: Cluster
    login: str
    site: Site
    home: Path

    def job(self, job_id: str, code: str = SHOW, **changes: Any) -> tuple[dict[str, Any], Places]:
        """A job with its code in the person's folder."""
        resources = {"cpus": 1.0, "memory": 256 << 20, "gpus": 0, "nodes": 1, **changes.pop("resources", {})}
        job = {
            "job": job_id,
            "name": "show.py",
            "argv": ["python", "/work/show.py"],
            "environment": {"PYTHONPATH": str(self.home / "standin"), "LOADED": changes.pop("odd", "")},
            "resources": resources,
            "limits": {"wall": 120.0},
            "label": "normal",
            **changes,
        }
        places = own_places(self.site, job_id, 1, self.login, has_code=True)
        assert places.work is not None
        for folder in (Path(places.work), Path(places.out), Path(places.stdout).parent):
            folder.mkdir(parents=True)
        (Path(places.work) / "show.py").write_text(code)
        shutil.copytree(STANDIN, self.home / "standin", dirs_exist_ok=True)
        for top, folders, files in os.walk(self.home):
            for entry in (*folders, *files):
                shutil.chown(Path(top) / entry, self.login, self.login)
        return job, places

    def run(self, job: dict[str, Any], places: Places, *options: str) -> list[str]:
        """Submit as the person, wait for the end, and give the lines printed, without the numbers of nodes."""
        self.submit(job, places, "--wait", *options)
        return self.lines(places, labelled=job["resources"]["nodes"] > 1)

    def submit(self, job: dict[str, Any], places: Places, *options: str) -> str:
        account = pwd.getpwnam(self.login)
        who = [f"--uid={account.pw_uid}", f"--gid={account.pw_gid}", "--export=NONE", "--parsable"]
        text = render(job, 1, self.site, places)
        ended = self.cluster.ask("sbatch", *who, *options, stdin=text, check=False)
        return ended.strip()

    def lines(self, places: Places, *, labelled: bool) -> list[str]:
        errors = Path(places.stderr).read_text()
        assert errors == "", errors
        found = Path(places.stdout).read_text().splitlines()
        return [line.partition(": ")[2] for line in found] if labelled else found


@pytest.fixture
def alice(slurm_cluster: Cluster) -> Person:
    login = slurm_cluster.person("alice", qos=("normal", "urgent"))
    return Person(
        slurm_cluster,
        login,
        Site(qos={"normal": "", "urgent": "urgent", "idle": "idle"}),
        Path(pwd.getpwnam(login).pw_dir),
    )


@pytest.fixture
def shown(alice: Person) -> Callable[..., list[Any]]:
    """Runs a job and reads what each of its processes told."""

    def run(job_id: str, **changes: Any) -> list[Any]:
        job, places = alice.job(job_id, **changes)
        return [json.loads(line) for line in alice.run(job, places)]

    return run


def test_torchrun_starts_a_process_a_card_on_every_node(shown: Any, alice: Person) -> None:
    told = shown(
        "j-ddp", argv=["python", "/work/show.py", "--lr", "1"], torchrun=True, resources={"nodes": 2, "gpus": 4}
    )
    assert sorted(int(variables["RANK"]) for variables, *_ in told) == list(range(8))
    assert len({variables["SLURMD_NODENAME"] for variables, *_ in told}) == 2
    assert {variables["WORLD_SIZE"] for variables, *_ in told} == {"8"}
    assert {variables["CUDA_VISIBLE_DEVICES"] for variables, *_ in told} == {"0,1,2,3"}
    # Node names do not resolve on this cluster; the address is the one of slurm.conf.
    assert len({variables["MASTER_ADDR"] for variables, *_ in told}) == 1
    assert {tuple(arguments) for _, arguments, *_ in told} == {("--lr", "1")}
    assert {uid for _, _, uid, _ in told} == {pwd.getpwnam(alice.login).pw_uid}


def test_what_was_asked_for_is_what_slurm_allocates(alice: Person) -> None:
    asked = {"nodes": 2, "gpus": 3, "cpus": 2.0, "memory": 512 << 20, "exclusive": True}
    job, places = alice.job("j-size", label="urgent", resources=asked, sbatch=["--signal=USR1@30"])
    alice.run(job, places)
    told = alice.cluster.ask("scontrol", "-o", "show", "job", "--all")
    line = next(line for line in told.splitlines() if "JobName=j-size.1 " in line)
    assert "QOS=urgent" in line
    assert "NumNodes=2" in line
    assert "OverSubscribe=NO" in line
    assert "Comment=qianka:j-size:1" in line
    assert "TimeLimit=00:02:00" in line
    assert "MinMemoryNode=512M" in line
    assert "Requeue=0" in line


@pytest.mark.parametrize("torchrun", [False, True])
def test_hostile_words_and_names_arrive_as_they_are(shown: Any, torchrun: bool) -> None:
    hostile = ["it's", 'a "b"', "$(touch pwned)", "two\nlines", "TASK\nTASK", "训练 集", "", "-rf", "\\", "#"]
    told = shown(
        f"j-words-{torchrun}",
        name="x\n#SBATCH --uid=0",
        argv=["python", "/work/show.py", *hostile],
        torchrun=torchrun,
        resources={"nodes": 2},
        odd="a\nb'$(id)",
    )
    assert [arguments for _, arguments, *_ in told] == [hostile, hostile]
    assert {variables["LOADED"] for variables, *_ in told} == {"a\nb'$(id)"}


def test_the_environment_is_clean_but_for_what_the_site_loads(alice: Person, tmp_path: Path) -> None:
    init = alice.home / "modules.sh"
    init.write_text('module() { export LOADED="$2"; }\n')
    alice.site = replace(alice.site, modules_init=str(init), modules=("cuda/12.4",))
    job, places = alice.job("j-clean", environment={}, resources={"nodes": 2})
    alice.cluster.environment["SECRET"] = "of the service"
    try:
        told = [json.loads(line) for line in alice.run(job, places)]
    finally:
        del alice.cluster.environment["SECRET"]
    assert [variables["LOADED"] for variables, *_ in told] == ["cuda/12.4"] * 2
    assert [variables["SECRET"] for variables, *_ in told] == [None] * 2
    assert [variables["HOME"] for variables, *_ in told] == [str(alice.home)] * 2
    assert [cwd for *_, cwd in told] == [places.out] * 2


def test_two_jobs_on_the_same_nodes_meet_apart(alice: Person) -> None:
    made = [
        alice.job(f"j-apart-{number}", argv=["python", "/work/show.py"], torchrun=True, resources={"nodes": 4})
        for number in range(2)
    ]
    threads = [threading.Thread(target=alice.submit, args=(*pair, "--wait")) for pair in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    ports = set()
    for _, places in made:
        told = [json.loads(line) for line in alice.lines(places, labelled=True)]
        assert sorted(int(variables["RANK"]) for variables, *_ in told) == [0, 1, 2, 3]
        ports |= {variables["QIANKA_PORT"] for variables, *_ in told}
    assert len(ports) == 2


def test_the_port_is_the_one_that_the_platform_reckons(alice: Person) -> None:
    job, places = alice.job("j-port", argv=["python", "/work/show.py"], torchrun=True, resources={"nodes": 2})
    slurm_id = alice.submit(job, places, "--wait").split(";")[0].splitlines()[0]
    told = [json.loads(line) for line in alice.lines(places, labelled=True)]
    assert {variables["QIANKA_PORT"] for variables, *_ in told} == {str(port_of(alice.site, int(slurm_id)))}


def test_one_process_that_fails_ends_the_job_on_all_nodes(alice: Person) -> None:
    """Without --kill-on-bad-exit the others would wait in their next collective until the time limit."""
    code = "import os, sys, time\nif os.environ['SLURM_NODEID'] == '1': sys.exit(5)\ntime.sleep(1000)\n"
    job, places = alice.job("j-fails", code, resources={"nodes": 2})
    slurm_id = alice.submit(job, places, "--wait").splitlines()[0]
    told = alice.cluster.ask("scontrol", "-o", "show", "job", slurm_id)
    assert "JobState=FAILED" in told
    assert "ExitCode=5:0" in told, told


def test_memory_of_one_node_ends_the_job_as_out_of_memory(alice: Person) -> None:
    code = "import os, time\nif os.environ['SLURM_NODEID'] == '1': x = b'x' * (600 << 20)\ntime.sleep(1000)\n"
    job, places = alice.job("j-memory", code, resources={"nodes": 2})
    slurm_id = alice.submit(job, places, "--wait").splitlines()[0]
    # Slurm itself says FAILED of the job: it was not the batch script that ran out of memory.
    client = Client(str(alice.cluster.conf))
    used = wait_for(lambda: (found := client.used([slurm_id]).get(slurm_id)) is not None and found.end and found)
    assert used.state == "OUT_OF_MEMORY"


@pytest.mark.runtime
@pytest.mark.timeout(300)
def test_real_torch_meets_over_two_nodes_and_averages_gradients(
    slurm_cluster: Cluster, student_runtime: Path, tmp_path: Path
) -> None:
    # As root: the runtime of `make demo` lies in a data directory that nobody else may enter.
    root = Person(slurm_cluster, "root", Site(folder=f"{tmp_path}/{{user}}"), home=tmp_path)
    job, places = root.job(
        "j-torch",
        ALL_REDUCE,
        argv=["python", "/work/show.py"],
        environment={},
        torchrun=True,
        runtime=str(student_runtime),
        limits={"wall": 240.0},
        resources={"nodes": 2, "gpus": 2, "cpus": 2.0, "memory": 4 << 30},
    )
    slurm_id = root.submit(job, places)
    wait_for(
        lambda: slurm_cluster.ask("squeue", "-h", "-t", "all", "-j", slurm_id, "-o", "%T").strip() not in OPEN, 240
    )
    lines = [line.partition(": ")[2] for line in Path(places.stdout).read_text().splitlines()]
    told = [json.loads(line) for line in lines if line.startswith("[[")]
    assert len(told) == 4, Path(places.stderr).read_text()
    assert sorted(values[0] for values, _ in told) == [0, 1, 2, 3]
    assert {(values[1], values[2]) for values, _ in told} == {(4, 10.0)}
    assert len({round(values[3], 4) for values, _ in told}) == 1  # one gradient for all
    assert len({node for _, node in told}) == 2
