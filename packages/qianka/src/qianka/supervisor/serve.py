"""A supervisor that is loaded once and forks for each run: `__main__.py --serve`, for many short jobs.

One JSON object a line on standard input, {"directory": JOBDIR, "run": N}; one a line in answer,
{"ok": true, "pid": PID} or {"ok": false, "error": TEXT}. Each fork is a supervisor of its own, in a
session of its own; it lives on when this process or the one that started it ends. This one ends
when its input is closed.
"""

from __future__ import annotations

import os
import select

from qianka.jobdir.codec import FormatError, dumps, loads
from qianka.jobdir.files import write_all
from qianka.supervisor.main import main
from qianka.supervisor.signals import _signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST = 1 << 16


def serve() -> int:
    """Answer requests until the input ends."""
    load()
    ended, notice = os.pipe()
    os.set_blocking(notice, False)
    os.set_blocking(ended, False)
    _signal.set_wakeup_fd(notice, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    poller = select.poll()
    poller.register(0, select.POLLIN)
    poller.register(ended, select.POLLIN)
    waiting = b""
    while True:
        for descriptor, _ in poller.poll():
            if descriptor == ended:
                os.read(ended, 4096)
                _reap()
                continue
            data = os.read(0, _LONGEST)
            if not data or len(waiting) > _LONGEST:
                return 0
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                write_all(1, (dumps(_answer(line)) + "\n").encode())


def _answer(line: bytes) -> dict[str, Any]:
    try:
        request = loads(line.decode())
        directory, run = request["directory"], int(request["run"])
    except (FormatError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        return {"ok": False, "error": f"not a request: {error}"}
    if not isinstance(directory, str):
        return {"ok": False, "error": "directory must be a path"}
    try:
        pid = os.fork()
    except OSError as error:
        return {"ok": False, "error": str(error)}
    if pid == 0:
        _supervise(directory, run)
    return {"ok": True, "pid": pid}


def _supervise(directory: str, run: int) -> None:
    """In the fork: never returns."""
    status = 1
    try:
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        status = main([directory, str(run)])
    finally:
        os._exit(status)


def _reap() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def load() -> None:
    """Import now what a run imports when it needs it."""
    import resource

    from qianka.sandbox import cgroup_v1, cgroup_v2
    from qianka.supervisor import contained, plain

    _ = (resource, cgroup_v1, cgroup_v2, contained, plain)
