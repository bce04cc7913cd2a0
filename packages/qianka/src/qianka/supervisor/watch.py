"""Watching a run to its end: output, limits, heartbeat, the wish to cancel."""

from __future__ import annotations

import os
import select
import time

from qianka.jobdir import records
from qianka.jobdir.beat import touch_beat
from qianka.jobdir.codec import FormatError, loads
from qianka.jobdir.stream import Stream
from qianka.sandbox.cgroup import kill_all
from qianka.sandbox.processes import descendants
from qianka.supervisor.verdict import Seen, reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from qianka.supervisor.cards import CardMeter
    from qianka.supervisor.child import Child
    from qianka.supervisor.meter import Meter
    from qianka.supervisor.plan import Plan
    from qianka.supervisor.rights import Rights
    from qianka.supervisor.volume import Mirror

KILL, TERM = 9, 15
_CHUNK = 1 << 16
_STUBBORN = 10.0
"""seconds after which the process that we started is ended itself"""


class Watch:
    """One run, from the moment its process exists until nothing of it is left."""

    def __init__(self, job: dict[str, Any], run: int, directory: str, plan: Plan, child: Child, rights: Rights) -> None:
        self.job = job
        self.limits = job["limits"]
        self.directory, self.run = directory, run
        self.plan, self.child, self.rights = plan, child, rights
        self.meter: Meter
        self.mirror: Mirror | None = None
        self.cards: CardMeter | None = None
        self.seen = Seen()
        self.streams: dict[int, Stream] = {}
        self.total = 0
        self.began = time.monotonic()
        self.ended: float | None = None
        self.left = 0
        self.closed = False
        """a peer that was there until our side had ended"""
        self.outlives_memory = False
        """goes on when the kernel ends one of its processes for want of memory"""
        self.init: int | None = None
        """the sandbox's first process, seen from outside"""
        self._told = b""
        self._kill_at: float | None = None
        self._next_second = 1.0

    def until_end(self, wake: int, peer: Watch | None = None) -> None:
        """Returns when the process has ended. `wake`: becomes readable when a signal came.

        `peer`: the other side of a paired run, looked after meanwhile; it may end before.
        """
        poller = select.poll()
        poller.register(wake, select.POLLIN)
        sides = [self] if peer is None else [self, peer]
        owner = {descriptor: side for side in sides for descriptor in side.descriptors()}
        for descriptor in owner:
            poller.register(descriptor, select.POLLIN)
        while self.ended is None:
            for descriptor, _ in poller.poll(min(side.pause() for side in sides) * 1000):
                if descriptor == wake:
                    os.read(wake, 100)
                    self.stop("cancelled")
                elif not owner[descriptor].hear(descriptor):
                    poller.unregister(descriptor)
            for side in sides:
                side.look()

    def leave(self, patience: float) -> None:
        """Let a peer go whose other side has ended: a moment to go by itself, then its end."""
        until = time.monotonic() + patience
        poller = select.poll()
        for descriptor in self.descriptors() if self.ended is None else ():
            poller.register(descriptor, select.POLLIN)
        while self.ended is None:
            self.closed = True
            if time.monotonic() >= until:
                self.kill()
            if time.monotonic() >= until + _STUBBORN:
                # An engine's own process may outlive its container.
                kill_all([self.child.pid])
            for descriptor, _ in poller.poll(20):
                if not self.hear(descriptor):
                    poller.unregister(descriptor)
            if self.child.watch is None:
                self._notice_end()

    def descriptors(self) -> list[int]:
        """Where something may be heard of it."""
        return [*self.streams, *(d for d in (self.plan.status, self.child.watch) if d is not None)]

    def pause(self) -> float:
        """Seconds after which to look without having heard anything."""
        return self.meter.pause() if self.child.watch is not None else 0.02

    def hear(self, descriptor: int) -> bool:
        """Take what there is to be heard; False when nothing more will come."""
        if descriptor == self.child.watch:
            self._notice_end()
            return self.ended is None
        return self._read(descriptor)

    def look(self) -> None:
        """Limits, beat, the wish to cancel; whether it has ended where the system does not tell."""
        if self.ended is None and self.child.watch is None:
            self._notice_end()
        if self.ended is None:
            self._tick(time.monotonic() - self.began)

    def let_begin(self) -> None:
        """For a volume inside the sandbox: reach it, then let the command begin."""
        if self.plan.status is None or self.plan.release is None:
            return
        while self.init is None and self._read(self.plan.status):
            pass
        if self.init is not None:
            self.plan.volume.attach(self.init)
        try:
            os.write(self.plan.release, b"+")
        except BrokenPipeError:
            self.init = None  # the sandbox has ended already, and has said why
        os.close(self.plan.release)

    def complaint(self) -> str:
        """What the sandbox said when the command never began: the end of stderr."""
        return list(self.streams.values())[1].begin[-500:].decode("utf-8", "replace").strip()

    def stop(self, code: str, limit: float | None = None, measured: float | None = None) -> None:
        """End the run for a reason; the first reason counts."""
        if self.seen.stop is not None:
            return
        self.seen.stop = reason(code, limit, measured)
        if self.limits["grace"] > 0 and code in ("cancelled", "timeout_wall"):
            self._kill_at = time.monotonic() + self.limits["grace"]
            self._terminate()
        else:
            self.kill()

    def kill(self) -> None:
        """End every process of the run at once."""
        self._kill_at = None
        with self.rights.root:
            if self.plan.status is not None:
                # The first process of a process namespace takes all others with it.
                kill_all([pid for pid in (self.init, self.child.pid) if pid is not None])
            else:
                tree = descendants(self.child.pid)
                _kill_session(self.child.pid)
                kill_all(tree)
            if self.plan.group is not None:
                self.plan.group.kill()

    def finish(self) -> None:
        """After the end: nothing of the run is left, all output is read, the last figures are taken."""
        group = self.plan.group
        if group is None:
            self._settle_ungrouped()
        else:
            # The kernel takes a process namespace apart a moment after its first process is gone.
            for _ in range(20 if self.plan.status is not None else 0):
                if not group.members():
                    break
                time.sleep(0.001)
            self.left = len(group.members())
            with self.rights.root:
                group.kill()
            self.seen.oom_kills = group.out_of_memory_kills()
            self.seen.forks_denied = group.forks_denied()
        self._drain()
        if group is None and self.plan.status is None:
            # Within a sandbox these would be the figures of bubblewrap's own outer process: nothing.
            self.meter.know(self.child.cpu, self.child.peak)
        self.seen.cpu, self.seen.memory_peak = self.meter.cpu(), self.meter.peak()
        self.plan.volume.look()
        self.seen.disk_full = self.plan.volume.full
        if self.mirror is not None:
            self.mirror.copy(self.plan.volume)
        if group is not None:
            with self.rights.root:
                group.remove()

    def _notice_end(self) -> None:
        # Waited for once: it may have ended before anybody listened to it.
        status = self.child.ended() if self.ended is None else None
        if status is None:
            return
        self.ended = time.monotonic()
        code = os.waitstatus_to_exitcode(status)
        if self.plan.status is not None:
            self._read(self.plan.status)
            if self.seen.told_exit:
                code = self.seen.code if self.seen.code is not None else code
                # A shell's convention, kept by bubblewrap: 128 and the signal.
                self.seen.signal = code - 128 if 128 < code <= 192 else None
                return
        self.seen.code = code if code >= 0 else None
        self.seen.signal = -code if code < 0 else None

    def _read(self, descriptor: int) -> bool:
        """Take what a pipe holds; False at its end."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return True
        if descriptor == self.plan.status:
            self._hear(data)
        elif data:
            self.streams[descriptor].take(data)
            self.total += len(data)
            if self.total > self.limits["output_total"]:
                self.stop("output_limit", self.limits["output_total"], self.total)
        return bool(data)

    def _hear(self, data: bytes) -> None:
        """What bubblewrap tells: its first process, later the exit code of the command."""
        self._told += data
        *lines, self._told = self._told.split(b"\n")
        for line in lines:
            try:
                told = loads(line.decode("ascii", "replace"))
            except FormatError:
                continue
            if "child-pid" in told:
                self.init = int(told["child-pid"])
            if "exit-code" in told:
                self.seen.told_exit = True
                if self.init is not None:
                    # The sandbox's first process has waited for the command: for a moment it knows its CPU time.
                    self.meter.hear(self.init)
                self.seen.code = int(told["exit-code"])

    def _tick(self, elapsed: float) -> None:
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self.kill()
        if elapsed > self.limits["wall"]:
            self.stop("timeout_wall", self.limits["wall"], round(elapsed, 3))
        with self.rights.root:
            memory = self.meter.look(elapsed)
        if memory is not None:
            self.stop("out_of_memory", self.meter.memory_limit, memory)
        group = self.plan.group
        if group is not None and not self.outlives_memory and group.out_of_memory_kills():
            # Version 1 ends one process of a full group; what is left of the run cannot go on in earnest.
            self.stop("out_of_memory", self.meter.memory_limit, group.memory_peak())
        if self.limits["cpu"] is not None:
            used = self.meter.cpu()
            if used is not None and used > self.limits["cpu"]:
                self.stop("timeout_cpu", self.limits["cpu"], round(used, 3))
        broken = self.plan.volume.look() if self.plan.volume.kind != "folder" else None
        if elapsed >= self._next_second:
            self._next_second = elapsed + 1.0
            broken = broken or self.plan.volume.look()
            self._second()
        if broken is not None:
            self.stop("disk_full", broken["limit"], broken["measured"])

    def _second(self) -> None:
        touch_beat(self.directory, self.run)
        for stream in self.streams.values():
            stream.show()
        if self.mirror is not None:
            self.mirror.copy(self.plan.volume)
        if self.cards is not None:
            self.cards.look(self._tree())
        if records.cancel_asked(self.directory):
            self.stop("cancelled")
        fence = records.read_fence(self.directory)
        if fence is not None and fence.get("run") != self.run:
            # Given up for lost and started again elsewhere: this run's result counts no more.
            self.stop("cancelled")

    def _tree(self) -> list[int]:
        """Processes of the run, seen from outside."""
        return descendants(self.child.pid)

    def _terminate(self) -> None:
        with self.rights.root:
            if self.plan.status is None:
                _kill_session(self.child.pid, TERM)
                return
            group = self.plan.group
            members = group.members() if group is not None else descendants(self.child.pid)
            # The sandbox's own two processes must outlive the command to report its end.
            kill_all([pid for pid in members if pid not in (self.init, self.child.pid)], TERM)

    def _settle_ungrouped(self) -> None:
        if self.plan.status is None:
            _kill_session(self.child.pid)

    def _drain(self) -> None:
        """Read what is left in the pipes; a process that got away may hold them open, so not for long."""
        poller = select.poll()
        for descriptor in self.streams:
            poller.register(descriptor, select.POLLIN)
        end = time.monotonic() + 0.5
        waiting = set(self.streams)
        while waiting and time.monotonic() < end:
            ready = poller.poll(100)
            if not ready:
                break
            for descriptor, _ in ready:
                if not self._read(descriptor):
                    poller.unregister(descriptor)
                    waiting.discard(descriptor)


def _kill_session(pid: int, signal: int = KILL) -> None:
    try:
        os.killpg(pid, signal)
    except (ProcessLookupError, PermissionError):
        return
