"""Proving that the Python inside a sandbox is the one outside, and choosing one that runs can reach.

A venv only links to its interpreter; where that one's own folder is not bound, another libpython and
standard library of the system are mixed in silently, and everything looks fine until it is not.
"""

from __future__ import annotations

import os
import subprocess
import sys

_NOBODY = 65_534
QUESTION = """
import sys
maps = open('/proc/self/maps').read().split() if sys.platform == 'linux' else []
print('version', sys.version.replace(chr(10), ' '))
print('base_prefix', sys.base_prefix)
print('libpython', *sorted({word for word in maps if '/libpython' in word}))
"""


def answer(python: str) -> str:
    """What the interpreter at `python` says of itself, outside. Raises OSError, subprocess.SubprocessError.

    Asked by root, it runs as whoever could have put another program there: a runtime in the data
    directory is the service's, and must not become a way to root. Without `site`, for the same reason.
    """
    uid = changeable_by(python) if os.geteuid() == 0 else None
    done = subprocess.run(
        [python, "-I", "-S", "-c", QUESTION],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        user=uid,
        group=None if uid is None else _NOBODY,
        extra_groups=None if uid is None else [],
    )
    return done.stdout


def changeable_by(path: str) -> int | None:
    """An ordinary user who could change what lies at `path`, links on the way included; None: only root could."""
    seen = 0
    waiting = [part for part in os.path.abspath(path).split("/") if part]
    here = "/"
    while waiting:
        here = os.path.join(here, waiting.pop(0))
        stat = os.lstat(here)
        if stat.st_uid != 0:
            return stat.st_uid
        mode = stat.st_mode
        if mode & 0o170000 == 0o120000:
            seen += 1
            if seen > 40:
                raise OSError(f"{path}: too many links")
            target = os.path.join(os.path.dirname(here), os.readlink(here))
            waiting = [part for part in os.path.normpath(target).split("/") if part] + waiting
            here = "/"
        elif not mode & 0o1000 and (mode & 0o002 or (mode & 0o020 and stat.st_gid != 0)):
            return _NOBODY
    return None


def prove(inside: str, outside: str) -> list[str]:
    """What differs between two answers to QUESTION, as sentences; empty when they are the same Python."""
    seen, true = _fields(inside), _fields(outside)
    return [
        f"{name}: {seen.get(name)!r} inside, {true.get(name)!r} outside"
        for name in ("version", "base_prefix", "libpython")
        if seen.get(name) != true.get(name)
    ]


def choose() -> str | None:
    """An interpreter from which to make a runtime that every uid can use; None where there is none."""
    own = os.path.realpath(sys.executable)
    for path in (own, "/usr/bin/python3", "/usr/local/bin/python3"):
        if os.access(path, os.X_OK) and open_to_all(os.path.realpath(path)) and _can_make_venvs(path):
            return path
    return None


def open_to_all(path: str) -> bool:
    """Whether every folder above `path` may be searched by everybody."""
    here = os.path.abspath(path)
    while here != "/":
        here = os.path.dirname(here)
        if not os.stat(here).st_mode & 0o001:
            return False
    return True


def _can_make_venvs(python: str) -> bool:
    try:
        done = subprocess.run(
            [python, "-I", "-c", "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 10))"],
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _fields(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (line.partition(" ") for line in text.splitlines())}
