"""What /out of a run is made of, how full it is, and how it gets into the job directory at the end.

staged  a tmpfs that the launcher mounted: bound on bytes and files by the kernel; copied at the end
inside  a tmpfs within the sandbox, reached through a descriptor: bytes bound by the kernel, files by looking
folder  JOBDIR/out itself: bound by looking only; made harmless in place at the end
"""

from __future__ import annotations

import os
import time

from qianka.jobdir import out as pickup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from qianka.supervisor.rights import Rights

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEARLY = 64 << 10
"""bytes: a tmpfs with less than this free has been filled"""
_LOOK_ENTRIES = 200_000
_EPERM = 1


class Volume:
    """/out of one run; `kind` is staged, inside or folder."""

    def __init__(
        self, directory: str, kind: str, limits: dict[str, Any], rights: Rights, kept: str | None = None
    ) -> None:
        """`kept`: where it is kept instead of JOBDIR/out."""
        self.kind = kind
        self.kept = kept or os.path.join(directory, "out")
        self.full = False
        self.descriptor: int | None = None
        self._limits = limits
        self._rights = rights

    def open_folder(self, uid: int | None) -> str:
        """For `folder`: make JOBDIR/out writable for `uid`; returns its path."""
        parent = os.open(os.path.dirname(self.kept), _FOLDER)
        try:
            if self._rights.lowered and os.fstat(parent).st_uid != self._rights.owner[0]:
                # What follows is done as root: only to what lies in a folder of the service's own.
                raise PermissionError(_EPERM, "not the service's folder", os.path.dirname(self.kept))
            name = os.path.basename(self.kept)
            if name not in os.listdir(parent):
                os.mkdir(name, 0o755, dir_fd=parent)
            self.descriptor = os.open(name, _FOLDER, dir_fd=parent)
        finally:
            os.close(parent)
        if uid is not None:
            with self._rights.root:
                pickup.clean_folder(self.descriptor, pickup.Report(1 << 62, 1 << 30), (uid, uid))
                os.fchown(self.descriptor, uid, uid)
        return self.kept

    def open_staged(self, path: str, uid: int) -> str:
        """For `staged`: bring in what earlier runs left; returns the path."""
        with self._rights.root:
            self.descriptor = os.open(path, _FOLDER)
            self._bring_in(self.descriptor, (uid, uid))
        return path

    def attach(self, init: int, patience: float = 10.0) -> bool:
        """For `inside`: reach the tmpfs through process `init` of the sandbox once it is mounted.

        False when the sandbox ended, or did not get there in `patience` seconds.
        """
        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                if _mounted(init):
                    self.descriptor = os.open(f"/proc/{init}/root/out", _FOLDER)
                    self._bring_in(self.descriptor, None)
                    return True
            except OSError:
                return False
            time.sleep(0.001)
        return False

    def attach_at(self, path: str, owner: tuple[int, int] | None) -> None:
        """For `inside`: the tmpfs as it is reached at `path`, filled with what earlier runs left. Raises OSError."""
        with self._rights.root:
            self.descriptor = os.open(path, _FOLDER)
            if owner is not None:
                os.fchown(self.descriptor, *owner)
            self._bring_in(self.descriptor, owner)

    def look(self) -> dict[str, float] | None:
        """{"limit", "measured"} when the bound that only looking enforces is broken, else None."""
        if self.descriptor is None:
            return None
        if self.kind == "folder":
            size, entries = self._walk(self.descriptor)
            if size > self._limits["disk"]:
                self.full = True
                return {"limit": self._limits["disk"], "measured": size}
        else:
            stat = os.fstatvfs(self.descriptor)
            entries = stat.f_files - stat.f_ffree - 1  # without the folder itself
            self.full = self.full or stat.f_bfree * stat.f_frsize < _NEARLY or (stat.f_files > 0 and not stat.f_ffree)
        if self.kind != "staged" and entries > self._limits["inodes"]:
            self.full = True
            return {"limit": self._limits["inodes"], "measured": entries}
        return None

    def take(self) -> dict[str, Any]:
        """Bring what the run left into JOBDIR/out; returns what was taken and refused. The run must be over."""
        report = pickup.Report(int(self._limits["disk"]) + (1 << 20))
        if self.descriptor is None:
            return report.as_json()
        if self.kind == "folder":
            with self._rights.root:
                os.fchmod(self.descriptor, 0o755)
                owner = self._rights.owner if self._rights.is_root else None
                if owner is not None:
                    os.fchown(self.descriptor, *owner)
                pickup.clean_folder(self.descriptor, report, owner)
        else:
            self._swap_in(self.descriptor, report)
        os.close(self.descriptor)
        self.descriptor = None
        return report.as_json()

    def drop(self) -> None:
        """Keep nothing of it. The run must be over."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None
        if self.kind == "folder" and os.path.lexists(self.kept):
            parent = os.open(os.path.dirname(self.kept), _FOLDER)
            with self._rights.root:
                pickup.remove(parent, os.path.basename(self.kept))
            os.close(parent)

    def _swap_in(self, source: int, report: pickup.Report) -> None:
        """Copy beside JOBDIR/out, then put the copy in its place: a crash leaves the old or the new."""
        parent = os.open(os.path.dirname(self.kept), _FOLDER)
        try:
            for name in ("out.new", "out.old"):
                pickup.remove(parent, name)
            os.mkdir("out.new", 0o755, dir_fd=parent)
            fresh = os.open("out.new", _FOLDER, dir_fd=parent)
            pickup.copy_out(source, fresh, report, self._rights.root)
            os.close(fresh)
            if os.path.lexists(self.kept):
                os.rename("out", "out.old", src_dir_fd=parent, dst_dir_fd=parent)
            os.rename("out.new", "out", src_dir_fd=parent, dst_dir_fd=parent)
            pickup.remove(parent, "out.old")
        finally:
            os.close(parent)

    def _bring_in(self, target: int, owner: tuple[int, int] | None) -> None:
        try:
            earlier = os.open(self.kept, _FOLDER)
        except FileNotFoundError:
            return
        try:
            pickup.copy_out(earlier, target, pickup.Report(int(self._limits["disk"])), None, owner)
        finally:
            os.close(earlier)

    def _walk(self, top: int) -> tuple[int, int]:
        """Bytes and entries of the folder; stops counting where it is clear that a bound is broken."""
        size = entries = 0
        with self._rights.root:
            waiting = [os.dup(top)]
            while waiting:
                folder = waiting.pop()
                try:
                    with os.scandir(folder) as found:
                        for entry in found:
                            entries += 1
                            stat = entry.stat(follow_symlinks=False)
                            size += stat.st_blocks * 512
                            if entry.is_dir(follow_symlinks=False) and len(waiting) < 200:
                                waiting.append(os.open(entry.name, _FOLDER, dir_fd=folder))
                            if entries > _LOOK_ENTRIES:
                                break
                except OSError:
                    pass  # it was removed or closed to us while we looked; the next look sees more
                finally:
                    os.close(folder)
        return size, entries


def _mounted(init: int) -> bool:
    """Whether the sandbox of `init` has its final root: /out is a mount there, seen from its own root."""
    with open(f"/proc/{init}/mountinfo", "rb") as file:
        lines = [line.split() for line in file]
    points = [line[4] for line in lines]
    return (
        b"/out" in points and b"/proc" in points and not any(p.startswith((b"/newroot", b"/oldroot")) for p in points)
    )


class Mirror:
    """Copies out/metrics.jsonl into the run's folder as it grows, so that it can be read along."""

    CAP = 16 << 20

    def __init__(self, folder: str, rights: Rights) -> None:
        self._target = os.path.join(folder, "metrics.jsonl")
        self._rights = rights
        self._done = 0

    def copy(self, volume: Volume) -> None:
        """Append what is new; nothing where the file is missing or is anything but a regular file."""
        if volume.descriptor is None:
            return
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        try:
            with self._rights.root:
                if os.stat("metrics.jsonl", dir_fd=volume.descriptor, follow_symlinks=False).st_mode >> 12 != 8:
                    return
                source = os.open("metrics.jsonl", flags, dir_fd=volume.descriptor)
        except OSError:
            return
        try:
            stat = os.fstat(source)
            if stat.st_mode >> 12 == 8 and self._done < min(stat.st_size, self.CAP):
                self._append(source, min(stat.st_size, self.CAP))
        finally:
            os.close(source)

    def _append(self, source: int, end: int) -> None:
        target = os.open(self._target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            while self._done < end and (data := os.pread(source, min(end - self._done, 1 << 20), self._done)):
                self._done += os.write(target, data)
        finally:
            os.close(target)
