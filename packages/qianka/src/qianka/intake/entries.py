"""What an archive is made of, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

CHUNK = 1 << 16

Kind = Literal["file", "folder", "link", "hard link", "device", "pipe", "other"]

KIND_WORDS: dict[Kind, tuple[str, str]] = {
    "link": ("符号链接", "a symbolic link"),
    "hard link": ("硬链接", "a hard link"),
    "device": ("设备文件", "a device"),
    "pipe": ("命名管道", "a pipe"),
    "other": ("特殊文件", "a special file"),
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry; `size` is what the archive claims and is never trusted, `guess` the name's guessed encoding."""

    name: str
    guess: str | None
    kind: Kind
    size: int = 0
    is_encrypted: bool = False


class Source(Protocol):
    """An opened archive or folder."""

    packed: int
    """its size in bytes, for the ratio; 0: no ratio applies"""

    def entries(self) -> Iterator[Entry]:
        """Each entry in turn."""

    def read(self) -> Iterator[bytes]:
        """The bytes of the entry that came last, in pieces of at most CHUNK; may be left unread."""

    def close(self) -> None:
        """Let go of the file."""
