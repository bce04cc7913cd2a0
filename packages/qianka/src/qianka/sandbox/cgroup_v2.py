"""A run's control group, version 2.

A group that holds processes cannot give controllers to groups below it (the root may). So we first
move ourselves into a leaf of our own, once; groups of runs are made beside that leaf.
"""

from __future__ import annotations

import os

from qianka.sandbox import small
from qianka.sandbox.cgroup import PERIOD, PREFIX, Group, make_folder
from qianka.sandbox.cgroup_paths import numbers

LEAF = PREFIX + "service"
CONTROLLERS = ("memory", "pids", "cpu")


class GroupV2(Group):
    """One folder with everything."""

    def cpu_seconds(self) -> float | None:
        used = numbers(self.read("", "cpu.stat")).get("usage_usec")
        return None if used is None else used / 1e6

    def memory_peak(self) -> int | None:
        # memory.peak came with kernel 5.19; before that the present use is a lower bound.
        text = self.read("", "memory.peak") or self.read("", "memory.current")
        return int(text) if text else None

    def memory_own(self) -> int | None:
        found = numbers(self.read("", "memory.stat"))
        return found["anon"] + found.get("shmem", 0) if "anon" in found else None

    def file_cache(self) -> int:
        found = numbers(self.read("", "memory.stat"))
        return int(max(0, found.get("file", 0) - found.get("shmem", 0)))

    def out_of_memory_kills(self) -> int:
        return int(numbers(self.read("", "memory.events")).get("oom_kill", 0))

    def forks_denied(self) -> int:
        return int(numbers(self.read("", "pids.events")).get("max", 0))

    def kill(self) -> None:
        try:
            self.write("", "cgroup.kill", 1)
        except OSError:
            super().kill()


def make_v2(own: str, name: str, *, memory: int, processes: int, cpus: float, together: bool = True) -> GroupV2:
    """The group, beside our leaf. Raises OSError when it cannot be made or bounded."""
    base = prepare(own)
    folder = f"{base}/{name}"
    make_folder(folder)
    group = GroupV2({"": folder})
    try:
        group.write("", "memory.max", memory)
        # Absent in a kernel without swap accounting, or older than 4.19.
        group.write_if_there("", "memory.swap.max", 0)
        group.write_if_there("", "memory.oom.group", int(together))
        group.write("", "pids.max", processes)
        group.cpu_quota = group.write_if_there("", "cpu.max", f"{max(1000, int(cpus * PERIOD))} {PERIOD}")
    except OSError:
        group.remove()
        raise
    peak = "memory.peak" if group.read("", "memory.peak") else "memory.current at the end"
    group.measured = {
        "memory": f"cgroup v2 {peak} (with page cache and shared memory)",
        "cpu": "cgroup v2 cpu.stat usage_usec",
    }
    return group


def base_of(own: str) -> str:
    """The group below which runs get theirs: the one above our leaf, when we are in it."""
    return os.path.dirname(own) if os.path.basename(own) == LEAF else own


def prepare(own: str) -> str:
    """Make our group able to bound groups below it; returns its folder. Doing it again changes nothing.

    Raises OSError where the group is not ours.
    """
    base = base_of(own)
    if _enabled(base):
        return base
    if base == own and not os.path.isdir(f"{base}/{LEAF}"):
        os.mkdir(f"{base}/{LEAF}")
    try:
        _enable(base)
    except OSError:
        # "Busy": the group holds processes, this one among them. They are moved into the leaf.
        for pid in small.read(f"{base}/cgroup.procs").split():
            try:
                small.write(f"{base}/{LEAF}/cgroup.procs", pid)
            except ProcessLookupError:
                continue
        _enable(base)
    return base


def _enabled(base: str) -> bool:
    return {"memory", "pids"} <= set(small.read(f"{base}/cgroup.subtree_control").split())


def _enable(base: str) -> None:
    there = small.read(f"{base}/cgroup.controllers").split()
    small.write(f"{base}/cgroup.subtree_control", " ".join(f"+{name}" for name in CONTROLLERS if name in there))
