"""Whether the process that a heartbeat names still is that process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from qianka import jobdir
from qianka.jobdir import beat, records

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="start times and boot ids are Linux's")
JOB = {"format": 1, "job": "j-1", "kind": "run", "argv": ["/bin/true"]}


@pytest.fixture
def directory(tmp_path: Path) -> str:
    made = jobdir.make(tmp_path, JOB)
    records.claim(made, 1)
    return made


def test_a_beat_of_ours_is_alive(directory: str) -> None:
    beat.write_beat(directory, 1, child=os.getppid())
    found = jobdir.read_beat(directory, 1)
    assert found is not None
    assert found["pid"] == os.getpid()
    assert found["child"] == os.getppid()
    assert jobdir.alive(found)
    assert jobdir.silent_for(found) < 60


def test_the_same_pid_with_another_start_or_boot_is_another_process(directory: str) -> None:
    beat.write_beat(directory, 1)
    found = jobdir.read_beat(directory, 1)
    assert found is not None
    assert not jobdir.alive({**found, "start": found["start"] + 1})
    assert not jobdir.alive({**found, "boot": "another"})
    assert not jobdir.alive(None)


def test_a_process_that_ended_but_was_not_waited_for_is_dead(directory: str) -> None:
    child = subprocess.Popen(["/bin/true"])
    start = beat.start_ticks(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not jobdir.alive({"pid": child.pid, "start": start, "boot": beat.boot_id()})
    child.wait()


@pytest.mark.parametrize("text", ["", "x", "12 y z", "-1 0 boot", "1" * 5000])
def test_a_damaged_beat_is_nobodys(directory: str, text: str) -> None:
    Path(directory, "runs/1/beat").write_text(text)
    try:
        found = jobdir.read_beat(directory, 1)
    except jobdir.FormatError:
        return
    assert not jobdir.alive(found)


def test_no_beat_before_the_run(tmp_path: Path) -> None:
    assert jobdir.read_beat(jobdir.make(tmp_path, JOB), 1) is None
