"""What this machine may hand out: cores of its affinity and quota, four fifths of its memory, its cards."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from qianka.adapters import nvml
from qianka.domain.resources import Card, Node
from qianka.settings import Settings

_MIB = 1 << 20
_SHARE = 0.8  # the rest is for the platform itself and the system
_SIMULATED_MEMORY = 24 << 30


def inventory(settings: Settings, cgroup: Path = Path("/sys/fs/cgroup")) -> Node:
    """This machine as one node."""
    cores = _cores(cgroup)
    if settings.local_cores > 0:
        cores = cores[: settings.local_cores]
    memory = settings.local_memory_mb * _MIB if settings.local_memory_mb > 0 else int(_memory(cgroup) * _SHARE)
    return Node(name=os.uname().nodename, cores=cores, memory=memory, cards=_cards(settings))


def _cores(cgroup: Path) -> tuple[int, ...]:
    if hasattr(os, "sched_getaffinity"):
        cores = tuple(sorted(os.sched_getaffinity(0)))
    else:
        cores = tuple(range(os.cpu_count() or 1))
    quota = _cpu_quota(cgroup)
    # A container may see all cores and yet be given the time of two.
    return cores if quota is None else cores[: max(1, math.floor(quota))]


def _cpu_quota(cgroup: Path) -> float | None:
    words = _read(cgroup / "cpu.max").split()
    if len(words) != 2:
        words = [_read(cgroup / "cpu" / "cpu.cfs_quota_us"), _read(cgroup / "cpu" / "cpu.cfs_period_us")]
    if not all(word.isdecimal() for word in words) or int(words[1]) == 0:
        return None
    return int(words[0]) / int(words[1])


def _memory(cgroup: Path) -> int:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        limit = _read(cgroup / name)
        if limit.isdecimal():
            return min(total, int(limit))
    return total


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _cards(settings: Settings) -> tuple[Card, ...]:
    if settings.local_simulated_cards <= 0:
        return nvml.cards()
    model = settings.local_simulated_model
    size = re.search(r"(\d+)\s*G", model)
    memory = int(size[1]) << 30 if size else _SIMULATED_MEMORY
    return tuple(
        Card(index=i, uuid=f"SIM-{i}", model=model, memory=memory, simulated=True)
        for i in range(settings.local_simulated_cards)
    )
