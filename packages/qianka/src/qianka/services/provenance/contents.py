"""Hashing what a job ran and left: bounded in files and bytes, never through a link, on no queue's critical path.

A folder of a job may have been filled by anybody's program, and on a cluster its owner can still change it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILES = 2000
"""of one folder"""
FILE_BYTES = 512 << 20
TOTAL_BYTES = 4 << 30
DEPTH = 32
_TOLD = 20
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class Content:
    """A file by its content; `size` in bytes."""

    path: str
    size: int
    sha256: str


@dataclass
class Contents:
    """What was hashed, and what was not and why."""

    files: list[Content] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    """at most 20 of them"""

    def skip(self, path: str, size: int, why: str) -> None:
        """Note a file that was not hashed."""
        if len(self.skipped) < _TOLD:
            self.skipped.append({"path": path, "size": size, "why": why})


def of_folder(folder: Path, *, files: int = FILES, file_bytes: int = FILE_BYTES, total: int = TOTAL_BYTES) -> Contents:
    """Everything below `folder`, by name. Raises FileNotFoundError when it is not there, OSError."""
    found = Contents()
    left = total
    if not folder.is_dir():
        raise FileNotFoundError(folder)
    for place, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        inside = os.path.relpath(place, folder)
        folders[:] = sorted(folders) if inside.count(os.sep) + 1 < DEPTH else []
        for name in sorted(names):
            path = _text(name if inside == "." else os.path.join(inside, name))
            try:
                what = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if not stat.S_ISREG(what.st_mode):
                continue
            if len(found.files) >= files:
                found.skip(path, what.st_size, "too_many")
            elif what.st_size > min(file_bytes, left):
                found.skip(path, what.st_size, "too_large" if what.st_size > file_bytes else "too_much")
            elif (content := _hashed(name, descriptor, path, min(file_bytes, left))) is None:
                found.skip(path, what.st_size, "changed")
            else:
                left -= content.size
                found.files.append(content)
    return found


def _hashed(name: str, folder: int, path: str, most: int) -> Content | None:
    """One file; None when it is no longer the regular file of at most `most` bytes that it was."""
    digest, size = hashlib.sha256(), 0
    try:
        descriptor = os.open(name, _FLAGS, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        while data := file.read(1 << 20):
            size += len(data)
            if size > most:
                return None
            digest.update(data)
    return Content(path, size, digest.hexdigest())


def _text(path: str) -> str:
    # A name that is no UTF-8 cannot be stored as text.
    return os.fsencode(path).decode("utf-8", "replace")[:1000]
