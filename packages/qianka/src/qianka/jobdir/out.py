"""Taking over what a run left in its output folder, as if it were an attack.

Only regular files with one name and folders are taken; links, pipes, sockets, devices, names that
hide something, and what goes beyond the caps is refused by name. All access goes through
descriptors of folders, no path is resolved twice. Nothing here may run while the run still lives.
"""

from __future__ import annotations

import os

from qianka.jobdir.printing import odd, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
DEPTH = 32
ENTRIES = 20_000
LISTED = 100
"""refused names that a report lists; the rest is only counted"""


class Quiet:
    """A `with` that does nothing: for those who need no other rights to read the folder."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


class Report:
    """What was taken (files, bytes) and what was refused, and why."""

    def __init__(self, max_bytes: int, max_entries: int = ENTRIES) -> None:
        self.files = 0
        self.bytes = 0
        self.refused: list[dict[str, str]] = []
        self.more_refused = 0
        self._entries_left = max_entries
        self._bytes_left = max_bytes

    def refuse(self, parts: tuple[str, ...], why: str) -> None:
        """Note one refusal. `why` is a code: link, special, hard_link, odd_name, too_deep, …"""
        if len(self.refused) < LISTED:
            self.refused.append({"name": shown("/".join(parts))[:300], "why": why})
        else:
            self.more_refused += 1

    def admits(self, parts: tuple[str, ...], stat: os.stat_result) -> bool:
        """Whether an entry is fit to be taken; notes the refusal when not."""
        why = self._objection(parts, stat)
        if why is not None:
            self.refuse(parts, why)
            return False
        self._entries_left -= 1
        if stat.st_mode & 0o170000 == 0o100000:
            self.files += 1
            self.bytes += stat.st_size
            self._bytes_left -= stat.st_size
        return True

    def as_json(self) -> dict[str, Any]:
        """As it stands in a result."""
        report: dict[str, Any] = {"files": self.files, "bytes": self.bytes, "refused": self.refused}
        if self.more_refused:
            report["more_refused"] = self.more_refused
        return report

    def _objection(self, parts: tuple[str, ...], stat: os.stat_result) -> str | None:
        kind = stat.st_mode & 0o170000
        if kind == 0o120000:
            return "link"
        if kind not in (0o100000, 0o040000):
            return "special"
        if any(map(odd, parts[-1])):
            return "odd_name"
        if kind == 0o100000 and stat.st_nlink != 1:
            return "hard_link"
        if len(parts) > DEPTH:
            return "too_deep"
        if self._entries_left <= 0:
            return "too_many"
        if kind == 0o100000 and stat.st_size > self._bytes_left:
            return "too_large"
        return None


def shown(name: str) -> str:
    """A file's name fit to be printed: bytes that are no UTF-8 and characters that hide appear escaped."""
    return printable(name).replace("\n", "\\x0a").replace("\t", "\\x09")


def copy_out(
    source: int, target: int, report: Report, reader: Any = None, owner: tuple[int, int] | None = None
) -> None:
    """Copy the folder `source` into the empty folder `target` (both descriptors).

    `reader`: rights (a context manager) that reading the source needs. `owner`: uid and gid of the copies.
    """
    _copy(source, target, (), report, reader or Quiet(), owner)


def _copy(
    source: int, target: int, parts: tuple[str, ...], report: Report, reader: Any, owner: tuple[int, int] | None
) -> None:
    with reader:
        names = sorted(os.listdir(source))
    for name in names:
        here = (*parts, name)
        try:
            with reader:
                stat = os.stat(name, dir_fd=source, follow_symlinks=False)
                if not report.admits(here, stat):
                    continue
                is_folder = stat.st_mode & 0o170000 == 0o040000
                inner = _open(source, name, is_folder)
        except OSError:
            report.refuse(here, "unreadable")
            continue
        try:
            if is_folder:
                os.mkdir(name, 0o755, dir_fd=target)
                copied = os.open(name, _FOLDER, dir_fd=target)
                _copy(inner, copied, here, report, reader, owner)
            else:
                copied = os.open(name, _NEW, 0o644, dir_fd=target)
                _copy_bytes(inner, copied, stat.st_size)
            if owner is not None:
                os.fchown(copied, *owner)
            os.close(copied)
        finally:
            os.close(inner)


def _open(parent: int, name: str, is_folder: bool) -> int:
    try:
        return os.open(name, _FOLDER if is_folder else _FILE, dir_fd=parent)
    except PermissionError:
        # Mode 000 set by the run on its own file: same owner, so it can be set right.
        os.chmod(name, 0o755 if is_folder else 0o644, dir_fd=parent)
        return os.open(name, _FOLDER if is_folder else _FILE, dir_fd=parent)


def _copy_bytes(source: int, target: int, size: int) -> None:
    left = size
    while left > 0 and (data := os.read(source, min(left, 1 << 20))):
        left -= len(data)
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]


def clean_folder(folder: int, report: Report, owner: tuple[int, int] | None = None) -> None:
    """Make a folder that a run could write to harmless in place: what would not be taken is removed."""
    _clean(folder, (), report, owner)


def _clean(folder: int, parts: tuple[str, ...], report: Report, owner: tuple[int, int] | None) -> None:
    for name in sorted(os.listdir(folder)):
        here = (*parts, name)
        stat = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not report.admits(here, stat):
            remove(folder, name)
            continue
        is_folder = stat.st_mode & 0o170000 == 0o040000
        inner = _open(folder, name, is_folder)
        try:
            opened = os.fstat(inner)
            if (opened.st_ino, opened.st_dev) != (stat.st_ino, stat.st_dev) or (not is_folder and opened.st_nlink != 1):
                continue  # swapped while we looked: its owner plays games, and is not helped with it
            os.fchmod(inner, 0o755 if is_folder else 0o644)
            if owner is not None and (stat.st_uid, stat.st_gid) != owner:
                os.fchown(inner, *owner)
            if is_folder:
                _clean(inner, here, report, owner)
        finally:
            os.close(inner)


def remove(parent: int, name: str) -> None:
    """Remove an entry of the folder `parent`, whatever it is and however deep it goes; nothing if it is gone."""
    try:
        stat = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.st_mode & 0o170000 != 0o040000:
        os.unlink(name, dir_fd=parent)
        return
    top = _open(parent, name, True)
    try:
        _empty(top)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=parent)


def _empty(top: int) -> None:
    """Empty a folder. Inner folders are first moved to the top, so that depth needs neither stack nor path."""
    os.fchmod(top, 0o700)
    moved = 0
    while names := os.listdir(top):
        for name in names:
            if os.stat(name, dir_fd=top, follow_symlinks=False).st_mode & 0o170000 != 0o040000:
                os.unlink(name, dir_fd=top)
                continue
            inner = _open(top, name, True)
            try:
                os.fchmod(inner, 0o700)
                for entry in os.listdir(inner):
                    if os.stat(entry, dir_fd=inner, follow_symlinks=False).st_mode & 0o170000 == 0o040000:
                        moved += 1
                        os.rename(entry, f".removed-{os.getpid()}-{moved}", src_dir_fd=inner, dst_dir_fd=top)
                    else:
                        os.unlink(entry, dir_fd=inner)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
