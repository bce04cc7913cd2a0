"""Bounds that the kernel keeps for each single process; set in the child before it becomes the run.

They do not replace control groups: sixteen processes may each stay below any of them.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILES = 4096
PRLIMIT = "/usr/bin/prlimit"


def limits(job: dict[str, Any], *, grouped: bool, cards: bool) -> dict[str, int]:
    """Name of the bound → value. `grouped`: a control group bounds memory and processes as a whole."""
    given = job["limits"]
    bounds = {
        "CORE": 0,
        "NOFILE": FILES,
        "FSIZE": max(int(given["disk"]), int(given["tmp"]), int(given["shm"])),
    }
    if given.get("cpu"):
        # Second line only, for a supervisor that does not get to look: it measures the whole tree.
        bounds["CPU"] = int(given["cpu"]) + 5
    if not grouped and not cards:
        # Twice the memory: address space is reserved freely, and the tree is watched for what is used.
        # Never with a card: CUDA reserves far more than it uses.
        bounds["AS"] = 2 * int(job["resources"]["memory"]) + (1 << 30)
    return bounds


def apply(bounds: dict[str, int]) -> None:
    """Set the bounds on this process, never above what it has been given itself."""
    import resource

    for name, value in bounds.items():
        if name == "AS" and sys.platform == "darwin":
            continue  # known there by name only
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def counted(argv: list[str], processes: int) -> list[str]:
    """`argv` with its processes counted inside the sandbox: outside, all others of the user would count too."""
    if not os.access(PRLIMIT, os.X_OK):
        return argv
    return [PRLIMIT, f"--nproc={processes}:{processes}", "--", *argv]
