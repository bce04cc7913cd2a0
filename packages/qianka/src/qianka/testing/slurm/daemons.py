"""Starting and stopping daemons by their pid files, without systemd."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path


class DoesNotStart(Exception):
    """A daemon did not come up; the message holds the end of its log."""


def wait_for(true: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether `true()` became true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


def started(argv: list[str], environment: dict[str, str], log: Path, user: str | None = None) -> None:
    """Run a program that becomes a daemon by itself. Raises DoesNotStart."""
    with log.open("ab") as file:
        # A session of its own: whoever ends the tests by Ctrl-C leaves the stopping to us.
        ended = subprocess.run(
            argv,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            start_new_session=True,
            timeout=60,
            check=False,
            cwd="/",
        )
    if ended.returncode != 0:
        raise DoesNotStart(f"{argv[0]}: exit {ended.returncode}\n{tail(log)}")


def pid_of(file: Path) -> int | None:
    """The living process that a pid file names; one that only waits to be reaped does not live."""
    try:
        pid = int(file.read_text())
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (OSError, ValueError):
        return None
    return None if stat[stat.rindex(")") + 2 :][:1] in ("Z", "X") else pid


def stop(files: Iterable[Path], seconds: float = 20.0) -> None:
    """Ask all to end, wait, insist."""
    found = [(file, pid) for file in files if (pid := pid_of(file)) is not None]
    for _, pid in found:
        _kill(pid, signal.SIGTERM)
    for file, pid in found:
        if not wait_for(lambda file=file: pid_of(file) is None, seconds):  # type: ignore[misc]
            _kill(pid, signal.SIGKILL)
            wait_for(lambda file=file: pid_of(file) is None, 5)  # type: ignore[misc]


def tail(log: Path, count: int = 1500) -> str:
    """The end of a log."""
    try:
        return log.read_bytes()[-count:].decode("utf-8", "replace")
    except OSError:
        return ""


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
