"""A run's control group, version 1: one folder in each controller's hierarchy."""

from __future__ import annotations

from qianka.sandbox.cgroup import PERIOD, Group, make_folder
from qianka.sandbox.cgroup_paths import V1_NEEDED, numbers


class GroupV1(Group):
    """Folders by controller: memory and pids for sure, cpu and cpuacct where there are any."""

    def cpu_seconds(self) -> float | None:
        text = self.read("cpuacct", "cpuacct.usage")
        return int(text) / 1e9 if text else None

    def memory_peak(self) -> int | None:
        text = self.read("memory", "memory.max_usage_in_bytes")
        return int(text) if text else None

    def memory_own(self) -> int | None:
        found = numbers(self.read("memory", "memory.stat"))
        return found["total_rss"] + found.get("total_shmem", 0) if "total_rss" in found else None

    def file_cache(self) -> int:
        found = numbers(self.read("memory", "memory.stat"))
        # Here "cache" holds shared memory and tmpfs as well, which are the run's own.
        return int(max(0, found.get("total_cache", 0) - found.get("total_shmem", 0)))

    def out_of_memory_kills(self) -> int:
        return int(numbers(self.read("memory", "memory.oom_control")).get("oom_kill", 0))

    def forks_denied(self) -> int:
        return int(numbers(self.read("pids", "pids.events")).get("max", 0))


def make_v1(own: dict[str, str], name: str, *, memory: int, processes: int, cpus: float) -> GroupV1:
    """The group, nested below our own. Raises OSError when memory and processes cannot be bounded."""
    group = GroupV1({})
    try:
        # Two controllers may share one hierarchy (cpu,cpuacct); its folder is then made once.
        made: dict[str, bool] = {}
        for controller, parent in own.items():
            folder = f"{parent}/{name}"
            if folder not in made:
                made[folder] = _made(folder, needed=controller in V1_NEEDED)
            if made[folder]:
                group.folders[controller] = folder
        group.write("memory", "memory.limit_in_bytes", memory)
        # Memory and swap together; must follow the line above, and is absent without swap accounting.
        group.write_if_there("memory", "memory.memsw.limit_in_bytes", memory)
        group.write("pids", "pids.max", processes)
        group.cpu_quota = group.write_if_there("cpu", "cpu.cfs_quota_us", max(1000, int(cpus * PERIOD)))
    except OSError:
        group.remove()
        raise
    group.measured = {"memory": "cgroup v1 memory.max_usage_in_bytes (with page cache and shared memory)"}
    if "cpuacct" in group.folders:
        group.measured["cpu"] = "cgroup v1 cpuacct.usage"
    return group


def _made(folder: str, *, needed: bool) -> bool:
    try:
        make_folder(folder)
    except OSError:
        if needed:
            raise
        return False
    return True
