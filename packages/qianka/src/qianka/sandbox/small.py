"""Reading and writing the kernel's one-value files, without the text layer (and its imports) of `open`."""

from __future__ import annotations

import os


def read(path: str, size: int = 1 << 20) -> str:
    """The file's text, at most `size` bytes. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while size > 0 and (part := os.read(descriptor, min(size, 1 << 16))):
            parts.append(part)
            size -= len(part)
    finally:
        os.close(descriptor)
    return b"".join(parts).decode("utf-8", "replace")


def write(path: str, value: int | str) -> None:
    """Write one value into an existing file. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)
