"""Who starts a supervisor: this process, or the launcher that runs as root."""

from __future__ import annotations

import compileall
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any, Protocol

import qianka
from qianka import jobdir
from qianka.errors import Text, Unavailable
from qianka.jobdir.out import remove

_PACKAGE = Path(qianka.__file__).resolve().parent
_PROGRAM = _PACKAGE / "supervisor" / "__main__.py"
_IMPORTED = ("jobdir", "sandbox", "supervisor")
_LOG_CAP = 1 << 20
_ANSWER_CAP = 1 << 16
_PATIENCE = 20.0  # seconds for an answer of the launcher; it mounts before it answers


class Starter(Protocol):
    """Starts, stops and cleans up; every method may raise Unavailable."""

    def start(self, job: str, run: int) -> int:
        """Start the supervisor of a run; its process id."""
        ...

    def stop(self, job: str, run: int) -> None:
        """Ask a supervisor to end its run now; one that is gone already is fine."""
        ...

    def clean(self, job: str) -> None:
        """Remove a job's directory."""
        ...

    def close(self) -> None:
        """Give back what starting needed; what was started goes on."""
        ...


class DirectStarter:
    """Starts supervisors as children of this process, under its own user."""

    def __init__(self, jobs: Path, run: Path) -> None:
        self.jobs = jobs
        # Never a shim, and without `site`: that is two thirds of an interpreter's start.
        self._command = [os.path.realpath(sys.executable), "-I", "-S", *_compiled(run), str(_PROGRAM)]
        self._log = str(run / "supervisor.log")
        if os.path.exists(self._log) and os.path.getsize(self._log) > _LOG_CAP:
            os.truncate(self._log, 0)

    def start(self, job: str, run: int) -> int:
        try:
            return self._spawn([jobdir.job_dir(self.jobs, job), str(run)], None, None)
        except OSError as error:
            raise Unavailable(
                Text(f"启动不了监督进程：{error}", f"the supervisor cannot be started: {error}"),
                Text("检查内存和进程数上限", "look at memory and the limit of processes"),
            ) from error

    def close(self) -> None:
        """Give back what starting needed."""

    def _spawn(self, words: list[str], stdin: int | None, stdout: int | None) -> int:
        command = [*self._command, *words]
        return os.posix_spawn(
            command[0],
            command,
            {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"},
            file_actions=[
                _opened(0, stdin, os.devnull, os.O_RDONLY),
                _opened(1, stdout, os.devnull, os.O_WRONLY),
                _opened(2, None, self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
            ],
            setsigmask=[],
            setsigdef=[signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE],
        )

    def stop(self, job: str, run: int) -> None:
        beat = jobdir.read_beat(jobdir.job_dir(self.jobs, job), run)
        if beat is None or not jobdir.alive(beat):
            return
        try:
            os.kill(beat["pid"], signal.SIGTERM)
        except ProcessLookupError:
            return
        except PermissionError as error:
            raise Unavailable(
                Text("监督进程属于别的用户", "the supervisor belongs to another user"),
                Text("用启动平台的同一用户运行", "run the platform under the user that started it before"),
            ) from error

    def clean(self, job: str) -> None:
        parent = os.open(self.jobs, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            remove(parent, jobdir.safe_id(job))
        finally:
            os.close(parent)


class LauncherStarter:
    """Asks the launcher: one line of JSON there, one back."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def start(self, job: str, run: int) -> int:
        return int(self.ask({"do": "start", "job": job, "run": run}).get("pid") or 0)

    def stop(self, job: str, run: int) -> None:
        self.ask({"do": "kill", "job": job, "run": run})

    def clean(self, job: str) -> None:
        self.ask({"do": "clean", "job": job})

    def listens(self) -> bool:
        """Whether there is a launcher behind the socket."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            try:
                connection.settimeout(_PATIENCE)
                connection.connect(str(self.path))
            except (FileNotFoundError, ConnectionRefusedError):
                return False
            except OSError:
                return self.path.exists()
        return True

    def close(self) -> None:
        """Nothing to give back: a connection a request."""

    def ping(self) -> dict[str, Any]:
        """Level of isolation and user of the launcher."""
        return self.ask({"do": "ping"})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request, one answer. Raises Unavailable: no launcher, or it refuses."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(_PATIENCE)
                connection.connect(str(self.path))
                connection.sendall(json.dumps(request).encode() + b"\n")
                answer = json.loads(_line(connection))
        except (OSError, ValueError) as error:
            raise _silent(str(error)) from error
        if not isinstance(answer, dict) or not answer.get("ok"):
            raise _silent(str(answer.get("error") if isinstance(answer, dict) else answer))
        return answer


def _opened(descriptor: int, source: int | None, path: str, flags: int) -> tuple[Any, ...]:
    if source is not None:
        return (os.POSIX_SPAWN_DUP2, source, descriptor)
    return (os.POSIX_SPAWN_OPEN, descriptor, path, flags, 0o600)


def _line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        part = connection.recv(4096)
        if not part or len(data) > _ANSWER_CAP:
            raise ValueError("the launcher hung up")
        data += part
    return data


def _silent(why: str) -> Unavailable:
    return Unavailable(
        Text(f"启动器没有应答：{why}", f"the launcher does not answer: {why}"),
        Text("重新运行 qianka up", "start qianka up again"),
    )


def _compiled(run: Path) -> list[str]:
    """Options so that no supervisor has to compile what it imports: that costs more than all else it does."""
    beside = os.access(_PACKAGE, os.W_OK)
    prefix = None if beside else str(run / "pycache")
    before = sys.pycache_prefix
    sys.pycache_prefix = prefix or before
    try:
        for name in _IMPORTED:
            compileall.compile_dir(_PACKAGE / name, quiet=2)
    finally:
        sys.pycache_prefix = before
    return [] if prefix is None else ["-X", f"pycache_prefix={prefix}"]
