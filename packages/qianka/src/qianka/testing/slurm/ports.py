"""Free ports below the kernel's own range, in a row."""

from __future__ import annotations

import random
import socket

_FIRST, _LAST = 20_000, 30_000


def free_row(count: int) -> int:
    """The first of `count` ports in a row that nobody listens on just now. Raises OSError."""
    for _ in range(200):
        first = random.SystemRandom().randrange(_FIRST, _LAST - count)
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise OSError(f"no {count} free ports in a row between {_FIRST} and {_LAST}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
