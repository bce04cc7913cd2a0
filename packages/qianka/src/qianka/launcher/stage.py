"""The stage of one run: everything its uid must reach, mounted where only this run sees it.

Lives in a mount namespace of its own, so nothing is left on the machine whatever becomes of the run,
and the data directory stays closed to all but the service.
"""

from __future__ import annotations

import os

from qianka.launcher import system
from qianka.launcher.sources import Sources, reachable
from qianka.sandbox.runtime import interpreter_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = ("/run/qianka-stage", "/var/lib/qianka-stage")


def mount_point() -> str:
    """An empty folder of root's that every uid can reach. Raises OSError where there is none to be made."""
    for place in PLACES:
        try:
            os.makedirs(place, mode=0o755, exist_ok=True)
        except OSError:
            continue
        stat = os.lstat(place)
        if stat.st_mode & 0o170000 == 0o040000 and stat.st_uid == 0 and not stat.st_mode & 0o022:
            return place
    raise OSError(f"none of {', '.join(PLACES)} can be made")


class Stage:
    """Building a stage at `place` in this process's own mounts."""

    def __init__(self, place: str, sources: Sources) -> None:
        self.place = place
        self.sources = sources

    def build(self, job: dict[str, Any], out: int | None, uids: tuple[int, ...], bwrap: str | None) -> str:
        """Mount everything that `job` names; returns the path of bubblewrap for the run ("": none is used).

        This process must have mounts of its own already.
        `out`: descriptor of the folder that becomes /out; None for a tmpfs of its own. `uids`: one a side.
        Raises OSError, NotAllowed.
        """
        system.mount("stage", self.place, "tmpfs", system.NOSUID | system.NODEV, "size=1m,nr_inodes=1000,mode=0755")
        self._side("", job, out, uids[0])
        if job.get("peer"):
            os.mkdir(f"{self.place}/peer", 0o755)
            self._side("peer/", job["peer"], None, uids[1])
        if not bwrap:
            return ""
        return bwrap if reachable(bwrap) else self._tool(bwrap)

    def _side(self, below: str, job: dict[str, Any], out: int | None, uid: int) -> None:
        """What one side of a run must reach; a run that is not paired has one."""
        for name, source, writable in self._wanted(job):
            descriptor = self.sources.open(source)
            self._bind(descriptor, below + name, writable=writable)
            os.close(descriptor)
        self._out(f"{below}out", job, out, uid)

    def _tool(self, bwrap: str) -> str:
        """Bubblewrap from a folder closed to the run's uid: with the package that it and its libraries lie in."""
        package = os.path.dirname(os.path.dirname(bwrap))
        os.mkdir(f"{self.place}/tools", 0o755)
        for folder in (package, package + ".libs"):
            if os.path.isdir(folder):
                descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
                self._bind(descriptor, f"tools/{os.path.basename(folder)}", writable=False)
                os.close(descriptor)
        return f"{self.place}/tools/{os.path.relpath(bwrap, os.path.dirname(package))}"

    def _wanted(self, job: dict[str, Any]) -> list[tuple[str, str, bool]]:
        wanted = []
        if job["work"]:
            wanted.append(("work", job["work"], False))
        if job["runtime"]:
            wanted.append(("runtime", job["runtime"], False))
            folders = interpreter_folders(job["runtime"])
            wanted += [(f"base{number}", folder, False) for number, folder in enumerate(folders)]
        for number, mount in enumerate(job["mounts"]):
            wanted.append((str(number), mount["source"], bool(mount.get("writable", False))))
        return wanted

    def _bind(self, descriptor: int, name: str, *, writable: bool) -> None:
        target = f"{self.place}/{name}"
        if os.fstat(descriptor).st_mode & 0o170000 == 0o040000:
            os.mkdir(target, 0o755)
        else:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        system.bind(descriptor, target, writable=writable)

    def _out(self, name: str, job: dict[str, Any], out: int | None, uid: int) -> None:
        if out is not None:
            self._bind(out, name, writable=True)
            return
        os.mkdir(f"{self.place}/{name}", 0o700)
        limits = job["limits"]
        # One more for the folder itself; 0 would mean no bound at all.
        options = f"size={limits['disk']},nr_inodes={limits['inodes'] + 1},mode=0700,uid={uid},gid={uid}"
        system.mount("out", f"{self.place}/{name}", "tmpfs", system.NOSUID | system.NODEV, options)
