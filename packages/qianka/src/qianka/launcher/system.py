"""The three system calls that Python lacks: unshare, mount, umount2. Linux only, root only."""

from __future__ import annotations

import ctypes
import os

NEW_MOUNTS = 0x00020000
RDONLY, NOSUID, NODEV, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
DETACH = 2

_libc = ctypes.CDLL(None, use_errno=True)


def own_mounts() -> None:
    """Give this process mounts of its own: what it mounts is seen by nobody else and goes with it. Raises OSError."""
    _check(_libc.unshare(NEW_MOUNTS), "unshare")
    mount(None, "/", None, REC | PRIVATE)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """mount(2). Raises OSError naming the target."""
    encoded = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    _check(
        _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), None if data is None else data.encode()),
        target,
    )


def bind(descriptor: int, target: str, *, writable: bool) -> None:
    """Mount what `descriptor` refers to at `target` too; without set-uid programs and device nodes."""
    mount(f"/proc/self/fd/{descriptor}", target, None, BIND)
    mount(None, target, None, REMOUNT | BIND | NOSUID | NODEV | (0 if writable else RDONLY))


def _check(result: int, name: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
