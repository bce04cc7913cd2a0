"""Our end of the socket: asks the student's side for one thing at a time, each within its own time limit.

Nothing that comes back is believed to be more than what the student's code returned. Whatever goes wrong over
there is told as one of the exceptions below; none of them is a fault of ours.
"""

from __future__ import annotations

import os
import re
import select
import socket
import time
from typing import Any

from qianka.grading.harness.wire import LONGEST, Nonsense, decode, dumps, encode, loads

VARIABLE = "QIANKA_SOCKET"
PATIENCE = 10.0
"""seconds that the other side's own parent process may take to end and start its child"""
STALE = 1000
"""answers to earlier requests that are skipped before the other side counts as raving"""
_CHUNK = 1 << 18
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}")


class PeerError(Exception):
    """Something that is the student's side's own; `code` is one word for it."""

    code = "error"


class Raised(PeerError):
    """The student's code raised an exception. `mro`: names of its type and its bases."""

    code = "raised"

    def __init__(self, told: dict[str, Any]) -> None:
        self.exception = _name(told.get("type")) or "Exception"
        bases = told.get("mro")
        found = [name for item in (bases if isinstance(bases, list) else [])[:30] if (name := _name(item))]
        self.mro: tuple[str, ...] = (self.exception, *found)
        self.message = clean(told.get("message"), 300)
        self.file = clean(told.get("file"), 200) or None
        line = told.get("line")
        self.line = line if type(line) is int and 0 < line < 10**7 else None
        self.at_import = told.get("at_import") is True
        super().__init__(self.exception + (f": {self.message}" if self.message else ""))


class TimedOut(PeerError):
    """One request took longer than it may; the student's process was ended and starts anew."""

    code = "timeout"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"no answer within {seconds:g} s")


class Ended(PeerError):
    """The student's process ended while it was asked (sys.exit inside C, os._exit, a crash, out of memory)."""

    code = "ended"

    def __init__(self, exit_code: int | None, signal: int | None) -> None:
        self.exit_code, self.signal = exit_code, signal
        super().__init__(f"the process ended, exit code {exit_code}, signal {signal}")


class Unreadable(PeerError):
    """An answer that breaks the bounds of a message: too long, too deep, no JSON."""

    code = "unreadable"


class Gone(PeerError):
    """There is no other side any more: every further request ends here."""

    code = "gone"


