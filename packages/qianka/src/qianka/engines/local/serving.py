"""Starts supervisors by a process that has them loaded and forks: a tenth of an interpreter's start."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import threading
from pathlib import Path

from qianka import jobdir
from qianka.engines.local.starters import DirectStarter

_PATIENCE = 20.0


class ServingStarter(DirectStarter):
    """Like DirectStarter, and falls back to it whenever the forking process does not answer."""

    def __init__(self, jobs: Path, run: Path) -> None:
        super().__init__(jobs, run)
        self._lock = threading.Lock()
        self._server: tuple[int, int, int] | None = None
        """process id, descriptor to write to, descriptor to read from"""

    def start(self, job: str, run: int) -> int:
        request = {"directory": jobdir.job_dir(self.jobs, job), "run": run}
        answer: dict[str, object] = {}
        with self._lock:
            try:
                answer = self._ask(json.dumps(request).encode() + b"\n")
            except (OSError, ValueError):
                self._end()
        if answer.get("ok"):
            return int(str(answer["pid"]))
        # Started twice is no harm: the run's folder lets one of them in.
        return super().start(job, run)

    def close(self) -> None:
        """End the forking process; what it started goes on."""
        with self._lock:
            self._end()

    def _ask(self, line: bytes) -> dict[str, object]:
        if self._server is None:
            self._server = self._begin()
        _, writer, reader = self._server
        while line:
            line = line[os.write(writer, line) :]
        answer = b""
        while not answer.endswith(b"\n"):
            if not select.select([reader], [], [], _PATIENCE)[0]:
                raise TimeoutError("the forking process is silent")
            part = os.read(reader, 4096)
            if not part:
                raise BrokenPipeError("the forking process has ended")
            answer += part
        found = json.loads(answer)
        if not isinstance(found, dict):
            raise ValueError("not an answer")
        return found

    def _begin(self) -> tuple[int, int, int]:
        theirs_in, writer = os.pipe()
        reader, theirs_out = os.pipe()
        try:
            pid = self._spawn(["--serve"], theirs_in, theirs_out)
        except OSError:
            os.close(writer)
            os.close(reader)
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        return pid, writer, reader

    def _end(self) -> None:
        if self._server is None:
            return
        pid, writer, reader = self._server
        self._server = None
        os.close(writer)
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
