"""Sending a descriptor along with a message over a Unix socket."""

from __future__ import annotations

import array
import os
from _socket import SCM_RIGHTS, SOL_SOCKET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def send(line: Any, word: bytes, descriptor: int | None) -> None:
    """Send `word`, and with its first bytes `descriptor` (None: none), which is closed here. Raises OSError."""
    rights = [] if descriptor is None else [(SOL_SOCKET, SCM_RIGHTS, array.array("i", [descriptor]))]
    try:
        sent = line.sendmsg([word], rights)
    finally:
        if descriptor is not None:
            os.close(descriptor)
    line.sendall(word[sent:])
