"""Proving that the Python inside a sandbox is the one outside, and choosing one that runs can reach.

A venv only links to its interpreter; where that one's own folder is not bound, another libpython and
standard library of the system are mixed in silently, and everything looks fine until it is not.
"""

from __future__ import annotations

import os
import subprocess
import sys

QUESTION = """
import sys
maps = open('/proc/self/maps').read().split() if sys.platform == 'linux' else []
print('version', sys.version.replace(chr(10), ' '))
print('base_prefix', sys.base_prefix)
print('libpython', *sorted({word for word in maps if '/libpython' in word}))
"""


def answer(python: str) -> str:
    """What the interpreter at `python` says of itself, outside. Raises OSError, subprocess.SubprocessError."""
    done = subprocess.run([python, "-I", "-c", QUESTION], capture_output=True, text=True, timeout=30, check=True)
    return done.stdout


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
