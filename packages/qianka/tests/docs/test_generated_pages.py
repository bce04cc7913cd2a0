"""Pages that follow from the code are current: python tools/reference_pages.py writes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]


def test_generated_pages_are_current() -> None:
    command = [sys.executable, str(ROOT / "tools" / "reference_pages.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)
