"""What of a data directory belongs into a backup, found without following any link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LEFT_OUT = frozenset({"run", "incoming", "cache", "runtime", "restoring"})
"""sockets, uploads in flight, what can be fetched or built again"""
_DATABASE = "qianka.db"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Found(NamedTuple):
    """A file or folder; `path` relative to the data directory."""

    path: str
    stat: os.stat_result
    is_folder: bool


def walk(root: Path, jobs: frozenset[str] | set[str]) -> Iterator[Found]:
    """Folders before what is in them; of the job directories those of `jobs`. What vanishes meanwhile is passed over.

    Links, sockets and devices are never part of a backup. Whatever a later version keeps in a folder of
    its own is.
    """
    for name in sorted(os.listdir(root)):
        if is_left_out(name):
            continue
        if name == "jobs":
            yield from _jobs(root, jobs)
        else:
            yield from _below(root, name)


def is_left_out(name: str) -> bool:
    """Whether what lies so named in a data directory is in no backup."""
    return name in LEFT_OUT or name.startswith((".", _DATABASE))


def _jobs(root: Path, jobs: frozenset[str] | set[str]) -> Iterator[Found]:
    folder = _look(root / "jobs")
    if folder is not None:
        yield Found("jobs", folder, is_folder=True)
        for name in sorted(set(os.listdir(root / "jobs")) & jobs):
            yield from _below(root, f"jobs/{name}")


def _below(root: Path, path: str) -> Iterator[Found]:
    stat = _look(root / path)
    if stat is None:
        return
    kind = stat.st_mode & 0o170000
    if kind == 0o100000:
        yield Found(path, stat, is_folder=False)
    elif kind == 0o040000:
        try:
            descriptor = os.open(root / path, _FOLDER)
        except FileNotFoundError:
            return
        try:
            names = sorted(os.listdir(descriptor))
        finally:
            os.close(descriptor)
        yield Found(path, stat, is_folder=True)
        for name in names:
            # What begins so is still being written, beside the place where it will lie.
            if not name.startswith((".taking-", ".made-", ".public-")):
                yield from _below(root, f"{path}/{name}")


def _look(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
