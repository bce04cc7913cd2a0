"""The supervisor that is loaded once and forks for each run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import qianka
from qianka import jobdir
from qianka.testing.supervised import Direct, job, wait_for, wait_gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
SCRIPT = Path(qianka.__file__).parent / "supervisor/__main__.py"


@pytest.fixture
def server() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-I", "-S", str(SCRIPT), "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.fixture
def runner() -> Iterator[Direct]:
    with Direct() as direct:
        yield direct


def ask(server: subprocess.Popen[str], line: str) -> dict[str, Any]:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(line + "\n")
    server.stdin.flush()
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer


def plain(name: str, *argv: str) -> dict[str, Any]:
    return job(name, list(argv), isolation={"backend": "none", "minimum": "none"})


def test_many_runs_of_one_server(server: subprocess.Popen[str], runner: Direct) -> None:
    directories = [runner.prepare(plain(f"j-{number}", "/bin/true")) for number in range(20)]
    pids = [ask(server, json.dumps({"directory": str(path), "run": 1}))["pid"] for path in directories]
    for pid in pids:
        wait_gone(pid)
    results = [jobdir.read_result(path, 1) for path in directories]
    assert [result["state"] for result in results if result] == ["COMPLETED"] * 20
    assert len(set(pids)) == 20


def test_a_run_outlives_the_server(server: subprocess.Popen[str], runner: Direct) -> None:
    directory = runner.prepare(plain("j-1", "/bin/sleep", "1"))
    answer = ask(server, json.dumps({"directory": str(directory), "run": 1}))
    wait_for(lambda: jobdir.read_beat(directory, 1))
    server.kill()
    server.wait()
    wait_gone(answer["pid"])
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert result["state"] == "COMPLETED"


@pytest.mark.parametrize(
    "line", ["", "no json", "[]", '{"run": 1}', '{"directory": 5, "run": 1}', '{"directory": "/x"}']
)
def test_what_is_no_request_is_answered_and_forgotten(server: subprocess.Popen[str], line: str) -> None:
    assert ask(server, line)["ok"] is False
    assert server.poll() is None


def test_it_ends_when_its_input_is_closed(server: subprocess.Popen[str]) -> None:
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(10) == 0
