"""Where attacks are tried: behind root's launcher (full), as an ordinary user (degraded), and in containers.

Podman runs behind the launcher, as it would serve; Docker's daemon is started here, in a data root of its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from qianka.jobdir.files import write_json
from qianka.sandbox import selftest
from qianka.testing.supervised import ORDINARY, Direct, Ended, Launched, job, wait_for

SCRIPTS = Path(__file__).parent / "scripts"
SECRET = "the-hidden-answers"
UIDS = range(62_500, 62_550)
"""of these runs alone: other platforms may run on this machine"""


@dataclass
class Arena:
    """Where scripts are run, and the host that they attack."""

    level: str
    backend: str
    runner: Launched | Direct
    tree: Path
    hidden: Path
    port: int
    abstract: str
    bystander: subprocess.Popen[bytes]
    secret: str = SECRET
    uids: range = UIDS
    docker: str = ""
    count: int = 0

    def attack(self, script: str, *words: str, **changes: Any) -> Ended:
        """Run one script as a hand-in's code."""
        self.count += 1
        isolation = {"backend": self.backend, "minimum": self.level}
        if self.docker:
            isolation["socket"] = self.docker
        spec = job(
            f"j-{script.split('_')[0]}-{self.count}",
            ["/usr/bin/python3", f"/work/{script}", *words],
            work=str(self.tree),
            isolation=isolation,
            **changes,
        )
        return self.runner.run(spec)


ROOT = pytest.mark.root
PLACES = [pytest.param("full", marks=ROOT), "degraded", pytest.param("podman", marks=ROOT)]
if shutil.which("dockerd"):
    # Elsewhere there is no such case, rather than one that is passed over.
    PLACES.append(pytest.param("docker", marks=[ROOT, pytest.mark.slow]))


@pytest.fixture(scope="session", params=PLACES)
def arena(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    if sys.platform != "linux" or not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("needs Linux with /usr/bin/python3")
    root = os.geteuid() == 0
    if request.param != "degraded" and not root:
        pytest.skip("needs root: own uids and control groups")
    with contextlib.ExitStack() as stack:
        backend = request.param if request.param in ("podman", "docker") else "bubblewrap"
        docker = stack.enter_context(_docker(tmp_path_factory)) if backend == "docker" else ""
        report = selftest.probe(backend, tmp_path_factory.getbasetemp(), sock=docker)
        level = "degraded" if request.param == "degraded" else "full"
        if report["level"] == "refuse" or (level == "full" and report["level"] != "full"):
            pytest.skip(f"this machine contains code only at level {report['level']!r}: {report['missing']}")
        runner = stack.enter_context(_runner(request.param))
        port, abstract = stack.enter_context(_host_services())
        is_launched = isinstance(runner, Launched)
        tree = runner.data / "trees/attacks" if is_launched else runner.base / "attacks"
        shutil.copytree(SCRIPTS, tree)
        hidden = runner.base / "hidden/labels.csv"
        hidden.parent.mkdir()
        hidden.write_text(SECRET)
        if isinstance(runner, Launched):
            runner.own()
        elif docker:
            (runner.data / "run").mkdir()
            write_json(str(runner.data / "run/sandbox.json"), report)
        bystander = stack.enter_context(subprocess.Popen(["/bin/sleep", "600"], user=ORDINARY if root else None))
        stack.callback(bystander.kill)
        uids = range(61_000, 62_000) if docker else UIDS
        yield Arena(level, backend, runner, tree, hidden, port, abstract, bystander, uids=uids, docker=docker)


def _runner(place: str) -> Launched | Direct:
    pool = ("--uid-base", str(UIDS.start), "--uid-count", str(len(UIDS)))
    if place == "full":
        return Launched(*pool)
    if place == "podman":
        return Launched(*pool, "--backend", "podman")
    return Direct(ORDINARY if place == "degraded" and os.geteuid() == 0 else None)


@contextlib.contextmanager
def _docker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A daemon of our own, that touches neither the machine's network rules nor its images; yields its socket."""
    base = tmp_path_factory.mktemp("docker")
    sock = f"{base}/s"
    words = ["dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=vfs"]
    words += ["--data-root", f"{base}/data", "--exec-root", f"{base}/exec", "--pidfile", f"{base}/pid"]
    with open(base / "log", "wb") as log:
        daemon = subprocess.Popen(
            [*words, "--host", f"unix://{sock}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        wait_for(lambda: daemon.poll() is not None or os.path.exists(sock), 60)
        if daemon.poll() is not None:
            pytest.fail(f"dockerd ended: {(base / 'log').read_text('utf-8', 'replace')[-1500:]}")
        yield sock
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(60)


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
