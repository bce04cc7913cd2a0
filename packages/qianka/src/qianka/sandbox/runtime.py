"""The student runtime, a venv, as a run sees it: where it is bound, and what its interpreter needs."""

from __future__ import annotations

import os

from qianka.sandbox import small

MOVED = "/runtime"
"""where the runtime is bound when its own path lies below a place that the sandbox uses otherwise"""


def inside(runtime: str, targets: list[str]) -> str:
    """The path of the runtime inside: its own, unless it lies below (or above) one of `targets`."""
    return MOVED if any(_nested(runtime, target) for target in targets) else runtime


def interpreter_folders(runtime: str) -> list[str]:
    """Folders outside /usr that the runtime's interpreter needs, to be bound at their own paths.

    A venv holds links to an interpreter elsewhere; without that one's own standard library and libpython
    another Python of the system would silently be mixed in.
    """
    folders: list[str] = []
    for home in (_home(runtime), os.path.dirname(os.path.realpath(os.path.join(runtime, "bin/python")))):
        if not home or os.path.basename(home) != "bin":
            continue
        for prefix in (os.path.dirname(home), os.path.realpath(os.path.dirname(home))):
            given = prefix in ("/", "/usr") or prefix.startswith("/usr/") or _nested(prefix, runtime)
            if not given and prefix not in folders:
                folders.append(prefix)
    return folders


def _home(runtime: str) -> str:
    """`home` of pyvenv.cfg: the folder of the interpreter that made the venv; "" without one."""
    try:
        lines = small.read(os.path.join(runtime, "pyvenv.cfg"), 1 << 16).splitlines()
    except OSError:
        return ""
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip().lower() == "home":
            return value.strip()
    return ""


def _nested(one: str, other: str) -> bool:
    one, other = one.rstrip("/") + "/", other.rstrip("/") + "/"
    return one.startswith(other) or other.startswith(one)
