"""Tells the worker that there is something to do: one datagram, which may be lost."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path


class Wake:
    """Sends to the worker's socket in the data directory; the worker looks by itself as well."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __call__(self) -> None:
        # No worker, a full buffer, a path too long for a socket: its own timer will do.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, contextlib.suppress(OSError):
            sender.setblocking(False)
            sender.sendto(b"w", self.path)
