"""Running jobs through the real supervisor, alone or behind the real launcher, without an engine.

For tests and benchmarks. `Direct` starts supervisors as this user or, when root runs the tests, as an
ordinary one; `Launched` starts a launcher as root and asks it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import qianka
from qianka import jobdir
from qianka.sandbox.interpreter import open_to_all

T = TypeVar("T")
ORDINARY = 60_999
"""uid of an ordinary user that need not have an account"""
MIB = 1 << 20


def job(job_id: str, argv: list[str], **changes: Any) -> dict[str, Any]:
    """A job file with small limits; `changes` replace whole fields, `limits` and `resources` single ones."""
    limits = {"wall": 15, "cpu": None, "processes": 64, "disk": 64 * MIB, "inodes": 2000, "tmp": 64 * MIB}
    limits |= {"shm": 64 * MIB, **changes.pop("limits", {})}
    resources = {"cpus": 1.0, "memory": 512 * MIB, "gpus": 0, **changes.pop("resources", {})}
    isolation = {"backend": "bubblewrap", "minimum": "degraded", **changes.pop("isolation", {})}
    return {
        "format": 1,
        "job": job_id,
        "kind": "run",
        "name": job_id,
        "argv": argv,
        "resources": resources,
        "limits": limits,
        "isolation": isolation,
        **changes,
    }


@dataclass(frozen=True)
class Ended:
    """A run that is over."""

    directory: Path
    result: dict[str, Any]
    stdout: str
    stderr: str

    @property
    def out(self) -> Path:
        return self.directory / "out"

    @property
    def reason(self) -> str | None:
        return None if self.result["reason"] is None else str(self.result["reason"]["code"])


class Direct:
    """Supervisors started by command line, as `uid` (None: as ourselves)."""

    def __init__(self, uid: int | None = None) -> None:
        self.uid = uid
        self.base = Path(tempfile.mkdtemp(prefix="qianka-runs-", dir="/var/tmp" if uid is not None else None))  # noqa: S108
        self.data = self.base / "data"
        (self.data / "jobs").mkdir(parents=True)
        self.sources = reachable_sources(self.base) if uid is not None else Path(qianka.__file__).parent
        self.python = sys.executable
        if uid is not None:
            self.base.chmod(0o755)
            self.python = sys.executable if open_to_all(os.path.realpath(sys.executable)) else "/usr/bin/python3"
            for folder in (self.data, self.data / "jobs"):
                os.chown(folder, uid, uid)

    def prepare(self, spec: dict[str, Any], run: int = 1, **fence: Any) -> Path:
        """Write job and fence."""
        directory = Path(jobdir.make(self.data / "jobs", spec))
        jobdir.set_fence(directory, {"run": run, "node": "here", "cores": [], "cards": [], **fence})
        if self.uid is not None:
            for path in [directory, *directory.rglob("*")]:
                os.chown(path, self.uid, self.uid, follow_symlinks=False)
        return directory

    def start(self, directory: Path, run: int = 1) -> subprocess.Popen[bytes]:
        """Start a supervisor and leave it to itself."""
        return subprocess.Popen(
            [self.python, "-I", "-S", str(self.sources / "supervisor/__main__.py"), str(directory), str(run)],
            stdin=subprocess.DEVNULL,
            user=self.uid,
            group=self.uid,
            extra_groups=None if self.uid is None else [],
            cwd="/",
        )

    def run(self, spec: dict[str, Any], run: int = 1, **fence: Any) -> Ended:
        """One run to its end."""
        directory = self.prepare(spec, run, **fence)
        with self.start(directory, run) as supervisor:
            code = supervisor.wait(120)
        assert code == 0, f"the supervisor ended with {code}"  # noqa: S101
        return ended(directory, run)

    def close(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)

    def __enter__(self) -> Direct:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Launched:
    """A launcher started as root for a data directory of the ordinary user `ORDINARY`."""

    def __init__(self, *words: str) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="qianka-launched-", dir="/var/tmp"))
        self.data = self.base / "data"
        for name in ("jobs", "run", "trees", "labs", "cache"):
            (self.data / name).mkdir(parents=True)
        self.base.chmod(0o755)
        self.own()
        self.data.chmod(0o700)
        script = Path(qianka.__file__).parent / "launcher/__main__.py"
        command = [sys.executable, "-I", "-S", str(script), str(self.data), "--service-uid", str(ORDINARY), *words]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/")
        self._wait_until_ready()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(self.data / "run/launcher.sock"))
        self._lines = self._socket.makefile("rw", encoding="utf-8")

    def own(self) -> None:
        """Give everything in the data directory to the service user."""
        for path in [self.data, *self.data.rglob("*")]:
            os.chown(path, ORDINARY, ORDINARY, follow_symlinks=False)

    def ask(self, **request: Any) -> dict[str, Any]:
        """One request, one answer."""
        self._lines.write(json.dumps(request) + "\n")
        self._lines.flush()
        answer: dict[str, Any] = json.loads(self._lines.readline())
        return answer

    def prepare(self, spec: dict[str, Any], run: int = 1, **fence: Any) -> Path:
        """Write job and fence as the service would."""

        def write() -> Path:
            directory = Path(jobdir.make(self.data / "jobs", spec))
            jobdir.set_fence(directory, {"run": run, "node": "here", "cores": [], "cards": [], **fence})
            return directory

        return as_user(ORDINARY, write)

    def run(self, spec: dict[str, Any], run: int = 1, **fence: Any) -> Ended:
        """One run to its end."""
        directory = self.prepare(spec, run, **fence)
        answer = self.ask(do="start", job=spec["job"], run=run)
        assert answer["ok"], answer  # noqa: S101
        wait_gone(answer["pid"])
        return ended(directory, run)

    def close(self) -> None:
        self._lines.close()
        self._socket.close()
        self.process.terminate()
        self.process.wait(10)
        if self.process.stderr is not None:
            self.process.stderr.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def _wait_until_ready(self) -> None:
        assert self.process.stderr is not None  # noqa: S101
        for line in self.process.stderr:
            if b"ready" in line:
                return
            if b"launcher:" in line:
                raise RuntimeError(line.decode())
        raise RuntimeError(f"the launcher ended with {self.process.wait()}")

    def __enter__(self) -> Launched:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def ended(directory: Path, run: int) -> Ended:
    """What a run that is over has left."""
    result = jobdir.read_result(directory, run)
    assert result is not None, f"run {run} in {directory} left no result"  # noqa: S101
    texts = [_all_of(directory, run, stream) for stream in ("stdout", "stderr")]
    return Ended(directory, result, *texts)


def wait_gone(pid: int, patience: float = 120) -> None:
    """Wait for a process that need not be a child of ours."""
    import select

    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if not select.select([descriptor], [], [], patience)[0]:
            raise TimeoutError(f"process {pid} did not end in {patience} s")
    finally:
        os.close(descriptor)


def wait_for(true: Callable[[], T], patience: float = 20) -> T:
    """Wait until `true()` is true; returns what it returned. Raises TimeoutError."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if value := true():
            return value
        time.sleep(0.01)
    raise TimeoutError("it did not come to be")


def as_user(uid: int, act: Callable[[], T]) -> T:
    """Do something with the effective rights of another user (root only)."""
    os.setegid(uid)
    os.seteuid(uid)
    try:
        return act()
    finally:
        os.seteuid(0)
        os.setegid(0)


def _all_of(directory: Path, run: int, stream: str) -> str:
    text, offset = "", 0
    while True:
        more, following = jobdir.read_log(directory, run, stream, offset)
        if following == offset:
            return text
        text, offset = text + more, following


def reachable_sources(base: Path) -> Path:
    """The package where another user can read it: in place, or a copy of what a supervisor needs."""
    own = Path(qianka.__file__).parent
    if open_to_all(str(own / "jobdir/codec.py")):
        return own
    copy = base / "code/qianka"
    copy.mkdir(parents=True)
    shutil.copy(own / "__init__.py", copy)
    for name in ("jobdir", "sandbox", "supervisor"):
        shutil.copytree(own / name, copy / name)
    return copy
