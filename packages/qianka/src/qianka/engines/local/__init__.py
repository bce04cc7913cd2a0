"""The local engine: one machine, embedded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qianka.engines.local.engine import LocalEngine as LocalEngine
from qianka.engines.local.nodes import inventory
from qianka.engines.local.serving import ServingStarter
from qianka.engines.local.starters import LauncherStarter, Starter
from qianka.jobdir.files import write_json
from qianka.sandbox import selftest
from qianka.settings import Settings


def make_engine(settings: Settings, jobs: Path, run: Path) -> LocalEngine:
    """The engine of this machine: through the launcher where one answers, directly otherwise."""
    return LocalEngine(jobs, _starter(jobs, run), lambda: inventory(settings))


def _starter(jobs: Path, run: Path) -> Starter:
    # A socket that nobody listens on is left from an earlier start. One that listens is used even if it
    # answers badly: to start runs without it would quietly contain them less.
    launcher = LauncherStarter(run / "launcher.sock")
    return launcher if launcher.listens() else ServingStarter(jobs, run)


def tell_isolation(settings: Settings, run: Path, runtime: Path) -> dict[str, Any]:
    """How well this machine contains code, tried out (about a second) and written to `run`/sandbox.json.

    The launcher has tried it already for the users that runs get. Supervisors, health and doctor read the file.
    """
    launcher = LauncherStarter(run / "launcher.sock")
    if launcher.listens():
        report = {key: value for key, value in launcher.ping().items() if key not in ("ok", "running")}
    else:
        has_runtime = (runtime / "bin" / "python").exists()
        report = selftest.probe(
            settings.sandbox_backend, settings.data_dir, runtime=str(runtime) if has_runtime else None
        )
    write_json(str(run / "sandbox.json"), report)
    return report
