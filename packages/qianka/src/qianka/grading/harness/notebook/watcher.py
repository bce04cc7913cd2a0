"""The student's side: imports IPython once, forks kernels, carries lines to and from them, ends them when told.

It is not trusted: whoever kills or cheats it only loses the student's own cells. Lines of the kernel are marked K,
its own W. Time is measured on our side; this one obeys `open`, `interrupt`, `kill`.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import select
import shutil
import signal
import socket
import sys
import time
from typing import Any

from qianka.grading.harness import wire
from qianka.grading.harness.notebook import kernel, shell
from qianka.grading.harness.notebook.lines import Closed, Link

FLOOD = 32 << 20
"""bytes that one cell may print"""
SHOWN = 4 << 10
"""bytes of each cell that are passed on to our log, for staff"""
BIGGEST_COPY = 64 << 20
PR_SET_CHILD_SUBREAPER = 36


class Watcher:
    """Between our side (`link`) and one kernel at a time."""

    def __init__(self, stream: socket.socket, home: str, fonts: str) -> None:
        self.stream = stream
        self.link = Link(stream)
        self.home = home
        self.fonts = fonts
        self.pid = 0
        self.inside: socket.socket | None = None
        self.pipe = -1
        self.printed = 0
        self.flooded = False

    def serve(self) -> None:
        """Until our side is gone."""
        buffer = b""
        while True:
            watched: list[Any] = [
                self.stream,
                *([self.inside] if self.inside else []),
                *([self.pipe] if self.pipe >= 0 else []),
            ]
            ready, _, _ = select.select(watched, [], [], 1.0)
            if self.pipe in ready:
                self._drain()
            if self.inside is not None and self.inside in ready:
                self._from_kernel()
            if self.stream in ready:
                piece = self.stream.recv(1 << 18)
                if not piece:
                    return
                buffer += piece
                *lines, buffer = buffer.split(b"\n")
                for line in lines:
                    self._from_us(line)

    def _from_us(self, line: bytes) -> None:
        if not line.startswith(b'{"watch":'):
            if self.inside is not None:
                self.printed, self.flooded = 0, False
                self._to_kernel(line + b"\n")
            return
        what = wire.loads(line)["watch"]
        if what == "open":
            self.kill()
            self.fork()
            self._say({"opened": True})
        elif what == "interrupt" and self.pid:
            os.kill(self.pid, signal.SIGINT)
        elif what == "kill":
            self.kill()
            self._say({"killed": True})

    def _to_kernel(self, data: bytes) -> None:
        while data and self.inside is not None:
            # A kernel that prints while it is sent something would block us both: its pipe is emptied meanwhile.
            ready, able, _ = select.select([self.pipe] if self.pipe >= 0 else [], [self.inside], [], 5.0)
            if ready:
                self._drain()
            if able:
                try:
                    data = data[self.inside.send(data) :]
                except OSError:
                    return
            elif not ready:
                return

    def _from_kernel(self) -> None:
        try:
            piece = self.inside.recv(1 << 18) if self.inside is not None else b""
        except OSError:
            piece = b""
        if piece:
            self.stream.sendall(b"".join(_marked(piece, self)))
            return
        status = self._reap()
        self._drain()
        self._close()
        self._say({"gone": status})

    def _drain(self) -> None:
        if self.pipe < 0:
            return
        try:
            piece = os.read(self.pipe, 1 << 18)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            os.close(self.pipe)
            self.pipe = -1
            return
        if self.printed < SHOWN:
            os.write(1, piece[: SHOWN - self.printed])
        self.printed += len(piece)
        if self.printed > FLOOD and not self.flooded:
            self.flooded = True
            self._say({"flood": True})
            if self.pid:
                os.kill(self.pid, signal.SIGINT)

    def fork(self) -> None:
        """A new kernel."""
        mine, theirs = socket.socketpair()
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._become_kernel(theirs, mine, read, write)
        theirs.close()
        os.close(write)
        os.set_blocking(read, False)
        self.pid, self.inside, self.pipe, self.tail = pid, mine, read, b""
        self.printed, self.flooded = 0, False

    def _become_kernel(self, theirs: socket.socket, mine: socket.socket, read: int, write: int) -> None:
        status = 1
        try:
            os.setsid()
            mine.close()
            self.stream.close()
            os.close(read)
            os.dup2(write, 1)
            os.dup2(write, 2)
            os.close(write)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            kernel.main(theirs, shell.make(self.home, self.fonts))
            status = 0
        finally:
            os._exit(status)

    def kill(self) -> None:
        """End the kernel and everything it started."""
        for _ in range(50):
            found = descendants(os.getpid())
            if not found:
                break
            for pid in found:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.01)
            while self._wait(-1):
                pass
        self._close()

    def _reap(self) -> int:
        for _ in range(100):
            found, status = os.waitpid(self.pid, os.WNOHANG) if self.pid else (0, 0)
            if found:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        return 0

    def _wait(self, pid: int) -> bool:
        try:
            return os.waitpid(pid, os.WNOHANG)[0] > 0
        except ChildProcessError:
            return False

    def _close(self) -> None:
        if self.inside is not None:
            self.inside.close()
        if self.pipe >= 0:
            os.close(self.pipe)
        self.inside, self.pipe, self.pid, self.tail = None, -1, 0, b""

    def _say(self, message: dict[str, Any]) -> None:
        self.stream.sendall(b"W" + wire.dumps(message))

    tail: bytes = b""


def _marked(piece: bytes, watcher: Watcher) -> list[bytes]:
    """Whole lines of the kernel, each marked; what is left waits for the rest."""
    watcher.tail += piece
    *lines, watcher.tail = watcher.tail.split(b"\n")
    if len(watcher.tail) > wire.LONGEST + 64:
        watcher.tail = b""
        return [b"Kx\n"]
    return [b"K" + line + b"\n" for line in lines]


def descendants(root: int) -> list[int]:
    """All processes below `root`, whatever group or session they are in."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z":
                parents.setdefault(int(fields[1]), []).append(int(name))
    found, left = [], [root]
    while left:
        below = parents.get(left.pop(), [])
        found += below
        left += below
    return found


def settle(work: str, files: str, place: str) -> None:
    """Lay out the folder that the notebook runs in: the hand-in's files, then the lab's own above them."""
    os.makedirs(place, exist_ok=True)
    for source in (work, files):
        if source and os.path.isdir(source):
            _lay(source, place, BIGGEST_COPY)
    os.chdir(place)


def _lay(source: str, place: str, left: int) -> None:
    for base, folders, names in os.walk(source):
        folders.sort()
        target = os.path.join(place, os.path.relpath(base, source))
        os.makedirs(target, exist_ok=True)
        for name in sorted(names):
            old, new = os.path.join(base, name), os.path.join(target, name)
            if os.path.lexists(new):
                os.unlink(new)
            size = os.path.getsize(old)
            if size <= left:
                left -= size
                shutil.copyfile(old, new)
            else:
                os.symlink(old, new)


def main(stream: socket.socket, *, work: str, files: str, place: str, home: str) -> None:
    """Serve our side on `stream`. `work`: the notebook's folder in the hand-in; `place`: where it runs."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settle(work, files, place)
    sys.path[:0] = [place]
    importlib.import_module("IPython.core.interactiveshell")  # once; each kernel is a fork of this process
    fonts = os.path.join(sys.prefix, "share", "matplotlib")
    watcher = Watcher(stream, home, fonts)
    try:
        watcher.serve()
    except (Closed, OSError):
        return
    finally:
        watcher.kill()
