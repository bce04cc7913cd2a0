"""The content of files by its hash: each once, shared with the backup before where that is possible."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path
from typing import BinaryIO

_PIECE = 1 << 20


class Objects:
    """The folder objects/ of a backup; `earlier`: one of the same file system from which content is linked."""

    def __init__(self, folder: Path, earlier: Path | None = None) -> None:
        self.folder = folder / "objects"
        self._earlier = None if earlier is None else earlier / "objects"

    def path(self, sha256: str) -> Path:
        """Where the content with that hash lies."""
        return self.folder / sha256[:2] / sha256

    def has(self, sha256: str) -> bool:
        """Whether it is here, or could be taken from the backup before."""
        if self.path(sha256).exists():
            return True
        if self._earlier is None:
            return False
        target = self.path(sha256)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(OSError):  # gone, another file system, no hard links there
            os.link(self._earlier / sha256[:2] / sha256, target, follow_symlinks=False)
            return True
        return False

    def put(self, source: BinaryIO) -> tuple[str, int]:
        """Keep the content of an open file: its hash and size."""
        self.folder.mkdir(exist_ok=True, mode=0o700)
        aside = self.folder / f".{secrets.token_hex(8)}"
        digest, size = hashlib.sha256(), 0
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as target:
                while piece := source.read(_PIECE):
                    digest.update(piece)
                    size += len(piece)
                    target.write(piece)
            sha256 = digest.hexdigest()
            if self.has(sha256):
                aside.unlink()
            else:
                self.path(sha256).parent.mkdir(exist_ok=True, mode=0o700)
                aside.rename(self.path(sha256))
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        return sha256, size


def copy_hashed(source: BinaryIO, target: BinaryIO | None) -> tuple[str, int]:
    """Copy (None: only read) a file; its hash and size."""
    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += len(piece)
        if target is not None:
            target.write(piece)
    return digest.hexdigest(), size