class Link:
    """The socket that the supervisor has handed us, and the requests over it."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._socket.setblocking(False)
        self._waiting = bytearray()
        self._number = 0
        self._gone: str | None = None
        self.answers = 0
        """how many values or exceptions of the student's code have come in"""

    def ask(self, do: str, seconds: float, *, grace: float = 0.0, **fields: Any) -> dict[str, Any]:
        """One request; the answer's `ok` table, raw. Raises PeerError; wire.Nonsense when it cannot be written.

        `grace`: seconds that the code gets after a KeyboardInterrupt at the limit, before its process is ended.
        """
        if self._gone is not None:
            raise Gone(self._gone)
        self._number += 1
        line = dumps({"n": self._number, "do": do, **fields})
        end = time.monotonic() + seconds
        try:
            self._send(line, end)
            answer = self._patient_answer(end, grace)
        except TimeoutError:
            self.restart()
            raise TimedOut(seconds) from None
        except Nonsense as error:
            # A stream that cannot be followed any more: where one message ends is not known.
            self._lose(str(error))
            raise Unreadable(str(error)) from None
        self.answers += do != "begin"
        return _settled(answer)

    def value(self, do: str, seconds: float, **fields: Any) -> Any:
        """One request that gives a value. Raises PeerError."""
        try:
            return decode(self.ask(do, seconds, **fields).get("value"))
        except Nonsense as error:
            raise Unreadable(str(error)) from None

    def begin(self, seconds: float, **options: Any) -> None:
        """A fresh student's process: `path` (folders to import from), `cwd`, `shell`. Raises PeerError."""
        self.ask("begin", seconds, **options)

    def restart(self) -> None:
        """End the student's process; the next request starts another with the options of the last `begin`."""
        if self._gone is not None:
            return
        self._number += 1
        end = time.monotonic() + PATIENCE
        try:
            self._send(dumps({"n": self._number, "do": "restart"}), end)
            self._answer(end)
        except (TimeoutError, Nonsense, Gone) as error:
            self._lose(f"the other side does not obey: {error}")

    def interrupt(self) -> None:
        """Ask for a KeyboardInterrupt in what runs now; no answer of its own comes."""
        self._send(dumps({"n": 0, "do": "interrupt"}), time.monotonic() + PATIENCE)

    def close(self) -> None:
        """The end: the other side sees the end of the stream and leaves."""
        self._gone = self._gone or "closed"
        self._socket.close()

    def _lose(self, why: str) -> None:
        self._gone = why
        self._socket.close()

    def _send(self, line: bytes, end: float) -> None:
        rest = memoryview(line)
        while rest:
            self._wait(select.POLLOUT, end)
            try:
                rest = rest[self._socket.send(rest[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                self._lose("the other side has closed the connection")
                raise Gone(str(self._gone)) from error

    def _patient_answer(self, end: float, grace: float) -> dict[str, Any]:
        try:
            return self._answer(end)
        except TimeoutError:
            if not grace:
                raise
            self.interrupt()
            return self._answer(end + grace)

    def _answer(self, end: float) -> dict[str, Any]:
        """The answer to the newest request; those to earlier ones, which came too late, are skipped."""
        for _ in range(STALE):
            message = loads(self._line(end))
            number = message.get("n")
            if type(number) is int and number == self._number:
                return message
        raise Nonsense("answers that nobody asked for")

    def _line(self, end: float) -> bytes:
        searched = 0
        while (cut := self._waiting.find(b"\n", searched)) < 0:
            searched = len(self._waiting)
            if searched > LONGEST:
                raise Nonsense("a message that is too long")
            self._wait(select.POLLIN, end)
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self._lose("the student's side has ended")
                raise Gone(str(self._gone))
            self._waiting += data
        line = bytes(self._waiting[:cut])
        del self._waiting[: cut + 1]
        return line

    def _wait(self, event: int, end: float) -> None:
        poller = select.poll()
        poller.register(self._socket, event)
        left = end - time.monotonic()
        if left <= 0 or not poller.poll(left * 1000):
            raise TimeoutError("no answer in time")


def connect(variables: dict[str, str]) -> Link:
    """The link that the supervisor tells of in QIANKA_SOCKET: a descriptor's number, or the path of a socket."""
    told = variables[VARIABLE]
    if told.isdecimal():
        sock = socket.socket(fileno=int(told))
        os.set_inheritable(int(told), False)
        return Link(sock)
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(told)
    return Link(sock)


def written(value: Any) -> Any:
    """An argument as it goes into a request. Raises Nonsense for what cannot cross."""
    return encode(value)


def clean(text: object, most: int) -> str:
    """Text of the other side, fit to be kept and shown: one line, no control characters, no half characters."""
    if not isinstance(text, str):
        return ""
    shown = "".join(c if c.isprintable() else " " for c in text[: 4 * most])
    return " ".join(shown.split())[:most]


def _settled(answer: dict[str, Any]) -> dict[str, Any]:
    """The `ok` table of an answer. Raises the PeerError it tells of."""
    raised, ended, ok = answer.get("raised"), answer.get("ended"), answer.get("ok")
    if isinstance(raised, dict):
        raise Raised(raised)
    if isinstance(ended, dict):
        codes = [value if type(value) is int else None for value in (ended.get("exit_code"), ended.get("signal"))]
        raise Ended(codes[0], codes[1])
    if isinstance(ok, dict):
        return ok
    raise Unreadable("neither a value nor an exception")


def _name(value: object) -> str:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else ""
