"""Hears the datagrams by which the server says that there is something to do."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from qianka import logs

_LONGEST_PATH = 100  # of a socket's address, in bytes; the system's limit is 104 or 108

_log = logs.get("worker.wake")


class Ear:
    """Calls `heard` for each burst of datagrams until closed. Without a socket the loops look by themselves."""

    def __init__(self, path: Path, heard: Callable[[], None]) -> None:
        self._heard = heard
        self._socket: socket.socket | None = None
        self._folder: int | None = None
        try:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            path.unlink(missing_ok=True)
            self._socket.bind(self._address(path))
            os.chmod(path, 0o600)
        except OSError as error:
            _log.warning("no wake-up socket (%s): the loops look by themselves", error)
            self.close()
            return
        threading.Thread(target=self._listen, name="wake", daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # ends a recv in the other thread
            self._socket.close()
            self._socket = None
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None

    def _address(self, path: Path) -> str:
        if len(os.fsencode(path)) <= _LONGEST_PATH or not os.path.isdir("/proc/self/fd"):
            return str(path)
        self._folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._folder}/{path.name}"

    def _listen(self) -> None:
        while (listening := self._socket) is not None:
            try:
                if not listening.recv(64):
                    return  # shut down
            except OSError:
                return
            self._heard()
