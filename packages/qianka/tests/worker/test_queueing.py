"""The dispatcher of an engine with a queue of its own, on the fake engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.jobs import JobKind, JobState
from qianka.engines.base import Handle
from qianka.errors import PlatformFault, Text, Unavailable
from qianka.server import views
from qianka.services import jobs
from qianka.services.platform import Platform
from qianka.store.tables import Event, Job, Ledger, Run
from qianka.testing import FakeClock, FakeEngine, Program, caller_of, make_job, make_person, make_platform
from qianka.worker.queueing import GRACE, SUBMITS, QueueDispatcher

WAITS = {"code": "slurm_priority", "text": "Priority", "ahead": 3, "starts": None}


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path, engine_name="slurm")
    yield platform
    platform.store.close()


@pytest.fixture
def engine(platform: Platform) -> FakeEngine:
    return FakeEngine(platform.clock, queues=True)


@pytest.fixture
def dispatcher(platform: Platform, engine: FakeEngine) -> Iterator[QueueDispatcher]:
    dispatcher = QueueDispatcher(platform, engine)
    yield dispatcher
    dispatcher.close()


def read(platform: Platform, job: Job) -> Job:
    with platform.store.reading() as session:
        found = session.get(Job, job.id)
        assert found is not None
        return found


def rows(platform: Platform, table: Any) -> list[Any]:
    with platform.store.reading() as session:
        return list(session.query(table).order_by(table.id))


def advance(platform: Platform, seconds: float) -> None:
    assert isinstance(platform.clock, FakeClock)
    platform.clock.advance(seconds)


def test_everything_is_submitted_at_once_whatever_the_machines_have(
    platform: Platform, engine: FakeEngine, dispatcher: QueueDispatcher
) -> None:
    person = make_person(platform)
    made = [make_job(platform, person) for _ in range(5)]
    dispatcher.step()
    assert [handle.job for handle in engine.submitted] == [job.id for job in made] or len(engine.submitted) == 5
    dispatcher.step()
    assert {read(platform, job).state for job in made} == {"RUNNING"}


def test_the_run_is_committed_before_the_engine_hears_of_it(platform: Platform) -> None:
    class Watching(FakeEngine):
        def submit(self, job: Any, run: int, placement: Any) -> Handle:
            (row,) = rows(platform, Run)
            assert (row.job_id, row.number, row.state, row.accepted) == (job["job"], run, "PENDING", None)
            assert placement is None
            return super().submit(job, run, placement)

    engine = Watching(platform.clock, queues=True)
    make_job(platform, make_person(platform))
    QueueDispatcher(platform, engine).step()
    assert engine.submitted


def test_a_job_in_the_engines_queue_is_pending_and_tells_the_engines_reason(
    platform: Platform, engine: FakeEngine, dispatcher: QueueDispatcher
) -> None:
    person = make_person(platform)
    job = make_job(platform, person)
    engine.waiting[job.id] = WAITS
    dispatcher.step()
    dispatcher.step()
    assert (read(platform, job).state, read(platform, job).reason) == ("PENDING", WAITS)
    view = jobs.queue_view(platform, caller_of(person), job.id)
    assert view is not None
    assert (view.position, view.ahead, view.code) == (4, 3, "slurm_priority")
    assert "Slurm: Priority" in view.sentence.en
    assert "前面还有 3 个" in view.sentence.zh
    engine.waiting.clear()
    dispatcher.step()
    assert (read(platform, job).state, read(platform, job).reason) == ("RUNNING", None)


def test_the_expected_start_is_the_engines(platform: Platform, engine: FakeEngine, dispatcher: QueueDispatcher) -> None:
    person = make_person(platform)
    job = make_job(platform, person)
    engine.waiting[job.id] = {**WAITS, "starts": platform.now().timestamp() + 7200}
    dispatcher.step()
    dispatcher.step()
    view = jobs.queue_view(platform, caller_of(person), job.id)
    assert view is not None
    assert view.estimate is not None
    assert view.estimate.high == pytest.approx(7200)


def test_a_silent_engine_makes_everything_unknown_since_its_last_answer_and_concludes_nothing(
    platform: Platform, engine: FakeEngine, dispatcher: QueueDispatcher
) -> None:
    engine.default = Program(seconds=math.inf)
    person = make_person(platform)
    running, waiting = make_job(platform, person, wall_limit=1e6), make_job(platform, person)
    engine.waiting[waiting.id] = WAITS
    dispatcher.step()
    dispatcher.step()
    answered = platform.now()
    engine.down = True
    late = make_job(platform, person)
    for _ in range(20):
        advance(platform, 60)
        assert dispatcher.step() is False
    for job in (running, waiting):
        found = read(platform, job)
        assert (found.state, found.answered_at) == ("UNKNOWN", answered)
        shown = views.job(found, caller_of(person), "en")
        assert shown.answered_at == answered
        assert "last answered at 20" in (shown.reason_text or "")
    assert (read(platform, late).state, read(platform, late).reason) == ("PENDING", {"code": "engine_silent"})
    engine.down = False
    dispatcher.step()
    dispatcher.step()
    assert [read(platform, job).state for job in (running, waiting, late)] == ["RUNNING", "PENDING", "RUNNING"]
    assert [run.number for run in rows(platform, Run)] == [1, 1, 1]


def test_cancelling_what_waits_in_the_engine_goes_through_the_engine(
    platform: Platform, engine: FakeEngine, dispatcher: QueueDispatcher
) -> None:
    person = make_person(platform)
    job = make_job(platform, person)
    engine.waiting[job.id] = WAITS
    dispatcher.step()
    dispatcher.step()
    jobs.cancel(platform, caller_of(person), job.id)
    assert read(platform, job).state == "PENDING"
    engine.waiting.clear()
    dispatcher.step()
    dispatcher.step()
    assert read(platform, job).state == "CANCELLED"


def test_cancelling_what_was_never_submitted_ends_it_here(platform: Platform, engine: FakeEngine) -> None:
    person = make_person(platform)
    job = make_job(platform, person)
    jobs.cancel(platform, caller_of(person), job.id)
    assert read(platform, job).state == "CANCELLED"
    QueueDispatcher(platform, engine).step()
    assert not engine.submitted


def test_a_forgotten_submit_is_repeated_under_the_same_number(
    platform: Platform, engine: FakeEngine, dispatcher: QueueDispatcher
) -> None:
    engine.deaf = True
    job = make_job(platform, make_person(platform))
    dispatcher.step()
    engine.deaf = False
    advance(platform, GRACE)
    dispatcher.step()
    dispatcher.step()
    assert engine.submitted == [Handle(job.id, 1)]
    assert read(platform, job).state == "RUNNING"


def test_silence_at_the_submit_is_no_failure_however_often(platform: Platform) -> None:
    class Shy(FakeEngine):
        silent = SUBMITS * 3

        def submit(self, job: Any, run: int, placement: Any) -> Handle:
            self.silent -= 1
            if self.silent > 0:
                raise Unavailable(Text("忙", "busy"))
            return super().submit(job, run, placement)

    engine = Shy(platform.clock, queues=True)
    dispatcher = QueueDispatcher(platform, engine)
    job = make_job(platform, make_person(platform))
    for _ in range(SUBMITS * 4):
        dispatcher.step()
        advance(platform, GRACE)
    assert engine.submitted == [Handle(job.id, 1)]


def test_a_run_that_cannot_be_submitted_is_lost_and_tried_as_a_new_one(platform: Platform) -> None:
    class Broken(FakeEngine):
        def submit(self, job: Any, run: int, placement: Any) -> Handle:
            if run == 1:
                raise PlatformFault(Text("坏了", "broken"))
            return super().submit(job, run, placement)

    engine = Broken(platform.clock, queues=True)
    dispatcher = QueueDispatcher(platform, engine)
    job = make_job(platform, make_person(platform))
    for _ in range(SUBMITS + 30):
        dispatcher.step()
        advance(platform, GRACE)
    assert engine.submitted == [Handle(job.id, 2)]
    assert next((run.number, run.state) for run in rows(platform, Run)) == (1, "NODE_FAIL")


def test_a_preempted_run_is_counted_and_runs_again_under_a_new_number(
    platform: Platform, engine: FakeEngine, dispatcher: QueueDispatcher
) -> None:
    engine.default = Program(seconds=math.inf)
    job = make_job(platform, make_person(platform))
    dispatcher.step()
    dispatcher.step()
    advance(platform, 10)
    engine.finish(Handle(job.id, 1), JobState.PREEMPTED)
    assert dispatcher.step(), "there is something to submit again at once"
    dispatcher.step()
    dispatcher.step()
    assert (read(platform, job).run, read(platform, job).state) == (2, "RUNNING")
    assert [(line.run, line.cpu_seconds) for line in rows(platform, Ledger)] == [(1, 10.0)]


@pytest.mark.parametrize(("kind", "state", "lines"), [("run", "CANCELLED", 1), ("grade", "PENDING", 0)])
def test_scancel_by_somebody_ends_a_persons_job_but_not_a_grading(
    platform: Platform, engine: FakeEngine, dispatcher: QueueDispatcher, kind: str, state: str, lines: int
) -> None:
    engine.default = Program(seconds=math.inf)
    job = make_job(platform, make_person(platform), kind=JobKind(kind))
    dispatcher.step()
    dispatcher.step()
    advance(platform, 10)
    engine.finish(Handle(job.id, 1), JobState.CANCELLED, reason="cancelled_outside")
    dispatcher.step()
    found = read(platform, job)
    assert (found.state, len(rows(platform, Ledger))) == (state, lines)
    if kind == "run":
        assert (found.reason or {})["code"] == "cancelled_outside"


def test_a_restarted_dispatcher_submits_nothing_twice(platform: Platform, engine: FakeEngine) -> None:
    engine.default = Program(seconds=5)
    made = [make_job(platform, make_person(platform)) for _ in range(3)]
    QueueDispatcher(platform, engine).step()
    for _ in range(3):
        QueueDispatcher(platform, engine.restarted()).step()
    advance(platform, 10)
    QueueDispatcher(platform, engine.restarted()).step()
    assert len(engine.submitted) == 3
    assert {read(platform, job).state for job in made} == {"COMPLETED"}
    assert len(rows(platform, Ledger)) == 3
    kinds = [event.kind for event in rows(platform, Event) if event.topic == f"job:{made[0].id}"]
    assert kinds[-1] == "ended"
