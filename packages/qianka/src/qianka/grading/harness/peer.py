"""The student's side of a paired run: a parent that relays lines, and a child in which the student's code runs.

    python -I /judge/qianka/grading/harness/peer.py --work /work

The parent is ours but lives among student code, which may kill it or write on its pipes: nobody believes it more
than the student's code itself. It ends a child that hangs and starts another, so that one bad function costs
one answer. Both directions are bounded, so that neither end can fill the memory of this one.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import select
import signal
import socket
import sys
import time
from typing import Any

sys.path.insert(0, os.path.abspath(__file__).rsplit("/", 4)[0])

from qianka.grading.harness.wire import LONGEST, Nonsense, dumps, loads

VARIABLE = "QIANKA_SOCKET"
HIGH = 1 << 20
"""bytes waiting for a reader, above which no more is read for it"""
_CHUNK = 1 << 18
_LOOK = 250
"""milliseconds after which a child that says nothing is looked at"""


class Child:
    """The process of the student's code: its pipes and what waits to be written to it."""

    def __init__(self, options: dict[str, Any], closing: int) -> None:
        to_child, self.to = _pipe()
        self.back, from_child = _pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _become(options, to_child, from_child, (self.to, self.back, closing))
        os.close(to_child)
        os.close(from_child)
        os.set_blocking(self.to, False)
        os.set_blocking(self.back, False)
        self.outgoing = bytearray()
        self.incoming = bytearray()
        self._status: int | None = None

    def ended(self) -> bool:
        """Whether it has ended; its pipes may be held open by a process that it left behind."""
        if self._status is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = status if found else None
        return self._status is not None

    def end(self) -> tuple[int | None, int | None]:
        """End it; (exit code, signal) as it ended."""
        os.close(self.to)
        os.close(self.back)
        until = time.monotonic() + 0.2
        while not self.ended() and time.monotonic() < until:  # it may be on its way out, with a code of its own
            time.sleep(0.002)
        _kill_group(self.pid)
        if self._status is None:
            self._status = os.waitpid(self.pid, 0)[1]
        code = os.waitstatus_to_exitcode(self._status)
        return (code, None) if code >= 0 else (None, -code)

    def kill(self) -> None:
        """End it at once."""
        _kill_group(self.pid)
        self.end()


class Relay:
    """Between the socket and the child."""

    def __init__(self, sock: socket.socket, work: str) -> None:
        self._socket = sock
        sock.setblocking(False)
        self._work = work
        self._child: Child | None = None
        self._options: dict[str, Any] = {"root": work}
        self._asked: int | None = None
        """number of the request that the child owes an answer to"""
        self._incoming = bytearray()
        self._outgoing = bytearray()

    def run(self) -> None:
        """Until the other side closes."""
        while self._step():
            pass
        if self._child is not None:
            self._child.kill()

    def _step(self) -> bool:
        poller = select.poll()
        wanted = select.POLLIN if self._child is None or len(self._child.outgoing) < LONGEST else 0
        poller.register(self._socket, wanted | (select.POLLOUT if self._outgoing else 0))
        if self._child is not None:
            if len(self._outgoing) < HIGH:
                poller.register(self._child.back, select.POLLIN)
            if self._child.outgoing:
                poller.register(self._child.to, select.POLLOUT)
        child = self._child
        ready = poller.poll(None if child is None else _LOOK)
        if not ready and child is not None and child.ended():
            self._lose(child)
        for descriptor, event in ready:
            if descriptor == self._socket.fileno():
                if event & select.POLLOUT:
                    self._flush()
                if event & ~select.POLLOUT and not self._hear():
                    return False
            elif child is not None and child is self._child:
                if descriptor == child.to:
                    self._feed(child)
                else:
                    self._take(child)
        return True

    def _hear(self) -> bool:
        """Requests; False when there is nobody any more to answer."""
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._incoming += data
        while (cut := self._incoming.find(b"\n")) >= 0:
            line = bytes(self._incoming[:cut])
            del self._incoming[: cut + 1]
            self._obey(line)
        return bool(data)

    def _obey(self, line: bytes) -> None:
        request = loads(line)
        number, do = request["n"], request["do"]
        if do == "interrupt":
            if self._child is not None:
                os.kill(self._child.pid, signal.SIGINT)
            return
        if do in ("begin", "restart"):
            if do == "begin":
                given = {key: value for key, value in request.items() if key not in ("n", "do")}
                self._options = {"root": self._work, **given}
            if self._child is not None:
                self._child.kill()
                self._child = None
            self._asked = None
            if do == "restart":
                self._outgoing += dumps({"n": number, "ok": {}})
                return
        if self._child is None:
            self._child = Child(self._options, self._socket.fileno())
        self._asked = number
        self._child.outgoing += line + b"\n"

    def _feed(self, child: Child) -> None:
        try:
            del child.outgoing[: os.write(child.to, child.outgoing[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self._lose(child)

    def _take(self, child: Child) -> None:
        """Answers of the child, whole lines only."""
        try:
            data = os.read(child.back, _CHUNK)
        except BlockingIOError:
            return
        child.incoming += data
        cut = child.incoming.rfind(b"\n") + 1
        if cut:
            self._outgoing += child.incoming[:cut]
            del child.incoming[:cut]
        if not data or len(child.incoming) > LONGEST:
            self._lose(child)

    def _lose(self, child: Child) -> None:
        """The child has ended, or talks without end."""
        code, number = child.end()
        self._child = None
        if self._asked is not None:
            self._outgoing += dumps({"n": self._asked, "ended": {"exit_code": code, "signal": number}})
            self._asked = None

    def _flush(self) -> None:
        try:
            del self._outgoing[: self._socket.send(self._outgoing[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing.clear()  # nobody reads any more; the next look sees the end


def _pipe() -> tuple[int, int]:
    """A pipe with room for a long message, where the system grants it: each refill costs two turns of the scheduler."""
    reading, writing = os.pipe()
    with contextlib.suppress(OSError, AttributeError):  # another system, or a user with many pipes already
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, HIGH)
    return reading, writing


def _become(options: dict[str, Any], reading: int, writing: int, others: tuple[int, ...]) -> None:
    """In the child: never returns."""
    status = 1
    try:
        os.setsid()
        for descriptor in others:
            os.close(descriptor)
        from qianka.grading.harness.child import serve

        serve(options, reading, writing)
        status = 0
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def main() -> None:
    """Serve the socket that QIANKA_SOCKET names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    work = parser.parse_args().work
    told = os.environ.pop(VARIABLE)
    if told.isdecimal():
        sock = socket.socket(fileno=int(told))
    else:
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(told)
    os.set_inheritable(sock.fileno(), False)
    try:
        Relay(sock, work).run()
    except (Nonsense, KeyError) as error:
        sys.exit(f"a request that makes no sense: {error}")


if __name__ == "__main__":
    main()
