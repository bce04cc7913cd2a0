"""Two places where attacks are tried: behind root's launcher (full), and as an ordinary user (degraded)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from qianka.sandbox import selftest
from qianka.testing.supervised import ORDINARY, Direct, Ended, Launched, job

SCRIPTS = Path(__file__).parent / "scripts"
SECRET = "the-hidden-answers"
UIDS = range(62_500, 62_550)
"""of these runs alone: other platforms may run on this machine"""


@dataclass
class Arena:
    """Where scripts are run, and the host that they attack."""

    level: str
    runner: Launched | Direct
    tree: Path
    hidden: Path
    port: int
    abstract: str
    bystander: subprocess.Popen[bytes]
    secret: str = SECRET
    uids: range = UIDS
    count: int = 0

    def attack(self, script: str, *words: str, **changes: Any) -> Ended:
        """Run one script as a hand-in's code."""
        self.count += 1
        spec = job(
            f"j-{script.split('_')[0]}-{self.count}",
            ["/usr/bin/python3", f"/work/{script}", *words],
            work=str(self.tree),
            **changes,
        )
        return self.runner.run(spec)


@pytest.fixture(scope="session", params=[pytest.param("full", marks=pytest.mark.root), "degraded"])
def arena(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    if sys.platform != "linux" or not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("needs Linux with /usr/bin/python3")
    root = os.geteuid() == 0
    if request.param == "full" and not root:
        pytest.skip("needs root: own uids and control groups")
    level = selftest.probe("bubblewrap", tmp_path_factory.getbasetemp())["level"]
    if level == "refuse" or (request.param == "full" and level != "full"):
        pytest.skip(f"this machine contains code only at level {level!r}")
    runner = (
        Launched("--uid-base", str(UIDS.start), "--uid-count", str(len(UIDS)))
        if request.param == "full"
        else Direct(ORDINARY if root else None)
    )
    with runner, _host_services() as (port, abstract):
        tree = runner.data / "trees/attacks" if request.param == "full" else runner.base / "attacks"
        shutil.copytree(SCRIPTS, tree)
        hidden = runner.base / "hidden/labels.csv"
        hidden.parent.mkdir()
        hidden.write_text(SECRET)
        if isinstance(runner, Launched):
            runner.own()
        bystander = subprocess.Popen(["/bin/sleep", "600"], user=ORDINARY if root else None)
        yield Arena(request.param, runner, tree, hidden, port, abstract, bystander)
        bystander.kill()
        bystander.wait()


class _host_services:
    """A service on the host's loopback and one on an abstract socket, which nothing inside may reach."""

    def __enter__(self) -> tuple[int, str]:
        self._name = f"qianka-attacks-{os.getpid()}"
        self._loopback = socket.create_server(("127.0.0.1", 0))
        self._abstract = socket.socket(socket.AF_UNIX)
        self._abstract.bind(f"\0{self._name}")
        self._abstract.listen(9)
        for server in (self._loopback, self._abstract):
            threading.Thread(target=_greet, args=(server,), daemon=True).start()
        return self._loopback.getsockname()[1], self._name

    def __exit__(self, *_: object) -> None:
        for server in (self._loopback, self._abstract):
            server.shutdown(socket.SHUT_RDWR)
            server.close()


def _greet(server: socket.socket) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        with client:
            client.sendall(b"HOST-SERVICE")
