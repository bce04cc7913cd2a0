"""Watching a run in a container: what differs from a sandbox whose processes are our own children."""

from __future__ import annotations

import select
import time

from qianka.jobdir.codec import FormatError, dumps, loads
from qianka.sandbox import bounds
from qianka.sandbox.cgroup import kill_all
from qianka.sandbox.container import command, group, reap
from qianka.sandbox.container.engine import Engine, EngineError
from qianka.sandbox.processes import descendants
from qianka.supervisor.handing import send
from qianka.supervisor.meter import Meter
from qianka.supervisor.plan import Plan, Unfit
from qianka.supervisor.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

START = 120.0
"""seconds that an engine may take to start a container"""
_LEAVE = 10.0
"""seconds after which the engine's own process is ended too, when its container is"""
_TERM = 15


class ContainerPlan(Plan):
    """How one container is started and watched."""

    engine: Engine
    setup: command.Setup
    listening: Any
    """socket on which the container's first process reports"""
    begin: dict[str, Any]
    """what it is told to do"""
    handed: int | None = None
    """a descriptor for the command, sent along with the word to begin"""

    def hand_over(self, descriptor: int) -> None:
        """An engine's own process could not hand it on: it goes over the line to the container's first process."""
        self.handed = descriptor


class ContainerWatch(Watch):
    """One container, from the start of the engine's command until nothing of it is left."""

    plan: ContainerPlan
    _group: group.Watched | None = None
    _killed: float | None = None
    """when nothing of the run was to go on any more"""

    def let_begin(self) -> None:
        """Wait for the container's first process, look where it lives, then tell it the command.

        Raises Unfit when it is less contained than the job asks.
        """
        self.seen.contained = True
        self.plan.remains = self.clear
        line = self._meet()
        self.plan.listening.close()
        if line is None:
            return  # the engine has ended and said why
        self.plan.status = line.fileno()
        self._line = line
        try:
            self._look_from_outside()
        except (OSError, Unfit):
            self.kill()
            raise
        # The engine's own start is not the run's time.
        self.began = time.monotonic()
        line.setblocking(True)
        limits = bounds.limits(self.job, grouped=self._group is not None, cards=bool(self.plan.setup.devices))
        try:
            send(line, (dumps({**self.plan.begin, "bounds": limits}) + "\n").encode(), self.plan.handed)
        except OSError:
            return  # it is gone already; its end tells why
        finally:
            line.setblocking(False)

    def kill(self) -> None:
        """End every process of the container at once."""
        self._kill_at = None
        if self._killed is None:
            self._killed = time.monotonic()
            if self._group is not None:
                self._group.keep()
        with self.rights.root:
            if self.init is None:
                kill_all([self.child.pid])
                return
            # The first process of a process namespace takes all others with it.
            kill_all([self.init])
            if self._group is not None:
                self._group.kill()

    def finish(self) -> None:
        """After the end: nothing of the container is left, the last figures are taken."""
        if self._killed is not None and self.init is not None:
            # Taking the container apart is the engine's time, not the run's.
            self.ended = self._killed
        super().finish()
        seen = self.seen
        if self.init is not None and not seen.told_exit and "execvp" not in self.complaint():
            if not seen.oom_kills and seen.stop is None:
                with self.rights.root:
                    seen.oom_kills = int(reap.filled_its_memory(self.plan.engine, self.plan.setup.name))
            # What the engine's command ended with is not the run's own.
            seen.code, seen.signal = None, 9
        self.clear()

    def clear(self) -> None:
        """Remove the container; an engine that does not answer leaves it to the next start of the platform."""
        self.plan.remains = None
        with self.rights.root:
            try:
                reap.remove(self.plan.engine, self.plan.setup.name)
            except EngineError:
                return

    def _meet(self) -> Any:
        """The line to the container's first process, or None when the engine ended without one."""
        poller = select.poll()
        for descriptor in (self.plan.listening.fileno(), *self.streams):
            poller.register(descriptor, select.POLLIN)
        end = time.monotonic() + START
        while time.monotonic() < end:
            for descriptor, _ in poller.poll(50):
                if descriptor == self.plan.listening.fileno():
                    return self._accepted()
                if not self._read(descriptor):
                    poller.unregister(descriptor)
            if self.ended is None:
                self._notice_end()
            if self.ended is not None:
                return None
        self.kill()
        raise Unfit(f"{self.plan.engine.name} did not start a container in {START:g} s")

    def _accepted(self) -> Any:
        import socket
        import struct

        line, _ = self.plan.listening.accept()
        told = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, _ = struct.unpack("3i", told)
        if uid == self.plan.setup.user[0] and pid > 0:
            self.init = pid
        return line

    def _look_from_outside(self) -> None:
        """Control group, /out and meter, by way of the container's first process."""
        plan = self.plan
        if self.init is None:
            raise Unfit("the container's processes are not to be seen from here (another machine's engine?)")
        found = group.of(self.init)
        if found is not None and found.bounded(plan.setup.memory, plan.setup.processes):
            self._group = plan.group = found
            found.begin()
        elif "control_groups" not in plan.missing:
            plan.missing, plan.level = [*plan.missing, "control_groups"], "degraded"
            if self.job["isolation"]["minimum"] == "full":
                raise Unfit("level degraded, the job asks for full; missing: control_groups (not bound from outside)")
        if plan.volume.kind == "inside":
            uid, gid = plan.setup.user
            plan.volume.attach_at(f"/proc/{self.init}/root/out", (uid, gid) if self.rights.is_root else None)
        self.meter = Meter(plan.group, self.init, self.job["resources"]["memory"])
        if self.cards is not None:
            self.cards.look(descendants(self.init))

    def _hear(self, data: bytes) -> None:
        """The exit code. Nothing else is believed: the other end is the run's own user."""
        self._told += data[:4096]
        *lines, self._told = self._told[-4096:].split(b"\n")
        for line in lines:
            try:
                code = dict(loads(line.decode("ascii", "replace"))).get("exit-code")
            except (FormatError, TypeError, ValueError):
                continue
            if isinstance(code, int) and 0 <= code <= 255 and not self.seen.told_exit:
                self.seen.told_exit, self.seen.code = True, code
                if self._group is not None:
                    self._group.keep()
                elif self.init is not None:
                    self.meter.hear(self.init)
                self.kill()

    def _tick(self, elapsed: float) -> None:
        super()._tick(elapsed)
        if self._killed is not None and time.monotonic() - self._killed > _LEAVE:
            kill_all([self.child.pid])

    def _tree(self) -> list[int]:
        return descendants(self.init) if self.init is not None else []

    def _terminate(self) -> None:
        if self.init is None:
            self.kill()
            return
        with self.rights.root:
            members = self._group.members() if self._group is not None else self._tree()
            # The first process must outlive the command to report its end.
            kill_all([pid for pid in members if pid != self.init], _TERM)
