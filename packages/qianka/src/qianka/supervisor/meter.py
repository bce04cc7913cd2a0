"""How much a run uses: from its control group where there is one, else by watching its processes."""

from __future__ import annotations

from qianka.sandbox.processes import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qianka.sandbox.cgroup import Group


class Meter:
    """CPU seconds and peak memory of a run, and how each is known (`measured`)."""

    def __init__(self, group: Group | None, root: int, memory_limit: int) -> None:
        self.group = group
        self.tree = Tree(root)
        self.memory_limit = memory_limit
        self.measured = {"wall": "monotonic clock of the supervisor"}
        polled = {
            "memory": "polled: sum over the processes, an estimate (files in memory and short peaks are not seen)",
            "cpu": "polled: sum over the processes, without what the last ones used after the last look",
        }
        self.measured.update(polled if group is None else {**polled, **group.measured})
        self._own: int | None = None
        self._seen = False
        self._next_look = 0.02
        self._pause = 0.04

    def look(self, elapsed: float) -> int | None:
        """Look at the processes when it is time to. Returns their memory when it is above the limit."""
        self._look_at_group()
        if (self.group is not None and "cpu" in self.group.measured) or elapsed < self._next_look:
            return None
        memory = self.tree.look(self.memory_limit)
        self._seen = True
        # Dear for a big tree, so rarely; often only where the limit may soon be passed.
        self._pause = 0.05 if memory > self.memory_limit // 2 else min(2 * self._pause, 0.2)
        self._next_look = elapsed + self._pause
        return memory if self.group is None and memory > self.memory_limit else None

    def pause(self) -> float:
        """Seconds after which the next look is due."""
        return 0.1 if self.group is not None else min(self._pause, 0.1)

    def hear(self, init: int) -> None:
        """Add what process `init` knows of those it waited for; nothing when it is gone already."""
        if self.group is None:
            self.tree.look_at(init)
            self._seen = self._seen or self.tree.cpu > 0

    def know(self, cpu: float, peak: int) -> None:
        """What the system told at the end of a process outside any sandbox: CPU seconds, bytes."""
        self._seen = True
        self.tree.cpu = max(self.tree.cpu, cpu)
        self.tree.peak = max(self.tree.peak, peak)
        self.measured["cpu"] = "rusage of the process and the children it waited for"
        self.measured["memory"] = "greater of the largest process (ru_maxrss) and the polled sum over the processes"

    def cpu(self) -> float | None:
        """CPU seconds so far; None when nothing is known."""
        known = self.group.cpu_seconds() if self.group is not None else None
        return known if known is not None else (self.tree.cpu if self._seen else None)

    def peak(self) -> int | None:
        """Peak memory so far, bytes, without cached files where that is known; None when nothing is known."""
        if self.group is not None:
            whole = self.group.memory_peak()
            if self._own is None or whole is None or self.group.out_of_memory_kills() > 0:
                return whole  # too short for a look, or it filled its group
            # The kernel's mark sees a peak between two looks; the cache can only have grown since.
            return max(self._own, whole - self.group.file_cache())
        return self.tree.peak if self._seen else None

    def _look_at_group(self) -> None:
        own = self.group.memory_own() if self.group is not None else None
        if own is not None:
            self._own = max(self._own or 0, own)
            self.measured["memory"] = "peak of the control group without cached files (anonymous and shared memory)"
