"""Starting the process of a run, and letting go of it: pipes, bounds, another uid, a control group."""

from __future__ import annotations

import os
import sys

from qianka.sandbox import bounds, small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class SpawnError(Exception):
    """The process could not be started; the message is the system's reason."""


class Start:
    """How a process is started."""

    def __init__(self, path: str, argv: list[str], environment: dict[str, str]) -> None:
        self.path = path
        self.argv = argv
        self.environment = environment
        self.cwd: str | None = None
        self.inherited: Sequence[int] = ()
        """descriptors that it keeps"""
        self.groups: list[str] = []
        """files of control groups to enter"""
        self.bounds: dict[str, int] = {}
        self.cores: list[int] = []
        self.uid: int | None = None


class Child:
    """A started process: its id and the reading ends of its output."""

    def __init__(self, pid: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self.stdout = stdout
        self.stderr = stderr
        self.watch = _open_pid(pid)
        self.cpu = 0.0
        """seconds of the process and of the children it waited for; known at its end"""
        self.peak = 0
        """memory of the largest of them, bytes; known at its end"""

    def ended(self) -> int | None:
        """The wait status, or None while it still runs."""
        pid, status, used = os.wait4(self.pid, os.WNOHANG)
        if not pid:
            return None
        self.cpu = used.ru_utime + used.ru_stime
        # In KiB, but bytes on macOS.
        self.peak = int(used.ru_maxrss) * (1 if sys.platform == "darwin" else 1024)
        return status


def start(how: Start) -> Child:
    """Start a process. Raises SpawnError when it did not come to be."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    fault_read, fault_write = os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        _become(how, nothing, out_write, err_write, fault_write)
    for descriptor in (out_write, err_write, fault_write, nothing):
        os.close(descriptor)
    # Closed by the exec itself, so this reads nothing when all went well.
    fault = os.read(fault_read, 1000).decode("utf-8", "replace")
    os.close(fault_read)
    if fault:
        os.waitpid(pid, 0)
        os.close(out_read)
        os.close(err_read)
        raise SpawnError(fault)
    os.set_blocking(out_read, False)
    os.set_blocking(err_read, False)
    return Child(pid, out_read, err_read)


def _become(how: Start, nothing: int, out: int, err: int, fault: int) -> None:
    """In the child: never returns, whatever happens."""
    try:
        os.setsid()
        for file in how.groups:
            small.write(file, 0)
        if how.cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, how.cores)
        bounds.apply(how.bounds)
        os.dup2(nothing, 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        for descriptor in how.inherited:
            os.set_inheritable(descriptor, True)
        if how.uid is not None:
            os.setgroups([])
            os.setresgid(how.uid, how.uid, how.uid)
            os.setresuid(how.uid, how.uid, how.uid)
        if how.cwd is not None:
            os.chdir(how.cwd)
        _default_signals()
        os.execve(how.path, how.argv, how.environment)  # noqa: S606 (no shell is the point)
    except (OSError, ValueError) as error:
        os.write(fault, str(error).encode("utf-8", "replace")[:900] or b"?")
    finally:
        os._exit(127)


def _default_signals() -> None:
    from qianka.supervisor.signals import _signal

    # Ignored signals stay ignored across an exec; Python ignores these two, and we some more.
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM):
        _signal.signal(number, _signal.SIG_DFL)
    _signal.set_wakeup_fd(-1)


def _open_pid(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where the system has none (macOS)."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
