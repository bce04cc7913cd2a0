"""`lab new`, `lab check`, `check`: the grader's own code on a platform that lives for a minute."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from qianka.cli import output
from qianka.cli.main import main

pytestmark = [pytest.mark.runtime, pytest.mark.slow]


@pytest.fixture
def run(
    student_runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    monkeypatch.setenv("QIANKA_RUNTIME_DIR", str(student_runtime))
    monkeypatch.setenv("QIANKA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(output.mode, "language", "en")
    monkeypatch.chdir(tmp_path)

    def command(*words: str, status: int = 0) -> Any:
        assert main([*words, "--json"]) == status
        return json.loads(capsys.readouterr().out)

    return command


def test_a_new_lab_passes_its_check_and_a_wrong_expectation_does_not(run: Callable[..., Any]) -> None:
    run("lab", "new", "lab2")
    # Its own files of this repository: none is asked for, so that it runs on any machine.
    told = run("lab", "check", "lab2", "--isolation", "none")
    assert told["ok"] is True
    assert {s["sample"]: s["verdict"] for s in told["labs"][0]["samples"]} == {
        "solution": "accepted",
        "not-implemented": "crashed",
    }
    expect = Path("lab2/samples/not-implemented/expect.toml")
    expect.write_text('verdict = "accepted"\npoints = [50, 100]\n', "utf-8")
    told = run("lab", "check", "lab2", "--isolation", "none", "--sample", "not-implemented", status=1)
    assert told["labs"][0]["samples"][0]["differences"]


def test_a_mistake_in_lab_toml_is_named(run: Callable[..., Any]) -> None:
    run("lab", "new", "lab3")
    file = Path("lab3/lab.toml")
    file.write_text(file.read_text("utf-8").replace('metric = "accuracy"', 'metric = "acuracy"'), "utf-8")
    told = run("lab", "check", "lab3", "--isolation", "none", status=1)
    assert "lab.toml:" in told["labs"][0]["problem"]


def test_a_student_checks_before_handing_in(run: Callable[..., Any]) -> None:
    run("lab", "new", "lab4")
    told = run("check", "lab4/solution", "--isolation", "none")
    assert told["attempt"]["verdict"] == "accepted"
    Path("lab4/solution/README.md").unlink()
    told = run("check", "lab4/solution", "--isolation", "none", status=7)
    assert "README.md" in told["refusal"]["message"]
