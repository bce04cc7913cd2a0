"""One worker at a time, also after one was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from qianka.services.platform import Platform
from qianka.store.repos import records
from qianka.store.tables import Lease as Row
from qianka.testing import FakeClock, make_platform
from qianka.worker.lease import SECONDS, Lease, LeaseLost, known_dead, owner_name


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path)
    yield platform
    platform.store.close()


def let_it_run_out(platform: Platform) -> None:
    """Time passes: on the clock of this machine, and in the row, which PostgreSQL judges by its own clock."""
    assert isinstance(platform.clock, FakeClock)
    platform.clock.advance(SECONDS + 1)
    with platform.store.transaction() as session:
        if records.database_time(session) is not None:
            for row in session.query(Row):
                row.expires_at -= timedelta(seconds=SECONDS + 1)


def test_machines_whose_clocks_differ_agree_on_who_holds_it(platform: Platform, database: str) -> None:
    if database == "sqlite":
        return  # one machine, one clock
    ahead = replace(platform, clock=FakeClock(platform.now() + timedelta(hours=3)))
    one, two = Lease(platform, owner="elsewhere 1"), Lease(ahead, owner="elsewhere 2")
    assert one.acquire()
    assert not two.acquire()
    one.release()
    assert two.acquire()
    assert not one.acquire()


def test_a_second_worker_waits_until_the_lease_runs_out(platform: Platform) -> None:
    one, two = Lease(platform, owner="elsewhere 1"), Lease(platform, owner="elsewhere 2")
    assert one.acquire()
    assert not two.acquire()
    assert one.acquire()
    let_it_run_out(platform)
    assert two.acquire()
    assert not one.acquire()


def test_who_lost_the_lease_may_write_nothing(platform: Platform) -> None:
    one, two = Lease(platform, owner="elsewhere 1"), Lease(platform, owner="elsewhere 2")
    one.acquire()
    with platform.store.transaction() as session:
        one.check(session)
    one.release()
    two.acquire()
    with platform.store.transaction() as session, pytest.raises(LeaseLost):
        one.check(session)
    one.release()
    with platform.store.transaction() as session:
        two.check(session)


def test_a_holder_killed_on_this_machine_is_followed_at_once(platform: Platform) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = owner_name(child.pid)
    assert Lease(platform, owner=owner).acquire()
    assert not known_dead(owner)
    assert not Lease(platform).acquire()
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert known_dead(owner)
    assert Lease(platform).acquire()


def test_nobody_elsewhere_and_no_odd_name_is_taken_for_dead() -> None:
    words = owner_name(os.getpid()).split()
    assert not known_dead(" ".join(words))
    assert not known_dead(" ".join(["otherhost", *words[1:3], "999999", "1"]))
    assert not known_dead(" ".join([words[0], "pid:[1]", words[2], "999999", "1"]))
    assert not known_dead("somebody")
    assert known_dead(" ".join([*words[:2], "another-boot", words[3], words[4]]))
