"""A small class with all fifteen odd notebooks on the whole platform: every one ends as it must."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.runtime, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.timeout(400)
def test_the_batch_never_stops_and_tells_nothing_hidden(student_runtime: Path) -> None:
    words = [sys.executable, str(ROOT / "benchmarks" / "notebooks.py"), "--people", "18", "--odd", "15"]
    environment = {**os.environ, "QIANKA_RUNTIME_DIR": str(student_runtime)}
    ended = subprocess.run(words, capture_output=True, text=True, timeout=380, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    figures = json.loads(ended.stdout.splitlines()[-1])
    assert (figures["ended"] + figures["refused"], figures["wrong"], figures["hidden_lines_told"]) == (18, [], 0)
