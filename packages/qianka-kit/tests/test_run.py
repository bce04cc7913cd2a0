"""The folder of a run, as student code writes it, against the contract that the platform reads by."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from qianka_kit.run import Run

CONTRACTS = Path(__file__).resolve().parents[3] / "contracts"
SCHEMA = json.loads((CONTRACTS / "metrics.schema.json").read_text("utf-8"))


class Tensor:
    """A scalar with a gradient: becomes a float only once detached."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.detached = False

    def detach(self) -> Tensor:
        copy = Tensor(self.value)
        copy.detached = True
        return copy

    def __float__(self) -> float:
        assert self.detached, "a tensor that carries a gradient was turned into a float"
        return self.value


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text("utf-8").splitlines()]


def test_each_line_obeys_the_contract(tmp_path: Path) -> None:
    with Run(tmp_path) as run:
        run.log(0, loss=2.3)
        run.log(25, loss=Tensor(0.5), **{"train/accuracy": 1})
        run.log(50, loss=float("nan"), grad_norm=float("-inf"))
    for line in lines(tmp_path):
        jsonschema.validate(line, SCHEMA)
    assert [line["step"] for line in lines(tmp_path)] == [0, 25, 50]
    assert lines(tmp_path)[1]["loss"] == 0.5
    assert lines(tmp_path)[2]["nonfinite"] == {"loss": "nan", "grad_norm": "-inf"}


def test_a_line_is_there_as_soon_as_it_is_logged(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.log(1, loss=1.0)
    assert len(lines(tmp_path)) == 1
    run.close()
    run.close()


def test_a_run_goes_on_where_an_earlier_one_stopped(tmp_path: Path) -> None:
    for step in (1, 2):
        with Run(tmp_path) as run:
            run.log(step, loss=1.0)
    assert [line["step"] for line in lines(tmp_path)] == [1, 2]


@pytest.mark.parametrize("name", ["", "step", "time", "nonfinite", "<b>", "loss rate", "損失", "a" * 65])
def test_names_outside_the_format_are_refused(tmp_path: Path, name: str) -> None:
    with Run(tmp_path) as run, pytest.raises((ValueError, TypeError)):
        run.log(1, **{name: 1.0})
    assert lines(tmp_path) == []


@pytest.mark.parametrize("step", [-1, 1.5, True, "1"])
def test_steps_outside_the_format_are_refused(tmp_path: Path, step: Any) -> None:
    with Run(tmp_path) as run, pytest.raises(ValueError, match="step"):
        run.log(step, loss=1.0)


def test_the_configuration_is_recorded_at_the_start(tmp_path: Path) -> None:
    args = argparse.Namespace(lr=1e-3, out=Path("/out"), sizes=(1, 2), limit=float("inf"), note="学习率")
    with Run(tmp_path, config=vars(args)):
        record = json.loads((tmp_path / "config.json").read_text("utf-8"))
    expected = {"lr": 1e-3, "out": "/out", "sizes": [1, 2], "limit": "inf", "note": "学习率"}
    assert record["config"] == expected
    assert record["format"] == 1


def test_the_platform_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIANKA_OUT", str(tmp_path / "given"))
    with Run() as run:
        run.log(1, loss=1.0)
    assert len(lines(tmp_path / "given")) == 1
    monkeypatch.delenv("QIANKA_OUT")
    monkeypatch.chdir(tmp_path)
    with Run():
        assert (tmp_path / "out" / "metrics.jsonl").exists()


def test_the_kit_needs_neither_torch_nor_the_platform() -> None:
    ask = "import sys, qianka_kit.run; print([m for m in ('torch', 'numpy', 'qianka') if m in sys.modules])"
    source = str(Path(__file__).resolve().parents[1] / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    asked = subprocess.run([sys.executable, "-S", "-c", ask], capture_output=True, text=True, env=environment)
    assert asked.stdout.strip() == "[]", asked.stderr


def test_ten_lines_of_plain_python_do_as_well(tmp_path: Path) -> None:
    page = (CONTRACTS.parent / "docs" / "howto" / "metrics-without-kit.md").read_text("utf-8")
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    script = tmp_path / "plain.py"
    script.write_text(code + "log(1, loss=0.5)\nlog(2, loss=float('nan'), lr=float('inf'))\n", "utf-8")
    environment = {**os.environ, "QIANKA_OUT": str(tmp_path)}
    subprocess.run([sys.executable, str(script)], check=True, env=environment)
    for line in lines(tmp_path):
        jsonschema.validate(line, SCHEMA)
    assert lines(tmp_path)[1]["nonfinite"] == {"loss": "nan", "lr": "inf"}
