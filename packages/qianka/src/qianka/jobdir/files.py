"""Reading and writing the small files of a job directory: whole, durable, never through a link."""

from __future__ import annotations

import os

from qianka.jobdir.codec import FormatError, dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CAP = 1 << 20
"""bytes; no file of a job directory that is read whole is longer"""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_text(path: str, text: str) -> None:
    """Put `text` at `path` whole or not at all, and on disk when this returns."""
    name = write_aside(path, text)
    os.rename(name, path)
    sync_folder(os.path.dirname(path))


def write_json(path: str, value: Any) -> None:
    """Put `value` at `path` as JSON, whole or not at all, and on disk when this returns."""
    write_text(path, dumps(value) + "\n")


def write_once(path: str, value: Any) -> bool:
    """Put `value` at `path` unless something is there. Returns whether this call was the one."""
    name = write_aside(path, dumps(value) + "\n")
    try:
        os.link(name, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(name)
    sync_folder(os.path.dirname(path))
    return True


def write_aside(path: str, text: str) -> str:
    """Write `text` to a fresh file beside `path` and to the disk; returns its name."""
    name = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(name, _NEW, 0o644)
    try:
        write_all(descriptor, text.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return name


def write_all(descriptor: int, data: bytes | bytearray | memoryview) -> None:
    """Write all of `data`."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_folder(path: str) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_bytes(path: str, cap: int = CAP) -> bytes:
    """The content of a regular file. Raises FormatError when it is longer than `cap` bytes or no file."""
    descriptor = os.open(path, _READ)
    try:
        if os.fstat(descriptor).st_mode & 0o170000 != 0o100000:
            raise FormatError(f"{path}: not a regular file")
        parts = []
        left = cap + 1
        while left and (part := os.read(descriptor, min(left, 1 << 16))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(descriptor)
    if not left:
        raise FormatError(f"{path}: longer than {cap} bytes")
    return b"".join(parts)


def read_json(path: str, cap: int = CAP) -> dict[str, Any]:
    """The JSON object at `path`.

    Raises FileNotFoundError, or FormatError (naming the file) for anything but one object in UTF-8.
    """
    data = read_bytes(path, cap)
    try:
        value = loads(data.decode())
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None
    if not isinstance(value, dict):
        raise FormatError(f"{path}: not an object")
    return value
