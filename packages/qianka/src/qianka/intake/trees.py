"""A checked hand-in on disk: its files, its hash, read-only and named by that hash."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qianka.errors import Text

_SYNC_ONE_BY_ONE = 64


@dataclass(frozen=True, order=True)
class File:
    """One file of a tree: its path with `/`, size in bytes, SHA-256 in hex."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Tree:
    """A checked tree; `notes` tell what was dropped, unwrapped or guessed on the way."""

    folder: Path
    files: tuple[File, ...]
    notes: tuple[Text, ...]
    digest: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


def digest_of(files: Iterable[File]) -> str:
    """The hash of a tree: over the sorted pairs of path and content hash, nothing else."""
    pairs = sorted((file.path, file.sha256) for file in files)
    return hashlib.sha256(json.dumps(pairs, ensure_ascii=False, separators=(",", ":")).encode("utf-8")).hexdigest()


def measure(folder: Path) -> tuple[File, ...]:
    """The files that are really below a folder now, hashed; for comparison with what was handed in."""
    files = []
    for base, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in names:
            path = Path(base) / name
            relative = path.relative_to(folder).as_posix()
            if not stat.S_ISREG(path.lstat().st_mode):
                files.append(File(relative, 0, "not a file"))
                continue
            with path.open("rb") as opened:
                sha = hashlib.sha256()
                while piece := opened.read(1 << 16):
                    sha.update(piece)
            files.append(File(relative, path.stat().st_size, sha.hexdigest()))
    return tuple(sorted(files))


def keep(folder: Path, dest: Path, digest: str, files: Sequence[File]) -> Path:
    """Move a finished folder that lies in `dest` to its name `digest`; one that is there already stays."""
    final = dest / digest
    if final.is_dir():
        remove(folder)
        return final
    _make_durable(folder, files)
    _lock(folder)
    try:
        folder.rename(final)
    except OSError:
        if not final.is_dir():  # otherwise another hand-in of the same files was quicker
            raise
        remove(folder)
    return final


def remove(folder: Path) -> None:
    """Delete a tree, read-only as it may be; nothing happens when there is none."""
    if not folder.is_dir() or folder.is_symlink():
        return
    for base, _, _ in os.walk(folder, followlinks=False):
        os.chmod(base, 0o700)
    shutil.rmtree(folder)


def _make_durable(folder: Path, files: Sequence[File]) -> None:
    if len(files) > _SYNC_ONE_BY_ONE:
        os.sync()
        return
    for file in files:
        descriptor = os.open(folder / file.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _lock(folder: Path) -> None:
    for base, _, names in os.walk(folder, topdown=False, followlinks=False):
        for name in names:
            os.chmod(os.path.join(base, name), 0o444)
        os.chmod(base, 0o555)  # noqa: S103 - a run under another uid must be able to read it
