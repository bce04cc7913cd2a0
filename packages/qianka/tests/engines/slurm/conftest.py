"""Batch scripts run for real, by bash, with stand-ins for srun, scontrol, torchrun and container engines."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from qianka.engines.slurm.script import Places, render
from qianka.engines.slurm.site import Site

STANDIN = Path(__file__).with_name("standin")
# One write a line: several processes share the output.
SHOW = "import json, os, sys\nsys.stdout.write(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]) + '\\n')\n"

Job = dict[str, Any]


@dataclass(frozen=True)
class Ran:
    """How a script ended and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """A run's folders, with a script `show.py` in its code."""
    for name in ("out", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "work/show.py").write_text(SHOW)
    return Places(
        stdout=str(tmp_path / "stdout.log"),
        stderr=str(tmp_path / "stderr.log"),
        out=str(tmp_path / "out"),
        work=str(tmp_path / "work"),
    )


@pytest.fixture
def job() -> Callable[..., Job]:
    """A job.json; words replace its keys, `resources` and `limits` in part."""

    def make(**changes: Any) -> Job:
        resources = {"cpus": 4.0, "memory": 1 << 30, "gpus": 0, "nodes": 1, **changes.pop("resources", {})}
        limits = {"wall": 600.0, **changes.pop("limits", {})}
        return {
            "job": "j-1",
            "name": "show.py",
            "argv": ["python", "/work/show.py"],
            "environment": {},
            "label": "normal",
            "resources": resources,
            "limits": limits,
            **changes,
        }

    return make


@pytest.fixture
def run(places: Places, tmp_path: Path) -> Callable[..., Ran]:
    """Render a job's script and run it as slurmd would: with a bare environment, not from a terminal."""

    def start(job: Job, site: Site | None = None, *, number: int = 1, places: Places = places, **more: str) -> Ran:
        text = render(job, number, site or Site(), places)
        file = tmp_path / "job.sh"
        file.write_text(text, "utf-8", newline="\n")
        python = Path(sys.executable).parent
        environment = {
            "PATH": f"{STANDIN / 'bin'}:{python}:/usr/bin:/bin",
            "PYTHONPATH": str(STANDIN),
            "SLURM_JOB_ID": "41",
            "SLURM_JOB_NODELIST": "node[1-2]",
            "SLURMD_NODENAME": "node1",
            "SLURM_NODEID": "0",
            "SLURM_PROCID": "0",
            "HOME": str(tmp_path),
            **more,
        }
        done = subprocess.run(["bash", str(file)], env=environment, capture_output=True, text=True, timeout=60)
        return Ran(done.returncode, done.stdout, done.stderr)

    return start
