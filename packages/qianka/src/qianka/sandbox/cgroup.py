"""A control group of its own for each run: bounds on memory, processes and CPU, and true figures.

`make` gives a group of version 1 or 2, or raises GroupError saying why there is none.
"""

from __future__ import annotations

import os
import time

from qianka.sandbox import cgroup_paths, small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = "qianka-"
PERIOD = 100_000
"""microseconds of one accounting period of the CPU quota"""


class GroupError(Exception):
    """There is no control group for this run; the message is the system's own reason."""


class Group:
    """What both versions share: entering, killing, removing. `folders` by controller."""

    def __init__(self, folders: dict[str, str]) -> None:
        self.folders = folders
        self.cpu_quota = True
        self.measured: dict[str, str] = {}

    def enter_files(self) -> list[str]:
        """Files into which a process writes "0" to enter the group, it and all its children."""
        return [folder + "/cgroup.procs" for folder in dict.fromkeys(self.folders.values())]

    def members(self) -> list[int]:
        """The processes in the group."""
        found: set[int] = set()
        for file in self.enter_files():
            try:
                found.update(int(word) for word in small.read(file).split())
            except OSError:
                continue
        return sorted(found)

    def kill(self) -> None:
        """End every process of the group; those that are being born too, by asking until none is left."""
        for _ in range(200):
            members = self.members()
            if not members:
                return
            kill_all(members)
            time.sleep(0.001)

    def remove(self) -> int:
        """Remove the group, ending what is left in it. Returns how many processes were left."""
        left = self.members()
        if left:
            self.kill()
        for folder in dict.fromkeys(self.folders.values()):
            _remove_folder(folder)
        return len(left)

    def cpu_seconds(self) -> float | None:
        """CPU time of the group so far, s."""
        raise NotImplementedError

    def memory_peak(self) -> int | None:
        """Highest memory of the group so far, bytes."""
        raise NotImplementedError

    def memory_own(self) -> int | None:
        """Memory that the group's processes hold at this moment, bytes, without cached files.

        Whoever first reads a file pays for its place in the cache: a peak with it depends on who ran before.
        """
        raise NotImplementedError

    def file_cache(self) -> int:
        """Bytes of files that the kernel keeps in memory on the group's account, without shared memory."""
        raise NotImplementedError

    def out_of_memory_kills(self) -> int:
        """How many processes the kernel has ended because the group was full."""
        raise NotImplementedError

    def forks_denied(self) -> int:
        """How often the bound on processes has denied a new one."""
        raise NotImplementedError

    def read(self, controller: str, name: str) -> str:
        """A file of the group; "" where this kernel has none."""
        try:
            return small.read(f"{self.folders[controller]}/{name}")
        except (OSError, KeyError):
            return ""

    def write(self, controller: str, name: str, value: int | str) -> None:
        """Set a file of the group. Raises OSError, KeyError without the controller."""
        small.write(f"{self.folders[controller]}/{name}", value)

    def write_if_there(self, controller: str, name: str, value: int | str) -> bool:
        """Set a file that not every kernel or group has; whether it was set."""
        try:
            self.write(controller, name, value)
        except (OSError, KeyError):
            return False
        return True


def make(name: str, *, memory: int, processes: int, cpus: float, root: str = "/", together: bool = True) -> Group:
    """A fresh group below our own, with its bounds set: `memory` bytes, `processes`, `cpus` cores.

    `together`: where the kernel can, one process that is out of memory takes all others of its group with it.

    Raises GroupError when this machine, or this user, has none.
    """
    layout = cgroup_paths.find(root)
    try:
        if layout.version == 2:
            from qianka.sandbox.cgroup_v2 import make_v2

            return make_v2(layout.folders[""], name, memory=memory, processes=processes, cpus=cpus, together=together)
        if layout.version == 1:
            from qianka.sandbox.cgroup_v1 import make_v1

            return make_v1(layout.folders, name, memory=memory, processes=processes, cpus=cpus)
    except OSError as error:
        raise GroupError(f"cannot make a control group: {error.strerror}: {error.filename}") from error
    raise GroupError("no control group controllers for memory and processes are mounted")


FRESH = 60.0
"""seconds within which an empty group may still wait for its run"""


def sweep(root: str = "/") -> int:
    """Remove groups of runs whose supervisor was killed; those that hold processes stay. Returns how many went.

    Another platform on this machine has groups here too: one that it has only just made is left alone.
    """
    gone = 0
    for base in _bases(root):
        for name in os.listdir(base):
            if name.startswith(PREFIX):
                folder = f"{base}/{name}"
                try:
                    if time.time() - os.stat(folder).st_mtime < FRESH:
                        continue
                    os.rmdir(folder)
                    gone += 1
                except OSError:
                    continue
    return gone


def name_of(job: str, place: int, run: int, peer: bool = False) -> str:
    """The name of a run's group. `place`: the inode of its job directory, for two platforms may use one job id."""
    return f"{PREFIX}{job}-{place:x}-{run}" + ("-peer" if peer else "")


def end(name: str, root: str = "/") -> int:
    """End what a group still holds and remove it; returns how many processes were left, 0 without such a group."""
    left = [Group({"": f"{base}/{name}"}).remove() for base in _bases(root) if os.path.isdir(f"{base}/{name}")]
    return max(left, default=0)


def _bases(root: str) -> set[str]:
    """The folders in which groups of runs are made."""
    layout = cgroup_paths.find(root)
    if layout.version == 2:
        from qianka.sandbox.cgroup_v2 import base_of

        return {base_of(layout.folders[""])}
    return set(layout.folders.values())


def make_folder(folder: str) -> None:
    """Make the folder of a group. Raises OSError."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        # A killed supervisor of the same run left it; whatever is inside belongs to that dead run.
        Group({"": folder}).remove()
        os.mkdir(folder)


def kill_all(pids: Iterable[int], signal: int = 9) -> None:
    """Send a signal to each process that still is there and may be signalled."""
    for pid in pids:
        try:
            os.kill(pid, signal)
        except (ProcessLookupError, PermissionError):
            continue


def _remove_folder(folder: str) -> None:
    # Ended processes leave their group a moment later; until then it is busy.
    for pause in (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2):
        time.sleep(pause)
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError:
            continue
        return
