"""Lines of JSON over a stream socket, every wait with an end measured here."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

from qianka.grading.harness import wire

VARIABLE = "QIANKA_SOCKET"


class Late(Exception):
    """Nothing came in time."""


class Closed(Exception):
    """The other side is gone, or speaks nonsense."""


class Link:
    """One end of a conversation in lines."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream
        self._buffer = bytearray()
        self._looked = 0

    def send(self, line: bytes, seconds: float = 10.0) -> None:
        """Write one line. Raises Late, Closed."""
        self.stream.settimeout(max(0.01, seconds))
        try:
            self.stream.sendall(line)
        except TimeoutError:
            raise Late from None
        except OSError as error:
            raise Closed(str(error)) from None

    def line(self, until: float | None) -> bytes:
        """The next line without its end; `until`: an instant of time.monotonic(). Raises Late, Closed."""
        while True:
            at = self._buffer.find(b"\n", self._looked)
            if at >= 0:
                line = bytes(self._buffer[:at])
                del self._buffer[: at + 1]
                self._looked = 0
                return line
            self._looked = len(self._buffer)
            if self._looked > wire.LONGEST + 64:
                raise Closed("a line without an end")
            self._more(until)

    def message(self, until: float | None) -> dict[str, Any]:
        """The next line as a message. Raises Late, Closed."""
        try:
            return wire.loads(self.line(until))
        except wire.Nonsense as error:
            raise Closed(str(error)) from None

    def _more(self, until: float | None) -> None:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise Late
        self.stream.settimeout(left)
        try:
            piece = self.stream.recv(1 << 18)
        except TimeoutError:
            raise Late from None
        except OSError as error:
            raise Closed(str(error)) from None
        if not piece:
            raise Closed("the end")
        self._buffer += piece


def connect(told: str) -> socket.socket:
    """The socket that the supervisor tells of in QIANKA_SOCKET: a descriptor's number, or a path."""
    if told.isdecimal():
        stream = socket.socket(fileno=int(told))
        os.set_inheritable(stream.fileno(), False)
        return stream
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(told)
    return stream
