"""POST /api/jobs/dry-run, and what POST /api/jobs takes for a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from qianka.server.app import create_app
from qianka.services import nodes
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.session import Store
from qianka.testing import one_node
from qianka.testing.factories import make_cohort, make_student
from starlette.testclient import TestClient

TWO_NODES: dict[str, Any] = {"argv": ["hostname"], "nodes": 2, "gpus": 8, "memory": 1 << 30, "wall": 1800.0}


@pytest.fixture
def platform(store: Store, tmp_path: Path) -> Platform:
    """Slurm, with two nodes of eight cards."""
    settings = Settings(data_dir=str(tmp_path / "data"), engine_name="slurm")
    platform = Platform(settings=settings, store=store)
    platform.folders.make()
    nodes.publish(platform, [one_node(16, 64 << 30, 8, name=name) for name in ("node1", "node2")])
    return platform


@pytest.fixture
def app(platform: Platform) -> FastAPI:
    return create_app(platform.settings, platform)


@pytest.fixture
def alice(platform: Platform, with_token: Any) -> TestClient:
    return with_token(make_student(platform, make_cohort(platform, gpu_hours=10.0), "alice"))  # type: ignore[no-any-return]


def test_it_answers_with_the_script_and_makes_no_job(alice: TestClient) -> None:
    answer = alice.post("/api/jobs/dry-run", json={**TWO_NODES, "sbatch": ["-C ib"]})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert "#SBATCH --nodes=2\n" in told["script"]
    assert "#SBATCH --constraint=ib\n" in told["script"]
    assert " hostname\n" in told["script"]
    assert (told["engine"], told["gpu_hours"], told["cpu_hours"]) == ("slurm", 8.0, 1.0)
    assert "16 cards in all" in told["sentences"][0]
    assert alice.get("/api/jobs").json()["items"] == []


def test_a_script_need_not_have_been_sent(alice: TestClient) -> None:
    told = alice.post("/api/jobs/dry-run", json={"script": "train.py", "args": ["--lr", "1"]}).json()
    assert told["job"]["argv"] == ["python", "/work/train.py", "--lr", "1"]
    assert "/work/train.py --lr 1\n" in told["script"]


def test_it_refuses_in_the_callers_language(alice: TestClient) -> None:
    over = alice.post("/api/jobs/dry-run", json={**TWO_NODES, "wall": 7200.0})
    assert (over.status_code, over.json()["code"]) == (429, "over_limit")
    wrong = alice.post(
        "/api/jobs/dry-run", json={**TWO_NODES, "sbatch": ["--uid=0"]}, headers={"Accept-Language": "zh"}
    )
    assert (wrong.status_code, wrong.json()["message"]) == (422, "--sbatch 不能带 --uid")
    assert wrong.json()["hint"] == "谁运行任务由平台决定"


def test_nobody_gets_a_script_without_signing_in(anonymous: TestClient) -> None:
    assert anonymous.post("/api/jobs/dry-run", json=TWO_NODES).status_code == 401


def test_a_job_tells_of_its_nodes(alice: TestClient) -> None:
    made = alice.post("/api/jobs", json={**TWO_NODES, "exclusive": True, "gpus": 1, "torchrun": False})
    assert made.status_code == 201, made.text
    assert (made.json()["nodes"], made.json()["exclusive"], made.json()["gpus"]) == (2, True, 1)
    assert alice.get(f"/api/jobs/{made.json()['id']}").json()["nodes"] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"container": {"kind": "chroot", "image": "x"}},
        {"container": {"kind": "docker", "image": ""}},
        {"container": {"kind": "docker", "image": "x", "options": "--privileged"}},
        {"nodes": 0},
        {"nodes": "two"},
        {"sbatch": ["--contiguous"] * 51},
        {"sbatch": ["--constraint=a\n#SBATCH --uid=0"]},
        {"sbatch": "-C ib"},
    ],
    ids=str,
)
@pytest.mark.parametrize("door", ["/api/jobs", "/api/jobs/dry-run"])
def test_what_makes_no_sense_is_refused_at_both_doors(alice: TestClient, door: str, wrong: dict[str, Any]) -> None:
    answer = alice.post(door, json={**TWO_NODES, **wrong})
    assert answer.status_code in (400, 422)
    assert answer.json()["message"]
