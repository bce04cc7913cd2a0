"""The shipped fakes and factories, which other tests stand on."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from qianka.domain.jobs import JobState
from qianka.domain.resources import Resources
from qianka.engines.base import Cleans, Handle, Logs, Waits
from qianka.errors import Unavailable
from qianka.services import access
from qianka.store.tables import Event
from qianka.testing import (
    START,
    FakeClock,
    FakeEngine,
    Program,
    caller_of,
    make_attempt,
    make_cohort,
    make_job,
    make_lab,
    make_person,
    make_platform,
    make_student,
    make_submission,
)


def test_factories_make_a_class_that_the_access_door_lets_in(tmp_path: Path) -> None:
    platform = make_platform(tmp_path)
    cohort = make_cohort(platform)
    student = make_student(platform, cohort)
    attempt = make_attempt(platform, make_submission(platform, make_lab(platform, cohort), student))
    with platform.store.reading() as session:
        assert access.cohort_for(session, caller_of(student), cohort.slug).id == cohort.id
        assert access.attempt_for(session, caller_of(student), attempt.id).state == "queued"
    platform.store.close()


def test_a_made_job_is_queued_with_a_whole_job_text_and_told_of(tmp_path: Path) -> None:
    platform = make_platform(tmp_path)
    job = make_job(platform, make_person(platform), resources=Resources(cpus=0.5, memory=1 << 20))
    assert job.spec["resources"] == {
        "cpus": 0.5,
        "memory": 1 << 20,
        "gpus": 0,
        "nodes": 1,
        "exclusive": False,
    }
    assert job.spec["limits"]["wall"] == 60.0
    with platform.store.reading() as session:
        assert [(e.topic, e.kind) for e in session.query(Event)] == [
            (f"job:{job.id}", "queued"),
            (f"person:{job.person_id}", "job"),
        ]
    platform.store.close()


def test_two_factories_of_one_store_never_collide_and_memory_stores_are_apart(tmp_path: Path) -> None:
    one, two = make_platform(tmp_path / "1"), make_platform(tmp_path / "2")
    assert make_person(one).login != make_person(one).login
    with two.store.reading() as session:
        assert session.query(Event).count() == 0
    one.store.close()
    two.store.close()


def test_a_fake_clock_moves_only_when_told() -> None:
    clock = FakeClock()
    assert clock.now() == START == clock.now()
    clock.sleep(90)
    assert clock.now() - START == timedelta(seconds=90)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="aware"):
        FakeClock(datetime(2026, 1, 1))  # noqa: DTZ001 - the point


def test_the_fake_engine_runs_programs_on_the_clock_and_leaves_their_files(tmp_path: Path) -> None:
    clock = FakeClock()
    engine = FakeEngine(clock, jobs=tmp_path)
    assert isinstance(engine, Waits)
    assert isinstance(engine, Logs)
    assert isinstance(engine, Cleans)
    engine.programs["train"] = Program(seconds=30, stdout="epoch 1\n", files={"model.pt": b"w"})
    handle = engine.submit({"job": "j-1", "name": "train"}, 1, None)
    assert engine.poll([handle])[handle].state is JobState.RUNNING
    engine.wait(60)
    status = engine.poll([handle])[handle]
    assert (status.state, status.result and status.result["wall"]) == (JobState.COMPLETED, 30.0)
    assert (tmp_path / "j-1/out/model.pt").read_bytes() == b"w"
    assert engine.log(handle, "stdout", 6) == ("1\n", 8)


def test_the_fake_engine_can_be_made_to_misbehave() -> None:
    clock = FakeClock()
    engine = FakeEngine(clock)
    engine.default = Program(seconds=math.inf)
    engine.deaf = True
    handle = engine.submit({"job": "j-1"}, 1, None)
    assert engine.poll([handle])[handle].state is JobState.PENDING
    engine.deaf = False
    engine.submit({"job": "j-1"}, 1, None)
    engine.lose(handle)
    assert engine.poll([handle])[handle].state is JobState.NODE_FAIL
    other = engine.submit({"job": "j-2"}, 1, None)
    engine.finish(other, JobState.FAILED, exit_code=3)
    assert engine.poll([other])[other].result == engine.restarted().poll([other])[other].result
    engine.down = True
    with pytest.raises(Unavailable):
        engine.poll([Handle("j-2", 1)])
