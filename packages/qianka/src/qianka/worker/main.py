"""The worker: its loops, under a lease that only one process holds. Composition root of the worker."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from qianka import logs, settings
from qianka.engines import local, slurm
from qianka.engines.local import LocalEngine, tell_isolation
from qianka.engines.slurm import SlurmEngine
from qianka.errors import ConfigError, Text
from qianka.services import provenance
from qianka.services.platform import Folders, Platform
from qianka.settings import Settings
from qianka.store.opening import open_store
from qianka.store.upgrade import upgrade
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.grader import Grader
from qianka.worker.lease import SECONDS, Lease, LeaseLost
from qianka.worker.loop import Loop
from qianka.worker.queueing import QueueDispatcher
from qianka.worker.reaper import Reaper
from qianka.worker.sampler import Sampler
from qianka.worker.wake import Ear

DISPATCH_EVERY, GRADE_EVERY, REAP_EVERY, TRACE_EVERY = 2.0, 1.0, 3600.0, 15.0
"""seconds between two looks when nothing woke a loop"""
FRESH = 0.05
"""while runs end one upon the other, the store is asked for the changes of others no more often than this"""
GRADER_RESTS = 0.05
"""seconds between two looks of the grader however often it is woken: a burst of hand-ins is one look"""
_SAMPLE_LEAST = 1.0
_ASK_AGAIN = 0.5
_JOIN = 10.0

_log = logs.get("worker")


def run(found: Settings, stop: threading.Event) -> None:
    """Work until `stop` is set; what runs goes on without us.

    Waits while another worker holds the lease. An unexpected exception of a loop ends the others and
    is raised, so that whoever started this process starts it again.
    """
    platform = open_platform(found)
    upgrade(platform.store)
    lease = Lease(platform)
    engine = make_engine(found, platform)
    try:
        while not stop.is_set():
            if not _acquire(lease, stop):
                continue
            try:
                report = tell_isolation(found, platform.folders.run, platform.folders.runtime)
                _log.info("isolation: %s", report["level"])
                _Loops(platform, engine, lease).run(stop)
            except LeaseLost:
                _log.warning("another worker has taken over; waiting")
            else:
                _release(lease)
    finally:
        engine.close()
        platform.store.close()


def _release(lease: Lease) -> None:
    """Let the next one begin at once; where the database is away it waits for the lease to run out."""
    try:
        lease.release()
    except SQLAlchemyError as error:
        _log.warning("the lease could not be given back: %s", error)


def make_engine(found: Settings, platform: Platform) -> LocalEngine | SlurmEngine:
    """The engine that `engine.name` asks for. Raises ConfigError, SandboxRefused."""
    folders = platform.folders
    if found.engine_name == "slurm":
        return slurm.make_engine(found, folders.jobs, folders.run)
    if found.engine_name == "local":
        return local.make_engine(found, folders.jobs, folders.run)
    raise ConfigError(
        Text(f"没有名为 {found.engine_name} 的引擎", f"there is no engine named {found.engine_name}"),
        Text("engine.name 应是 local 或 slurm", "engine.name must be local or slurm"),
    )


def open_platform(found: Settings) -> Platform:
    """The platform on a data directory, for the worker."""
    folders = Folders(Path(found.data_dir))
    folders.make()
    return Platform(settings=found, store=open_store(found))


def _acquire(lease: Lease, stop: threading.Event) -> bool:
    try:
        if lease.acquire():
            return True
    except SQLAlchemyError as error:
        _log.warning("the lease cannot be asked for: %s", error)
    stop.wait(_ASK_AGAIN)
    return False


class _Loops:
    """Dispatcher, grader, reaper and the renewal of the lease, from the first step to the last."""

    def __init__(self, platform: Platform, engine: LocalEngine | SlurmEngine, lease: Lease) -> None:
        self._stop = threading.Event()
        self._lease = lease
        self.platform = replace(platform, wake_worker=self.wake)
        self._dispatcher: Dispatcher | QueueDispatcher
        if engine.queues:
            self._dispatcher = QueueDispatcher(self.platform, engine, guard=lease.check, stage_ended=self._wake_grader)
        else:
            self._dispatcher = Dispatcher(
                self.platform, engine, guard=lease.check, stage_ended=self._wake_grader, fresh=FRESH
            )
        grader = Grader(self.platform, guard=lease.check)
        reaper = Reaper(self.platform, engine, guard=lease.check)
        recorder = provenance.Recorder(self.platform, guard=lease.check)
        self._sampler = Sampler(self.platform, guard=lease.check)
        self._grader = self._loop("grader", grader.step, GRADE_EVERY, rest=GRADER_RESTS)
        self._dispatch = self._loop(
            "dispatcher", self._dispatcher.step, DISPATCH_EVERY, self._dispatcher.wait, self._dispatcher.wake
        )
        self._all = [
            self._dispatch,
            self._grader,
            self._loop("reaper", reaper.step, REAP_EVERY),
            self._loop("provenance", recorder.step, TRACE_EVERY),
            self._loop("sampler", self._sampler.step, max(_SAMPLE_LEAST, platform.settings.monitor_interval)),
            self._loop("lease", self._renew, SECONDS / 3),
        ]

    def run(self, stop: threading.Event) -> None:
        """Until `stop`, or a loop ends by itself; raises what ended it."""
        ear = Ear(self.platform.folders.run / "worker.sock", self.wake)
        try:
            for loop in self._all:
                loop.start()
            while not stop.is_set() and not self._stop.is_set():
                stop.wait(_ASK_AGAIN)
        finally:
            self._stop.set()
            self.wake()
            for loop in self._all:
                loop.wake()
                loop.join(_JOIN)
            ear.close()
            self._dispatcher.close()
            self._sampler.close()
        failures = [loop.failure for loop in self._all if loop.failure is not None]
        for failure in sorted(failures, key=lambda f: isinstance(f, LeaseLost)):
            raise failure

    def wake(self) -> None:
        """Something was queued or changed."""
        self._dispatch.wake()
        self._grader.wake()

    def _wake_grader(self) -> None:
        self._grader.wake()

    def _renew(self) -> bool:
        if not self._lease.acquire():
            raise LeaseLost(self._lease.name)
        return False

    def _loop(
        self,
        name: str,
        step: Callable[[], bool],
        every: float,
        wait: Callable[[float], None] | None = None,
        wake: Callable[[], None] | None = None,
        rest: float = 0.0,
    ) -> Loop:
        return Loop(name, step, self._stop, every=every, rest=rest, ended=self._stop.set, wait=wait, wake=wake)


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m qianka.worker.main`: the worker as a process of its own; settings from the environment."""
    parser = argparse.ArgumentParser(prog="python -m qianka.worker.main", description="the worker of Qianka")
    parser.add_argument("--child", action="store_true", help="end when standard input ends")
    options = parser.parse_args(argv)
    logs.set_up()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if options.child:
        threading.Thread(target=_end_with_parent, args=(stop,), daemon=True).start()
    run(settings.load().settings, stop)
    return 0


def _end_with_parent(stop: threading.Event) -> None:
    while sys.stdin.buffer.read(1024):
        pass
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
