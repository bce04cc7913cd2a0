"""Reading what a run printed, while it runs and afterwards.

An offset counts bytes of the stream as the program wrote it, so one that was handed out while the
run went on still means the same place when the middle has been left out.
"""

from __future__ import annotations

import os

from qianka.jobdir.codec import FormatError
from qianka.jobdir.files import CAP, read_bytes
from qianka.jobdir.layout import log_path, run_dir
from qianka.jobdir.stream import character_cut, omission

_CHUNK = 1 << 18
_TAIL_CAP = 64 * CAP


def read_log(
    directory: str | os.PathLike[str], run: int, stream: str, offset: int = 0, size: int = _CHUNK
) -> tuple[str, int]:
    """Text of `stdout` or `stderr` from `offset` on, about `size` bytes of it, and the next offset.

    ("", offset) when there is nothing new or the run has not begun. What was left out is said in
    one line of the text. The text is the program's own: show it through `printable`.
    """
    path = log_path(directory, run, stream)
    tail = _read_tail(path[: -len(".log")] + ".tail")
    if tail is None:
        return _head(path, offset, size, None, _ended(directory, run))
    head, start, end, kept = tail
    if offset < head:
        return _head(path, offset, size, head, False)
    if offset >= end:
        return "", offset
    if kept is None:
        kept = _end_of(path, end - start)
    note = omission(start - offset) if offset < start else ""
    place = max(offset, start)
    data = _whole(kept[place - start :][:size], place + size >= end and _ended(directory, run))
    return note + data.decode("utf-8", "replace"), place + len(data)


def _ended(directory: str | os.PathLike[str], run: int) -> bool:
    folder = run_dir(directory, run)
    return any(os.path.lexists(os.path.join(folder, name)) for name in ("result.json", "result.stale.json"))


def _head(path: str, offset: int, size: int, head: int | None, ended: bool) -> tuple[str, int]:
    try:
        data = _slice(path, offset, size if head is None else min(size, head - offset))
    except FileNotFoundError:
        return "", offset
    data = _whole(data, offset + len(data) == head or (ended and len(data) < size))
    return data.decode("utf-8", "replace"), offset + len(data)


def _whole(data: bytes, complete: bool) -> bytes:
    """`data` up to its last whole character; a half one comes with the next reading, unless none follows."""
    return data if complete or not _split(data) else data[: character_cut(data, len(data) - 1)]


def _split(data: bytes) -> bool:
    """Whether `data` ends within a UTF-8 character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            need = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return need > back
    return False


def _slice(path: str, offset: int, size: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, max(size, 0), offset)
    finally:
        os.close(descriptor)


def _end_of(path: str, size: int) -> bytes:
    return _slice(path, os.stat(path).st_size - size, size)


def _read_tail(path: str) -> tuple[int, int, int, bytes | None] | None:
    """Bytes of head, the tail's place in the stream, and its bytes where they are in this file."""
    try:
        line, _, kept = read_bytes(path, _TAIL_CAP).partition(b"\n")
    except FileNotFoundError:
        return None
    words = line.split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        raise FormatError(f"{path}: not the tail of a log")
    head, start, end = (int(word) for word in words)
    return head, start, end, kept if len(kept) == end - start else None
