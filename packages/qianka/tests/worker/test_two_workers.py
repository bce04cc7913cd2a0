"""Workers as processes on one PostgreSQL: no job twice, the other takes over, restarts are lived through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.resources import Resources
from qianka.services import leases
from qianka.services.platform import Platform
from qianka.settings import Settings, with_environment
from qianka.store.tables import Job, Lease, Ledger, Run
from qianka.testing import make_job, make_person
from qianka.testing.postgres import PostgresServer
from qianka.worker import main

PATIENCE = 60.0
pytestmark = pytest.mark.sqlite_only  # they bring their own PostgreSQL


def until(look: Callable[[], Any], patience: float = PATIENCE) -> Any:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come to pass")


def open_on(url: str, data: Path) -> Platform:
    found = Settings(
        data_dir=str(data),
        database_url=url,
        sandbox_backend="none",
        sandbox_minimum="none",
        local_cores=2,
        local_memory_mb=900,
    )
    return main.open_platform(found)


@pytest.fixture
def platform(database_url: str, tmp_path: Path) -> Iterator[Platform]:
    platform = open_on(database_url, tmp_path / "data")
    yield platform
    platform.store.close()


@contextmanager
def worker(platform: Platform) -> Iterator[subprocess.Popen[bytes]]:
    """A worker in a process of its own."""
    found = platform.settings
    environment = with_environment(
        {
            "data.dir": found.data_dir,
            "database.url": found.database_url,
            "sandbox.backend": "none",
            "sandbox.minimum": "none",
            "local.cores": 2,
            "local.memory_mb": 900,
        },
        {"PATH": "/usr/bin:/bin"},
    )
    process = subprocess.Popen([sys.executable, "-m", "qianka.worker.main"], env=environment, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def holder(platform: Platform) -> int | None:
    """The process that holds the worker's lease."""
    with platform.store.reading() as session:
        row = session.get(Lease, "worker")
        return None if row is None else int(row.owner.split()[3])


def queue(platform: Platform, count: int, tally: Path, seconds: float = 0.3) -> list[Job]:
    """Jobs that each write a line when they really run."""
    person = make_person(platform)
    argv = ["/bin/sh", "-c", f'echo "$QIANKA_JOB" >> {tally}; sleep {seconds}']
    resources = Resources(cpus=0.25, memory=64 << 20)
    return [make_job(platform, person, resources=resources, spec={"argv": argv}) for _ in range(count)]


def all_ended(platform: Platform) -> bool:
    with platform.store.reading() as session:
        return session.query(Job).filter(Job.ended_at.is_(None)).count() == 0


def check_once_each(platform: Platform, jobs: list[Job], tally: Path) -> None:
    """Every job completed, ran once, was accepted once and is entered in the ledger once."""
    with platform.store.reading() as session:
        assert Counter(row.state for row in session.query(Job)) == {"COMPLETED": len(jobs)}
        accepted = Counter(run.job_id for run in session.query(Run) if run.accepted)
        entered = Counter(line.job_id for line in session.query(Ledger))
    ran = Counter(tally.read_text().split())
    once = {job.id: 1 for job in jobs}
    assert ran == once
    assert accepted == once
    assert entered == once


def test_two_workers_run_no_job_twice_and_one_follows_the_other_at_once(platform: Platform, tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    jobs = queue(platform, 24, tally)
    with worker(platform) as one, worker(platform) as two:
        first = until(lambda: holder(platform))
        assert first in (one.pid, two.pid)
        until(lambda: tally.exists() and len(tally.read_text().split()) >= 4)
        os.kill(first, signal.SIGKILL)
        killed = time.monotonic()
        other = ({one.pid, two.pid} - {first}).pop()
        until(lambda: holder(platform) == other)
        took = time.monotonic() - killed
        until(lambda: all_ended(platform))
    check_once_each(platform, jobs, tally)
    print(f"taken over after {took:.2f} s")  # noqa: T201 - a figure
    assert took < 5


def test_a_worker_that_hangs_is_followed_when_its_lease_is_over_and_writes_nothing_after(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a worker on a machine that stopped: it cannot be seen to be dead, only to be silent."""
    tally = tmp_path / "tally"
    jobs = queue(platform, 6, tally, seconds=1.0)
    with worker(platform) as one:
        until(lambda: holder(platform) == one.pid)
        until(tally.exists)
        os.kill(one.pid, signal.SIGSTOP)
        try:
            stopped = time.monotonic()
            with worker(platform) as two:
                until(lambda: holder(platform) == two.pid, leases.SECONDS + 15)
                took = time.monotonic() - stopped
                os.kill(one.pid, signal.SIGCONT)  # it wakes up, and must find that it lost
                until(lambda: all_ended(platform))
                assert holder(platform) == two.pid
        finally:
            os.kill(one.pid, signal.SIGCONT)
    check_once_each(platform, jobs, tally)
    print(f"taken over after {took:.2f} s")  # noqa: T201 - a figure
    assert took < leases.SECONDS + 8


def test_a_worker_lives_through_a_restart_of_the_database(own_postgres: PostgresServer, tmp_path: Path) -> None:
    platform = open_on(own_postgres.database(), tmp_path / "data")
    tally = tmp_path / "tally"
    jobs = queue(platform, 8, tally)
    with worker(platform) as one:
        until(lambda: tally.exists() and len(tally.read_text().split()) >= 2)
        own_postgres.stop(signal.SIGQUIT)  # all connections break, what was not committed is gone
        time.sleep(3)
        own_postgres.start()
        back = time.monotonic()
        until(lambda: all_ended(platform))
        took = time.monotonic() - back
        assert one.poll() is None
        jobs += queue(platform, 2, tally)
        until(lambda: all_ended(platform))
    check_once_each(platform, jobs, tally)
    platform.store.close()
    print(f"all ended {took:.2f} s after the database was back")  # noqa: T201 - a figure


def test_a_worker_that_starts_before_the_database_waits_for_it(own_postgres: PostgresServer, tmp_path: Path) -> None:
    url = own_postgres.database()
    own_postgres.stop(signal.SIGINT)
    platform = open_on(url, tmp_path / "data")
    with worker(platform) as one:
        with pytest.raises(subprocess.TimeoutExpired):
            one.wait(3)
        own_postgres.start()
        until(lambda: holder(platform) == one.pid)
    platform.store.close()
