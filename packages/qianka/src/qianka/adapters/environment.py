"""What is installed in a student runtime, as a digest: two gradings in the same one can be compared."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from qianka.adapters import runtime


class Environment(NamedTuple):
    """A runtime as it is on disk now."""

    digest: str
    """SHA-256 over the interpreter, the installed packages with their versions, and the kit"""
    python: str
    packages: list[str]
    """name-version, in order"""
    kit: str


def environment(target: Path) -> Environment | None:
    """The environment of the student runtime at `target`; None when there is none.

    Read from disk, not from the requirements it was made with: what somebody installed by hand counts too.
    """
    found = runtime.load(target)
    place = next(iter(sorted((target / "lib").glob("python3*/site-packages"))), None)
    if found is None or place is None:
        return None
    try:
        changed = (os.stat(place).st_mtime_ns, os.stat(target / runtime.STAMP).st_mtime_ns)
    except OSError:
        return None
    return _measured(str(place), found.base, found.version, found.kit, changed)


@functools.lru_cache(maxsize=4)
def _measured(place: str, base: str, version: str, kit: str, changed: tuple[int, int]) -> Environment:
    """`changed`: times of change, so that a runtime that was built anew is measured anew."""
    names = sorted(name.removesuffix(".dist-info").lower() for name in os.listdir(place) if name.endswith(".dist-info"))
    digest = hashlib.sha256("\0".join([base, version, kit, *names]).encode()).hexdigest()
    return Environment(digest, version, names, kit)
