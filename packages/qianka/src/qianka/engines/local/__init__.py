"""The local engine: one machine, embedded."""

from __future__ import annotations

from pathlib import Path

from qianka.engines.local.engine import LocalEngine as LocalEngine
from qianka.engines.local.nodes import inventory
from qianka.engines.local.serving import ServingStarter
from qianka.engines.local.starters import LauncherStarter, Starter
from qianka.settings import Settings


def make_engine(settings: Settings, jobs: Path, run: Path) -> LocalEngine:
    """The engine of this machine: through the launcher where one answers, directly otherwise."""
    return LocalEngine(jobs, _starter(jobs, run), lambda: inventory(settings))


def _starter(jobs: Path, run: Path) -> Starter:
    # A socket that nobody listens on is left from an earlier start. One that listens is used even if it
    # answers badly: to start runs without it would quietly contain them less.
    launcher = LauncherStarter(run / "launcher.sock")
    return launcher if launcher.listens() else ServingStarter(jobs, run)
