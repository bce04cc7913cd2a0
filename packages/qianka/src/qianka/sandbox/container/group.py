"""The control group of a container, read from outside; what was last seen of it is kept when it is gone."""

from __future__ import annotations

import os

from qianka.sandbox import small
from qianka.sandbox.cgroup import Group
from qianka.sandbox.cgroup_paths import V1_NEEDED, V1_WANTED, mount_points, own_paths
from qianka.sandbox.cgroup_v1 import GroupV1
from qianka.sandbox.cgroup_v2 import GroupV2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_GROWING = ("cpu_seconds", "memory_peak", "out_of_memory_kills", "forks_denied")


class Watched(Group):
    """An engine's group: the engine removes it, at the container's end."""

    def __init__(self, live: Group) -> None:
        super().__init__(live.folders)
        self.measured = dict(live.measured)
        self._live = live
        self._last: dict[str, Any] = {}
        self._before = 0.0

    def begin(self) -> None:
        """What was used so far was for starting the container, not by the run."""
        self._before = self.cpu_seconds() or 0.0

    def keep(self) -> None:
        """Remember what the figures are now."""
        for name in (*_GROWING, "file_cache"):
            self._tell(name)

    def cpu_seconds(self) -> float | None:
        found = self._tell("cpu_seconds")
        return None if found is None else max(0.0, float(found) - self._before)

    def memory_peak(self) -> int | None:
        found = self._tell("memory_peak")
        return None if found is None else int(found)

    def memory_own(self) -> int | None:
        return self._live.memory_own() if self._is_there() else None

    def file_cache(self) -> int:
        return int(self._tell("file_cache") or 0)

    def out_of_memory_kills(self) -> int:
        return int(self._tell("out_of_memory_kills") or 0)

    def forks_denied(self) -> int:
        return int(self._tell("forks_denied") or 0)

    def kill(self) -> None:
        if self._is_there():
            self._live.kill()

    def remove(self) -> int:
        return 0

    def bounded(self, memory: int, processes: int) -> bool:
        """Whether the kernel holds the run to no more than this, whatever the engine was asked."""
        if isinstance(self._live, GroupV2):
            found = self.read("", "memory.max"), self.read("", "pids.max")
        else:
            found = self.read("memory", "memory.limit_in_bytes"), self.read("pids", "pids.max")
        wanted = (memory, processes)
        return all(text.strip().isdigit() and int(text) <= limit for text, limit in zip(found, wanted, strict=True))

    def _is_there(self) -> bool:
        return os.path.isdir(next(iter(self.folders.values())))

    def _tell(self, name: str) -> Any:
        value = getattr(self._live, name)() if self._is_there() else None
        before = self._last.get(name)
        if value is not None and (before is None or name not in _GROWING or value > before):
            self._last[name] = value
        return self._last.get(name)


def of(pid: int, root: str = "/") -> Watched | None:
    """The group of process `pid`, which must be a container's first; None where it has none of its own.

    Never one that we are in ourselves: such a group must not be ended with the run.
    """
    try:
        theirs = own_paths(small.read(f"{root}proc/{pid}/cgroup"))
        ours = own_paths(small.read(f"{root}proc/self/cgroup"))
        points = mount_points(small.read(f"{root}proc/self/mounts"))
    except OSError:
        return None
    folders = {}
    for name, path in theirs.items():
        if name in points and path.strip("/") and ".." not in path.split("/") and path != ours.get(name):
            folder = root + points[name].strip("/") + path
            if os.path.isdir(folder) and not _within(ours.get(name, "/"), path):
                folders[name] = folder
    live: Group
    if "" in folders and os.path.exists(f"{folders['']}/memory.max"):
        live = GroupV2({"": folders[""]})
        live.measured = {
            "memory": "control group of the container, v2 memory.peak (with page cache and shared memory)",
            "cpu": "control group of the container, v2 cpu.stat usage_usec",
        }
        return Watched(live)
    wanted = {name: folders[name] for name in V1_WANTED if name in folders}
    if not all(name in wanted for name in V1_NEEDED):
        return None
    live = GroupV1(wanted)
    live.measured = {
        "memory": "control group of the container, v1 memory.max_usage_in_bytes (with page cache and shared memory)"
    }
    if "cpuacct" in wanted:
        live.measured["cpu"] = "control group of the container, v1 cpuacct.usage"
    return Watched(live)


def _within(inner: str, outer: str) -> bool:
    return (inner.rstrip("/") + "/").startswith(outer.rstrip("/") + "/")
