"""Noticing the end of a supervisor: by descriptors of processes where the kernel has them, else by looking."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time

from qianka.engines.base import Handle

_LOOK_EVERY = 0.05


class Watcher:
    """Which processes are waited for; safe to use from several threads."""

    def __init__(self, descriptors: bool | None = None) -> None:
        self._lock = threading.Lock()
        self._pids: dict[Handle, int] = {}
        self._descriptors: dict[Handle, int] = {}
        self._has_descriptors = _pidfd_works() if descriptors is None else descriptors
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def watch(self, handle: Handle, pid: int) -> None:
        """Wait for `pid` as well, the supervisor of `handle`; a second call changes nothing."""
        with self._lock:
            if handle in self._pids or pid <= 0:
                return
            if self._has_descriptors:
                try:
                    self._descriptors[handle] = os.pidfd_open(pid)
                except ProcessLookupError:
                    self.wake()  # it has ended already: whoever waits must look
                    return
            self._pids[handle] = pid

    def watches(self, handle: Handle) -> bool:
        """Whether the supervisor of `handle` was alive when last looked at."""
        with self._lock:
            return handle in self._pids

    def reap(self) -> bool:
        """Take note of those that ended, without waiting; whether there were any."""
        with self._lock:
            ended = self._ended_by_descriptor() if self._has_descriptors else self._ended_by_looking()
            for handle in ended:
                pid = self._pids.pop(handle)
                if handle in self._descriptors:
                    os.close(self._descriptors.pop(handle))
                _reap(pid)
            return bool(ended)

    def wait(self, timeout: float) -> None:
        """Until one ends, `wake`, or `timeout` seconds."""
        end = time.monotonic() + timeout
        while not self.reap():
            left = end - time.monotonic()
            if left <= 0 or self._sleep(left if self._has_descriptors else min(left, _LOOK_EVERY)):
                return

    def wake(self) -> None:
        """End a wait, or the next one."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"w")

    def close(self) -> None:
        """Give back all descriptors; what is watched goes on."""
        with self._lock:
            for descriptor in (*self._descriptors.values(), self._reader, self._writer):
                os.close(descriptor)
            self._descriptors.clear()
            self._pids.clear()

    def _sleep(self, seconds: float) -> bool:
        """Whether somebody called `wake`."""
        poller = select.poll()
        poller.register(self._reader, select.POLLIN)
        with self._lock:
            for descriptor in self._descriptors.values():
                poller.register(descriptor, select.POLLIN)
        for descriptor, _ in poller.poll(seconds * 1000):
            if descriptor == self._reader:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._reader, 4096)
                return True
        return False

    def _ended_by_descriptor(self) -> list[Handle]:
        if not self._descriptors:
            return []
        poller = select.poll()
        handles = {descriptor: handle for handle, descriptor in self._descriptors.items()}
        for descriptor in handles:
            poller.register(descriptor, select.POLLIN)
        return [handles[descriptor] for descriptor, _ in poller.poll(0)]

    def _ended_by_looking(self) -> list[Handle]:
        return [handle for handle, pid in self._pids.items() if not _reap(pid, look=True)]


def _pidfd_works() -> bool:
    if not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def _reap(pid: int, *, look: bool = False) -> bool:
    """Take a child of ours off the kernel's list; with `look`, whether the process is still there."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    except ChildProcessError:
        if not look:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
