"""The whole worker on real processes: it works, hands over, and survives being killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.resources import Resources
from qianka.server.wake import Wake
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.tables import Job, Lease, Ledger, Run
from qianka.store.upgrade import upgrade
from qianka.testing import make_job, make_person
from qianka.worker import main
from qianka.worker.dispatcher import Dispatcher

PATIENCE = 60.0


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    found = Settings(
        data_dir=str(tmp_path / "data"),
        sandbox_backend="none",
        sandbox_minimum="none",
        local_cores=2,
        local_memory_mb=900,
    )
    platform = main.open_platform(found)
    upgrade(platform.store)
    yield platform
    platform.store.close()


class Worker:
    """A worker in a thread of this process."""

    def __init__(self, settings: Settings) -> None:
        self.stop = threading.Event()
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self._run, args=(settings,))
        self.thread.start()

    def _run(self, settings: Settings) -> None:
        try:
            main.run(settings, self.stop)
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            self.failure = error

    def end(self) -> None:
        self.stop.set()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


def until(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come to pass")


def all_ended(platform: Platform) -> bool:
    with platform.store.reading() as session:
        return all(job.ended_at is not None for job in session.query(Job))


def small(platform: Platform, person: Any, argv: list[str]) -> Job:
    return make_job(platform, person, resources=Resources(cpus=0.5, memory=64 << 20), spec={"argv": argv})


def test_a_worker_runs_what_is_queued_is_woken_by_a_datagram_and_stops_when_told(platform: Platform) -> None:
    worker = Worker(platform.settings)
    try:
        until(lambda: (platform.folders.run / "worker.sock").exists())
        job = small(platform, make_person(platform), ["/bin/sh", "-c", "echo done"])
        Wake(platform.folders.run / "worker.sock")()
        until(lambda: all_ended(platform))
    finally:
        worker.end()
    assert worker.failure is None
    with platform.store.reading() as session:
        row = session.get(Job, job.id)
        assert row is not None
        assert (row.state, row.run) == ("COMPLETED", 1)
        assert session.query(Lease).count() == 0
    assert (platform.folders.jobs / job.id / "runs/1/stdout.log").read_text() == "done\n"


def test_a_second_worker_takes_over_what_the_first_left_running(platform: Platform) -> None:
    job = small(platform, make_person(platform), ["/bin/sleep", "3"])
    first = Worker(platform.settings)
    until(lambda: (platform.folders.jobs / job.id / "runs/1/beat").exists())
    first.end()
    second = Worker(platform.settings)
    try:
        until(lambda: all_ended(platform))
    finally:
        second.end()
    with platform.store.reading() as session:
        row = session.get(Job, job.id)
        assert row is not None
        assert (row.state, row.run) == ("COMPLETED", 1)


def test_an_unexpected_exception_ends_the_worker_with_it(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Dispatcher) -> bool:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Dispatcher, "step", broken)
    worker = Worker(platform.settings)
    worker.thread.join(PATIENCE)
    assert isinstance(worker.failure, ZeroDivisionError)


@pytest.mark.slow
def test_killed_again_and_again_nothing_is_lost_and_nothing_counts_twice(platform: Platform) -> None:
    """The small sister of benchmarks/crash.py."""
    person = make_person(platform)
    for _ in range(20):
        small(platform, person, ["/bin/sleep", "0.2"])
    environment = {
        "PATH": "/usr/bin:/bin",
        "QIANKA_DATA_DIR": platform.settings.data_dir,
        "QIANKA_SANDBOX_BACKEND": "none",
        "QIANKA_SANDBOX_MINIMUM": "none",
        "QIANKA_LOCAL_CORES": "2",
        "QIANKA_LOCAL_MEMORY_MB": "900",
    }
    kills = 0
    end = time.monotonic() + 100
    while not all_ended(platform) and time.monotonic() < end:
        worker = subprocess.Popen(
            [sys.executable, "-m", "qianka.worker.main"], env=environment, stderr=subprocess.DEVNULL
        )
        if kills < 8:
            # Somewhere between its first import and the end of the work.
            with pytest.raises(subprocess.TimeoutExpired):
                worker.wait(1.0 + 0.37 * kills)
            os.kill(worker.pid, signal.SIGKILL)
            kills += 1
        else:
            until(lambda: all_ended(platform))
            worker.terminate()
        worker.wait(30)
    with platform.store.reading() as session:
        jobs = list(session.query(Job))
        accepted = [run.job_id for run in session.query(Run) if run.accepted]
        assert {job.state for job in jobs} == {"COMPLETED"}
        assert sorted(accepted) == sorted(job.id for job in jobs)
        assert sorted(line.job_id for line in session.query(Ledger)) == sorted(accepted)
