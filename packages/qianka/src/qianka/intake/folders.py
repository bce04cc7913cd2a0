"""A plain folder as a source of entries; links are reported, never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from qianka.intake.entries import CHUNK, Entry, Kind
from qianka.intake.litter import is_litter
from qianka.intake.names import decode
from qianka.intake.refusals import damaged, too_many
from qianka.intake.rules import Rules

_KINDS: dict[int, Kind] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
    stat.S_IFIFO: "pipe",
}


class FolderSource:
    """The files below a folder, in the order of their names."""

    packed = 0

    def __init__(self, folder: Path, rules: Rules) -> None:
        self._folder = os.fsencode(folder)
        self._limit = rules.max_listed
        self._current = b""

    def entries(self) -> Iterator[Entry]:
        count = 0
        waiting = [b""]
        while waiting:
            below = waiting.pop()
            found = sorted(os.listdir(os.path.join(self._folder, below)))
            folders = []
            for part in found:
                count += 1
                if count > self._limit:
                    raise too_many(self._limit)
                raw = os.path.join(below, part)
                status = os.lstat(os.path.join(self._folder, raw))
                kind = _KINDS.get(stat.S_IFMT(status.st_mode), "other")
                name = decode(raw)
                if kind == "folder" and not is_litter(name.text):
                    folders.append(raw)
                self._current = raw
                # A UTF-8 name is the rule in a folder: there is nothing to tell.
                guess = None if name.guess == "UTF-8" else name.guess
                yield Entry(name=name.text, guess=guess, kind=kind, size=status.st_size)
            waiting.extend(reversed(folders))

    def read(self) -> Iterator[bytes]:
        path = os.path.join(self._folder, self._current)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise damaged("文件在读取时被换掉了", "a file was replaced while it was read")
            while piece := file.read(CHUNK):
                yield piece

    def close(self) -> None:
        return None
