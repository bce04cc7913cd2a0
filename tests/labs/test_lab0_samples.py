"""Every sample of lab 0 (tests alone, no training), graded by a real platform in real pairs of sandboxes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LAB = Path(__file__).resolve().parents[2] / "course" / "labs" / "lab0-python"


@pytest.mark.runtime
@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.xdist_group("lab0-samples")
def test_every_sample_gets_the_verdict_and_points_it_states(student_runtime: Path) -> None:
    command = [sys.executable, "-m", "qianka.cli", "lab", "check", str(LAB), "--json"]
    environment = {**os.environ, "QIANKA_RUNTIME_DIR": str(student_runtime)}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ended.stdout, ended.stderr[-2000:]
    (lab,) = json.loads(ended.stdout)["labs"]
    assert (ended.returncode, lab.get("problem")) == (0, None), ended.stderr[-2000:]
    assert [sample["sample"] for sample in lab["samples"] if sample["differences"]] == []
    assert {sample["sample"] for sample in lab["samples"]} == {path.name for path in (LAB / "samples").iterdir()}
