"""Which Python the student runtime is made with: one that the uids of runs can reach."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from qianka.errors import ConfigError, Text

SYSTEM_PYTHON = "/usr/bin/python3"
OLDEST = (3, 10)
_ASK = "import ensurepip, sys, venv; print(sys.version_info[0], sys.version_info[1], sys.base_prefix, sep='\\n')"


@dataclass(frozen=True)
class Interpreter:
    """A Python that can make a virtual environment."""

    path: str
    version: tuple[int, int]
    base_prefix: str
    """where its standard library lies"""


def choose(wanted: str | None, *, other_uids: bool, say: Callable[[str], None]) -> Interpreter:
    """`wanted`, else the Python that runs this, else the system's; the first that fits.

    `other_uids`: runs get uids of their own (started by root), so a Python below a private home
    does not do. Where no candidate can be reached the first one is taken all the same: the
    launcher then binds it into each run. Raises ConfigError when none can make an environment.
    """
    if wanted is not None:
        found = examine(wanted)
        if found is None:
            raise ConfigError(
                Text(f"{wanted} 不能用来建立虚拟环境", f"{wanted} cannot make a virtual environment"),
                Text(
                    "需要 Python 3.10 以上并带 venv 和 ensurepip（Debian/Ubuntu：apt install python3-venv）",
                    "needed: Python 3.10 or newer with venv and ensurepip (Debian, Ubuntu: apt install python3-venv)",
                ),
            )
        return found
    usable = [found for path in (os.path.realpath(sys.executable), SYSTEM_PYTHON) if (found := examine(path))]
    if not usable:
        raise ConfigError(
            Text("没有能建立虚拟环境的 Python", "no Python here can make a virtual environment"),
            Text("Debian/Ubuntu：apt install python3-venv", "Debian, Ubuntu: apt install python3-venv"),
        )
    if not other_uids:
        return usable[0]
    for found in usable:
        if reachable_by_others(found.base_prefix) and reachable_by_others(found.path):
            return found
    say(
        f"其他用户进不了 {usable[0].base_prefix}，运行时将逐次挂载 / "
        f"{usable[0].base_prefix} is closed to other users: it is bound into each run"
    )
    return usable[0]


def examine(path: str) -> Interpreter | None:
    """What Python lies at `path`; None when it is missing, too old or has no ensurepip."""
    try:
        asked = subprocess.run([path, "-I", "-c", _ASK], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = asked.stdout.splitlines()
    if asked.returncode != 0 or len(lines) != 3:
        return None
    version = (int(lines[0]), int(lines[1]))
    return Interpreter(path, version, lines[2]) if version >= OLDEST else None


def reachable_by_others(path: str | Path) -> bool:
    """Whether a stranger's uid may walk to `path`: every folder on the way has the x bit for others."""
    real = Path(os.path.realpath(path))
    folders = [real, *real.parents] if real.is_dir() else list(real.parents)
    return all(folder.stat().st_mode & 0o001 for folder in folders)
