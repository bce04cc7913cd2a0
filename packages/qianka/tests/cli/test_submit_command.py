"""`qianka submit` and its dry run, against a server in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.cli import common, output
from qianka.cli.main import main
from qianka.client.api import Client
from qianka.client.transport import Transport
from qianka.server.app import create_app
from qianka.services import nodes, people
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.session import Store
from qianka.testing import one_node
from qianka.testing.factories import caller_of, make_cohort, make_student
from starlette.testclient import TestClient

Door = Callable[[str], None]


@pytest.fixture
def open_door(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    """Commands speak to a platform with the named engine, as alice."""
    clients: list[TestClient] = []

    def open_(engine: str) -> None:
        platform = Platform(settings=Settings(data_dir=str(tmp_path / "data"), engine_name=engine), store=store)
        platform.folders.make()
        nodes.publish(platform, [one_node(16, 64 << 30, 8, name=name) for name in ("node1", "node2")])
        alice = make_student(platform, make_cohort(platform, "ai-2026"), "alice")
        secret = people.issue_token(platform, caller_of(alice), "test").secret
        served = TestClient(create_app(platform.settings, platform), base_url="http://localhost")
        clients.append(served.__enter__())
        transport = served._transport
        monkeypatch.setattr(
            common, "client", lambda: Client(Transport("http://localhost", secret, "en", transport=transport))
        )

    monkeypatch.setattr(output.mode, "language", "en")
    (tmp_path / "code").mkdir()
    monkeypatch.chdir(tmp_path / "code")
    (tmp_path / "code/train.py").write_text("print(1)\n")
    yield open_
    for client in clients:
        client.__exit__(None, None, None)


def submit(*words: str) -> int:
    return main(["submit", *words])


def test_a_dry_run_prints_the_script_alone_on_standard_output(
    open_door: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    open_door("slurm")
    words = ["--nodes", "2", "--gpu", "8", "--cpus", "16", "--mem", "32G", "--exclusive", "--sbatch", "-C ib"]
    assert submit(*words, "--dry-run", "train.py", "--epochs", "3") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("#!/bin/bash\n")
    wanted = ("--nodes=2", "--gres=gpu:8", "--mem=32768M", "--cpus-per-task=16", "--exclusive", "--constraint=ib")
    assert all(f"#SBATCH {option}\n" in printed.out for option in wanted)
    assert "/work/train.py --epochs 3\n" in printed.out
    assert "2 machines, whole machines, each with 16 cores, 32 GiB, 8 cards; 16 cards in all" in printed.err
    assert "nothing was submitted" in printed.err


def test_a_dry_run_on_one_machine_says_what_it_would_do(open_door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    open_door("local")
    assert submit("--gpu", "2", "--torchrun", "--dry-run", "train.py") == 0
    said = capsys.readouterr().out
    assert "run in the sandbox of this machine: python -m torch.distributed.run --standalone" in said
    assert "--nproc-per-node=2 /work/train.py" in said


def test_several_nodes_on_one_machine_end_with_advice(open_door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    open_door("local")
    assert submit("--nodes", "2", "--gpu", "4", "train.py") == 7
    said = capsys.readouterr().err
    assert "a job of 2 nodes cannot run on it" in said
    assert "--gpu 8 --torchrun" in said


def test_a_job_of_two_nodes_is_submitted_with_its_code(open_door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    open_door("slurm")
    assert submit("--json", "--nodes", "2", "--gpu", "8", "--label", "idle", "train.py", "--sbatch", "mine") == 0
    job: dict[str, Any] = json.loads(capsys.readouterr().out)
    # After the script everything is the script's.
    assert job["argv"] == ["python", "/work/train.py", "--sbatch", "mine"]
    assert (job["nodes"], job["gpus"], job["label"], job["name"]) == (2, 8, "idle", "train.py")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sbatch", "--uid=0"], "--sbatch may not pass --uid"),
        (["--image", "course.tar"], "say of which kind"),
        (["--image", "docker:"], "say of which kind"),
        (["--image", "/nfs/x.sif"], "this site runs no apptainer containers"),
    ],
)
def test_a_refusal_says_what_to_do(
    open_door: Door, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    open_door("slurm")
    assert submit(*words, "--dry-run", "train.py") != 0
    assert said in capsys.readouterr().err


def test_help_says_that_cards_are_those_of_each_node(capsys: pytest.CaptureFixture[str]) -> None:
    assert submit("--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "each node" in said or "每台机器" in said
