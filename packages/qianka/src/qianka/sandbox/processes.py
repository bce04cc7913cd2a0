"""Watching a tree of processes from outside, for machines where no control group does it.

An estimate: memory of a process that lives shorter than one look is missed, and memory that no
process has mapped (files in a tmpfs) is not seen at all.
"""

from __future__ import annotations

import os

from qianka.sandbox import small

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


class Tree:
    """The processes below (and with) `root`; remembers the peak and the CPU time seen so far."""

    def __init__(self, root: int) -> None:
        self.root = root
        self.peak = 0
        self.cpu = 0.0

    def look(self, limit: int) -> int:
        """Memory now, bytes. Shares of shared pages are only worked out above half of `limit`: it is dear."""
        pids = descendants(self.root)
        self.cpu = max(self.cpu, sum(_cpu(pid) for pid in pids))
        memory = sum(_resident(pid) for pid in pids)
        if memory > limit // 2:
            memory = sum(_proportional(pid) for pid in pids)
        self.peak = max(self.peak, memory)
        return memory

    def look_at(self, pid: int) -> None:
        """CPU time of one process and those it waited for."""
        self.cpu = max(self.cpu, _cpu(pid))


def descendants(root: int) -> list[int]:
    """`root` and all processes that come from it and have not left their parents."""
    found = [root]
    for pid in found:
        found.extend(child for child in _children(pid) if child not in found)
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            children += [int(word) for word in small.read(f"/proc/{pid}/task/{task}/children").split()]
    except OSError:
        return children
    return children


def _resident(pid: int) -> int:
    try:
        return int(small.read(f"/proc/{pid}/statm").split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def _proportional(pid: int) -> int:
    try:
        text = small.read(f"/proc/{pid}/smaps_rollup")
    except OSError:
        return _resident(pid)
    for line in text.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(pid)


def _cpu(pid: int) -> float:
    """Seconds of a process and of the children it has waited for."""
    try:
        text = small.read(f"/proc/{pid}/stat")
    except OSError:
        return 0.0
    fields = text[text.rindex(")") + 2 :].split()
    return sum(int(field) for field in fields[11:15]) / TICKS
