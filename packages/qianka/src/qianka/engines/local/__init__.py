"""The local engine: one machine, embedded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from qianka.engines.local.engine import LocalEngine as LocalEngine
from qianka.engines.local.nodes import inventory
from qianka.engines.local.serving import ServingStarter
from qianka.engines.local.starters import LauncherStarter, Starter
from qianka.errors import SandboxRefused, Text
from qianka.jobdir.beat import alive, read_beat
from qianka.jobdir.files import write_json
from qianka.sandbox import selftest
from qianka.settings import Settings


def make_engine(settings: Settings, jobs: Path, run: Path) -> LocalEngine:
    """The engine of this machine: through the launcher where one answers, directly otherwise.

    Raises SandboxRefused for root without a launcher, unless the sandbox is switched off.
    """
    return LocalEngine(jobs, _starter(settings, jobs, run), lambda: inventory(settings))


def _starter(settings: Settings, jobs: Path, run: Path) -> Starter:
    # A socket that nobody listens on is left from an earlier start. One that listens is used even if it
    # answers badly: to start runs without it would quietly contain them less.
    launcher = LauncherStarter(run / "launcher.sock")
    if launcher.listens():
        return launcher
    _refuse_root(settings)
    return ServingStarter(jobs, run)


def _refuse_root(settings: Settings) -> None:
    """Raises SandboxRefused: as root, runs get users of their own, who only the launcher lets into the data."""
    if os.geteuid() != 0 or settings.sandbox_backend in ("none", "docker"):
        return  # Docker's daemon gives runs a user of their own, whoever asks
    raise SandboxRefused(
        Text("以 root 运行需要启动器", "as root, runs are started by the launcher, and there is none"),
        Text(
            "用 qianka up 启动（它会带起启动器），或换成普通用户运行",
            "start it by qianka up, which brings the launcher, or run it as an ordinary user",
        ),
    )


def _reap(report: dict[str, Any], jobs: Path) -> None:
    """Containers that a killed supervisor left are removed."""
    if report.get("engine") and jobs.is_dir():
        from qianka.sandbox.container import engine, reap

        found = engine.known(report, str(report["backend"]))
        reap.reap(found, str(jobs), lambda directory, number: alive(read_beat(directory, number)))


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
            settings.sandbox_backend,
            settings.data_dir,
            runtime=str(runtime) if has_runtime else None,
            image=settings.sandbox_image or None,
            sock=settings.sandbox_docker_socket,
        )
        _reap(report, run.parent / "jobs")
    write_json(str(run / "sandbox.json"), report)
    return report
