"""Keeping one output stream of a run: the head at once, the tail in memory, the middle only counted.

On disk: `stdout.log` grows by the head; when that is full, `stdout.tail` is rewritten now and then
with one line "HEAD START END" (bytes of head, offsets of the tail in the stream) and the tail's
bytes. At the end the log becomes head, a line saying how much was left out, tail; and the `.tail`
file keeps its first line alone.
"""

from __future__ import annotations

import os

from qianka.jobdir.files import write_all
from qianka.jobdir.layout import log_path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Stream:
    """The keeper of one stream; never holds more than twice half of `keep` bytes."""

    def __init__(self, directory: str | os.PathLike[str], run: int, name: str, keep: int) -> None:
        self.path = log_path(directory, run, name)
        self.total = 0
        self.begin = b""
        """the first bytes, for messages"""
        self._head = 0
        self._head_limit = max(keep // 2, 16)
        self._full = False
        self._tail = bytearray()
        self._tail_limit = max(keep // 2, 16)
        self._shown = 0
        self._file = os.open(self.path, _NEW, 0o644)

    def take(self, data: bytes) -> None:
        """Keep what belongs to head or tail of `data`, count the rest."""
        self.total += len(data)
        if len(self.begin) < 1000:
            self.begin += data[:1000]
        if not self._full:
            cut = min(len(data), max(self._head_limit - self._head, 0))
            # A character that began within the head is kept whole: at most three bytes more.
            while cut < len(data) and self._head + cut < self._head_limit + 3 and data[cut] & 0xC0 == 0x80:
                cut += 1
            self._full = cut < len(data)
            write_all(self._file, memoryview(data)[:cut])
            self._head += cut
            data = data[cut:]
        self._tail += data
        # Trimmed at twice the size, so that each byte is moved once on average.
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: -self._tail_limit]

    def show(self) -> None:
        """Bring the `.tail` file up to date, for those who read along."""
        if self._full and self._shown != self.total:
            self._write_tail(self._kept())
            self._shown = self.total

    def close(self) -> None:
        """Write the end of the log and close it."""
        if self._full:
            tail = self._kept()
            omitted = self.total - self._head - len(tail)
            write_all(self._file, (omission(omitted).encode() if omitted else b"") + tail)
            os.fsync(self._file)
            self._write_tail(tail, with_bytes=False)
        os.close(self._file)

    def _kept(self) -> bytes:
        tail = bytes(self._tail[-self._tail_limit :])
        if self.total - self._head > len(tail):
            tail = tail[_continued(tail) :]
        return tail

    def _write_tail(self, tail: bytes, *, with_bytes: bool = True) -> None:
        line = f"{self._head} {self.total - len(tail)} {self.total}\n".encode()
        name = self.path[: -len(".log")] + ".tail"
        aside = f"{name}.{os.getpid()}"
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            write_all(descriptor, line + tail if with_bytes else line)
        finally:
            os.close(descriptor)
        os.rename(aside, name)


def omission(count: int) -> str:
    """The line that stands where `count` bytes were left out."""
    return f"\n…省略 {count} 字节 / {count} bytes omitted…\n"


def character_cut(data: bytes, at: int) -> int:
    """The last place not after `at` where `data` can be cut without splitting a UTF-8 character."""
    for back in range(min(4, at + 1)):
        place = at - back
        if place >= len(data) or data[place] & 0xC0 != 0x80:
            return place
    return at


def _continued(data: bytes) -> int:
    count = 0
    while count < min(3, len(data)) and data[count] & 0xC0 == 0x80:
        count += 1
    return count
