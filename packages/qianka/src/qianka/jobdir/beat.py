"""The heartbeat of a run: which process watches over it, and whether that process still lives."""

from __future__ import annotations

import os
import time

from qianka.jobdir.files import read_bytes, write_all
from qianka.jobdir.layout import run_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def write_beat(directory: str | os.PathLike[str], run: int, child: int | None = None) -> None:
    """Say that this process watches over the run, and (once it is started) over which child."""
    path = os.path.join(run_dir(directory, run), "beat")
    text = f"{os.getpid()} {start_ticks(os.getpid())} {boot_id()}\n"
    if child is not None:
        text += f"{child} {start_ticks(child)}\n"
    name = f"{path}.{os.getpid()}"
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        write_all(descriptor, text.encode())
    finally:
        os.close(descriptor)
    os.rename(name, path)


def touch_beat(directory: str | os.PathLike[str], run: int) -> None:
    """Say that the run is still watched."""
    os.utime(os.path.join(run_dir(directory, run), "beat"), follow_symlinks=False)


def read_beat(directory: str | os.PathLike[str], run: int) -> dict[str, Any] | None:
    """{"pid", "start", "boot", "child", "child_start", "touched" (seconds since 1970)}; None without a beat."""
    path = os.path.join(run_dir(directory, run), "beat")
    try:
        touched = os.lstat(path).st_mtime
        lines = read_bytes(path, 4096).decode("ascii", "replace").splitlines()
    except FileNotFoundError:
        return None
    words = (lines[0].split() if lines else []) + ["", "", ""]
    more = (lines[1].split() if len(lines) > 1 else []) + ["", ""]
    return {
        "pid": _number(words[0]),
        "start": _number(words[1]),
        "boot": words[2],
        "child": _number(more[0]) or None,
        "child_start": _number(more[1]),
        "touched": touched,
    }


def alive(beat: dict[str, Any] | None) -> bool:
    """Whether the process of a beat still is that process: same boot, same start time, no zombie."""
    if beat is None or beat["pid"] <= 0 or beat["boot"] != boot_id():
        return False
    return same_process(beat["pid"], beat["start"])


def same_process(pid: int, start: int) -> bool:
    """Whether process `pid` lives and was started at tick `start`."""
    if not os.path.isdir("/proc/self"):
        return _answers(pid)
    fields = _stat_fields(pid)
    return bool(fields) and fields[0] not in ("Z", "X") and int(fields[19]) == start


def silent_for(beat: dict[str, Any]) -> float:
    """Seconds since the beat was last touched."""
    return max(0.0, time.time() - float(beat["touched"]))


def start_ticks(pid: int) -> int:
    """When process `pid` started, in clock ticks since boot; 0 where the system does not say."""
    fields = _stat_fields(pid)
    return int(fields[19]) if fields else 0


def boot_id() -> str:
    """What tells this boot of the machine from all others; "-" where the system does not say."""
    try:
        return read_bytes("/proc/sys/kernel/random/boot_id", 100).decode("ascii").strip()
    except OSError:
        return "-"


def _stat_fields(pid: int) -> list[str]:
    try:
        text = read_bytes(f"/proc/{pid}/stat", 4096).decode("ascii", "replace")
    except OSError:
        return []
    # The second field is the program's name in brackets and may hold anything, brackets too.
    return text[text.rindex(")") + 2 :].split()


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _number(word: str) -> int:
    return int(word) if word.isdecimal() and word.isascii() else 0
