"""Looking at what runs: real processes, made-up cards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from qianka import jobdir
from qianka.domain.resources import Card
from qianka.jobdir.beat import write_beat
from qianka.services import jobs, nodes
from qianka.services.jobs import usage
from qianka.services.platform import Platform
from qianka.store.tables import Job, Run, UsageSample
from qianka.testing import FakeClock, FakeEngine, caller_of, make_job, make_person, make_platform, one_node
from qianka.worker.reaper import Reaper
from qianka.worker.sampler import Sampler

CARD = Card(index=0, uuid="GPU-1", model="made up", memory=80 << 30)
_BUSY = "x = bytearray(64 << 20)\nprint(1, flush=True)\nwhile True: pass"


class TwoCards:
    """Says that each card is half busy."""

    def __init__(self) -> None:
        self.closed = False

    def at(self, uuid: str) -> tuple[float | None, int | None]:
        return (50.0, 7 << 30) if uuid == CARD.uuid else (None, None)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path, clock=FakeClock())
    yield platform
    platform.store.close()


@pytest.fixture
def busy() -> Iterator[int]:
    """A process that computes and holds 64 MiB."""
    process = subprocess.Popen([sys.executable, "-c", _BUSY], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"1\n"
    yield process.pid
    process.kill()
    process.wait()
    process.stdout.close()


def running(platform: Platform, child: int | None, cards: tuple[Card, ...] = ()) -> str:
    """A job that runs with `child` as its first process, watched over by this test."""
    job = make_job(platform, make_person(platform))
    with platform.store.transaction() as session:
        row = session.get(Job, job.id)
        assert row is not None
        row.state, row.run, row.started_at = "RUNNING", 1, platform.now()
        held = {"cores": [0], "cards": [asdict(card) for card in cards], "started_at": platform.now()}
        session.add(Run(job_id=job.id, number=1, engine="local", node=os.uname().nodename, state="RUNNING", **held))
    os.makedirs(jobdir.run_dir(jobdir.job_dir(platform.folders.jobs, job.id), 1))
    if child is not None:
        write_beat(jobdir.job_dir(platform.folders.jobs, job.id), 1, child)
    return job.id


def samples(platform: Platform, job_id: str) -> list[UsageSample]:
    with platform.store.reading() as session:
        job = session.get(Job, job_id)
        assert job is not None
        owner = job.person_id
    caller: Any = type("Owner", (), {"id": owner, "login": "owner", "is_admin": False})()
    return jobs.usage_of(platform, caller_of(caller), job_id).samples


def pass_time(platform: Platform, seconds: float) -> None:
    assert isinstance(platform.clock, FakeClock)
    platform.clock.set(platform.now() + timedelta(seconds=seconds))


def test_a_running_job_has_a_curve_of_cpu_memory_and_cards(platform: Platform, busy: int) -> None:
    nodes.publish(platform, [one_node(cards=0)])
    job, cards = running(platform, busy, (CARD,)), TwoCards()
    sampler = Sampler(platform, cards=lambda: cards)
    for _ in range(2):
        sampler.step()
        pass_time(platform, platform.settings.monitor_interval)
    first, second = samples(platform, job)
    assert first.cpu_percent is None  # a share needs two looks
    assert second.cpu_percent is not None
    assert second.cpu_percent > 0 or second.memory  # two looks in one clock tick see no time pass
    assert second.memory is not None
    assert second.memory > 64 << 20
    assert (second.card_percent, second.card_memory, second.run) == (50.0, 7 << 30, 1)
    sampler.close()
    assert cards.closed


def test_what_has_ended_or_runs_elsewhere_has_none(platform: Platform) -> None:
    gone, silent = running(platform, 2**22 + 1), running(platform, None)
    Sampler(platform, cards=TwoCards).step()
    assert samples(platform, gone) == []
    assert samples(platform, silent) == []


def test_a_container_engines_own_process_is_not_taken_for_the_job(platform: Platform, busy: int) -> None:
    (platform.folders.run / "sandbox.json").write_text('{"backend": "podman"}', "utf-8")
    job = running(platform, busy)
    Sampler(platform, cards=TwoCards).step()
    assert samples(platform, job) == []


def test_a_long_run_keeps_a_bounded_even_curve(platform: Platform, busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MOST", 8)
    monkeypatch.setattr("qianka.worker.sampler.MOST", 8)
    job = running(platform, busy)
    sampler = Sampler(platform, cards=TwoCards)
    for step in range(40):
        if step == 25:
            sampler = Sampler(platform, cards=TwoCards)  # a worker that was started again goes on as before
        sampler.step()
        pass_time(platform, platform.settings.monitor_interval)
        assert len(samples(platform, job)) <= 8
    times = [one.at for one in samples(platform, job)]
    gaps = {round((b - a).total_seconds()) for a, b in pairwise(times[1:])}
    assert times[0] < times[-1] - timedelta(seconds=25 * platform.settings.monitor_interval)
    assert max(gaps) <= 2 * min(gaps)


def test_the_machine_tells_how_busy_it_is(platform: Platform, tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "meminfo").write_text("MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\n")
    (proc / "stat").write_text("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1\n")
    sampler = Sampler(platform, cards=TwoCards, proc=proc)
    sampler.step()
    (proc / "stat").write_text("cpu  130 0 120 850 0 0 0 0 0 0\ncpu0 1\n")
    sampler.step()
    load = nodes.known_load(platform)
    assert load is not None
    assert (load.cpu_percent, load.memory_used, load.memory) == (50.0, 600 * 1024, 1000 * 1024)


def test_samples_go_with_the_directory_of_their_job(platform: Platform, busy: int) -> None:
    job = running(platform, busy)
    Sampler(platform, cards=TwoCards).step()
    assert len(samples(platform, job)) == 1
    pass_time(platform, 86400 * (platform.settings.jobs_keep_days + 1))
    Reaper(platform, FakeEngine(platform.clock)).step()
    assert samples(platform, job) == []
