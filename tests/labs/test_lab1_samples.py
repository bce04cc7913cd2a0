"""Every sample of lab 1, graded by a real platform in the real sandbox: the grader's own tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LAB = Path(__file__).resolve().parents[2] / "course" / "labs" / "lab1-mnist"


@pytest.mark.runtime
@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("lab1-samples")
def test_every_sample_gets_the_verdict_and_points_it_states(student_runtime: Path) -> None:
    command = [sys.executable, "-m", "qianka.cli", "lab", "check", str(LAB), "--json"]
    environment = {**os.environ, "QIANKA_RUNTIME_DIR": str(student_runtime)}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ended.stdout, ended.stderr[-2000:]
    report = json.loads(ended.stdout)
    assert (ended.returncode, differing(report)) == (0, []), ended.stderr[-2000:]
    graded = {sample["sample"] for sample in report["labs"][0]["samples"]}
    assert graded == {path.name for path in (LAB / "samples").iterdir()}


def differing(report: object) -> list[object]:
    """Whatever in a report states differences."""
    if isinstance(report, dict):
        own = [report] if report.get("differences") else []
        return own + [found for value in report.values() for found in differing(value)]
    if isinstance(report, list):
        return [found for value in report for found in differing(value)]
    return []
