"""A small burst of hand-ins while the server is killed: one submission each, each with a receipt (case C23)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[4] / "benchmarks" / "handin.py"


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_is_double_when_the_server_is_killed() -> None:
    """The benchmark itself, with fewer and smaller hand-ins, so that it cannot rot."""
    command = [sys.executable, str(BENCHMARK), "--clients", "20", "--megabytes", "1", "--within", "2", "--kill-at", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["submissions"] == figures["receipts_verified"] == 20
    assert figures["lost"] == figures["double"] == figures["errors"] == figures["bytes_missing"] == 0
    assert figures["unfinished_uploads"] == 0
    assert done.returncode == 0
