"""The dispatcher on the fake engine: order, faults, crashes, cancelling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.jobs import JobState
from qianka.domain.resources import Resources
from qianka.engines.base import Handle
from qianka.services import jobs, nodes
from qianka.services.platform import Platform
from qianka.store.repos import jobs as repo
from qianka.store.tables import Event, Job, Ledger, Run
from qianka.testing import FakeClock, FakeEngine, Program, caller_of, make_job, make_person, make_platform, one_node
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.engine_watch import GRACE, SUBMITS


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path)
    yield platform
    platform.store.close()


@pytest.fixture
def engine(platform: Platform) -> FakeEngine:
    return FakeEngine(platform.clock)


@pytest.fixture
def dispatcher(platform: Platform, engine: FakeEngine) -> Dispatcher:
    return Dispatcher(platform, engine)


def read(platform: Platform, job_id: str) -> Job:
    with platform.store.reading() as session:
        job = session.get(Job, job_id)
        assert job is not None
        return job


def rows(platform: Platform, table: Any) -> list[Any]:
    with platform.store.reading() as session:
        return list(session.query(table).order_by(table.id))


def told(platform: Platform, job: Job) -> list[str]:
    """What was told on the job's own topic, oldest first."""
    return [event.kind for event in rows(platform, Event) if event.topic == f"job:{job.id}"]


def advance(platform: Platform, seconds: float) -> None:
    assert isinstance(platform.clock, FakeClock)
    platform.clock.advance(seconds)


def until_idle(dispatcher: Dispatcher, seconds: float = 1000.0) -> None:
    """Step until nothing is left to do, at most `seconds` of the fake clock."""
    end = dispatcher.platform.now() + timedelta(seconds=seconds)
    while dispatcher.platform.now() < end:
        if not dispatcher.step():
            with dispatcher.platform.store.reading() as session:
                if not (repo.live(session) or repo.pending(session, 1)):
                    return
            dispatcher.wait(1.0)


def test_a_job_runs_is_settled_once_and_enters_the_ledger(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.default = Program(seconds=30)
    job = make_job(platform, make_person(platform), resources=Resources(cpus=2, memory=1 << 30))
    until_idle(dispatcher)
    done = read(platform, job.id)
    assert (done.state, done.run, done.result and done.result["run"]) == ("COMPLETED", 1, 1)
    (line,) = rows(platform, Ledger)
    assert (line.cpu_seconds, line.gpu_seconds, line.charged) == (60.0, 0.0, True)
    (run,) = rows(platform, Run)
    assert (run.accepted, run.cores, run.node) == (True, [0, 1], "fake")
    assert told(platform, job) == ["queued", "running", "ended"]


def test_a_job_is_running_in_the_store_before_the_engine_hears_of_it(platform: Platform) -> None:
    class Watching(FakeEngine):
        def submit(self, job: Any, run: int, placement: Any) -> Handle:
            assert read(platform, job["job"]).state == "RUNNING"
            assert read(platform, job["job"]).run == run
            return super().submit(job, run, placement)

    engine = Watching(platform.clock)
    make_job(platform, make_person(platform))
    Dispatcher(platform, engine).step()
    assert engine.submitted


def test_no_more_starts_than_there_are_cores_and_the_rest_knows_why(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    person = make_person(platform)
    made = [make_job(platform, person) for _ in range(3)]
    dispatcher.step()
    assert len(engine.submitted) == 2
    waiting = [j for j in made if j.id not in {h.job for h in engine.submitted}]
    assert read(platform, waiting[0].id).reason == {"code": "waiting_cores"}
    until_idle(dispatcher)
    assert {read(platform, j.id).state for j in made} == {"COMPLETED"}


def test_a_failure_of_the_user_is_not_tried_again_and_is_charged(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.default = Program(exit_code=3)
    job = make_job(platform, make_person(platform))
    until_idle(dispatcher)
    assert (read(platform, job.id).state, len(engine.submitted), len(rows(platform, Ledger))) == ("FAILED", 1, 1)


def test_a_lost_run_is_a_new_run_after_a_pause_and_is_never_charged(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.default = Program(seconds=10)
    job = make_job(platform, make_person(platform))
    dispatcher.step()
    engine.lose(Handle(job.id, 1))
    dispatcher.step()
    waiting = read(platform, job.id)
    assert (waiting.state, waiting.retries, waiting.reason and waiting.reason["code"]) == (
        "PENDING",
        1,
        "waiting_retry",
    )
    dispatcher.step()
    assert engine.submitted == [Handle(job.id, 1)]
    until_idle(dispatcher)
    assert (read(platform, job.id).state, read(platform, job.id).run) == ("COMPLETED", 2)
    assert [(run.number, run.state, run.accepted) for run in rows(platform, Run)] == [
        (1, "NODE_FAIL", False),
        (2, "COMPLETED", True),
    ]
    assert [line.run for line in rows(platform, Ledger)] == [2]


def test_after_the_last_retry_a_job_ends_as_the_platforms_fault_uncharged(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.default = Program(seconds=5, result={"state": "NODE_FAIL", "reason": {"code": "sandbox"}})
    job = make_job(platform, make_person(platform), max_retries=2)
    until_idle(dispatcher)
    ended = read(platform, job.id)
    assert (ended.state, ended.run, ended.reason) == ("NODE_FAIL", 3, {"code": "sandbox"})
    assert rows(platform, Ledger) == []


def test_a_run_that_somebody_stopped_from_outside_is_tried_again_uncharged(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    """As when the machine shuts down and the supervisor is asked to end."""
    engine.default = Program(seconds=30)
    job = make_job(platform, make_person(platform))
    dispatcher.step()
    advance(platform, 3)
    engine.finish(Handle(job.id, 1), JobState.CANCELLED)
    until_idle(dispatcher)
    assert (read(platform, job.id).state, read(platform, job.id).run) == ("COMPLETED", 2)
    assert [line.run for line in rows(platform, Ledger)] == [2]


def test_pauses_between_retries_grow(platform: Platform, engine: FakeEngine, dispatcher: Dispatcher) -> None:
    engine.default = Program(seconds=0.5, result={"state": "NODE_FAIL"})
    make_job(platform, make_person(platform), max_retries=3)
    until_idle(dispatcher)
    starts = [run.started_at for run in rows(platform, Run)]
    gaps = [(b - a).total_seconds() for a, b in pairwise(starts)]
    assert len(gaps) == 3
    assert gaps[0] >= 1 and gaps[1] >= 4 and gaps[2] >= 16  # noqa: PT018 - one fact


def test_a_worker_killed_between_commit_and_submit_starts_the_same_run_later(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    job = make_job(platform, make_person(platform))
    engine.deaf = True  # the commit happened, the submit did not
    dispatcher.step()
    engine.deaf = False
    restarted = Dispatcher(platform, engine.restarted())
    until_idle(restarted)
    assert engine.submitted == [Handle(job.id, 1)]
    assert read(platform, job.id).state == "COMPLETED"


def test_a_worker_killed_before_settling_settles_once_after_its_restart(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    job = make_job(platform, make_person(platform))
    dispatcher.step()
    advance(platform, 60)
    for _ in range(3):
        Dispatcher(platform, engine.restarted()).step()
    assert read(platform, job.id).state == "COMPLETED"
    assert (len(rows(platform, Ledger)), [run.accepted for run in rows(platform, Run)]) == (1, [True])


def test_a_submit_that_vanishes_is_repeated_after_a_grace_and_at_last_given_up(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    job = make_job(platform, make_person(platform), max_retries=0)
    engine.deaf = True
    for _ in range(SUBMITS):
        dispatcher.step()
        advance(platform, GRACE)
    dispatcher.step()
    assert (read(platform, job.id).state, engine.submitted) == ("NODE_FAIL", [])
    assert rows(platform, Ledger) == []


def test_an_engine_that_does_not_answer_makes_unknown_and_nothing_is_concluded(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.default = Program(seconds=100)
    job = make_job(platform, make_person(platform), wall_limit=200)
    dispatcher.step()
    advance(platform, 10)
    dispatcher.step()
    heard = platform.now()
    engine.down = True
    advance(platform, 50)
    dispatcher.step()
    lost = read(platform, job.id)
    assert (lost.state, lost.answered_at, lost.run) == ("UNKNOWN", heard, 1)
    engine.down = False
    dispatcher.step()
    assert read(platform, job.id).state == "RUNNING"
    advance(platform, 50)
    dispatcher.step()
    assert read(platform, job.id).state == "COMPLETED"
    assert told(platform, job) == ["queued", "running", "unknown", "running", "ended"]


def test_a_job_that_ended_while_the_engine_was_silent_is_settled_from_unknown(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    job = make_job(platform, make_person(platform))
    dispatcher.step()
    engine.down = True
    dispatcher.step()
    advance(platform, 60)
    engine.down = False
    dispatcher.step()
    assert read(platform, job.id).state == "COMPLETED"


def test_a_result_of_a_run_that_no_longer_counts_is_kept_aside(platform: Platform, engine: FakeEngine) -> None:
    """The run was taken for lost, a second one runs, then the first reports after all."""
    engine.default = Program(seconds=math.inf)
    job = make_job(platform, make_person(platform))
    dispatcher = Dispatcher(platform, engine)
    dispatcher.step()
    engine.lose(Handle(job.id, 1))
    dispatcher.step()
    advance(platform, 2)
    dispatcher.step()
    engine.finish(Handle(job.id, 1), JobState.COMPLETED)
    late = engine.poll([Handle(job.id, 1)])[Handle(job.id, 1)].result
    with platform.store.transaction() as session:
        found = session.get(Job, job.id)
        assert found is not None
        assert not jobs.settle(session, platform, found, 1, late)
    assert (read(platform, job.id).state, read(platform, job.id).run, rows(platform, Ledger)) == ("RUNNING", 2, [])
    engine.finish(Handle(job.id, 2), JobState.FAILED, exit_code=1)
    dispatcher.step()
    assert [run.accepted for run in rows(platform, Run)] == [False, True]
    assert read(platform, job.id).state == "FAILED"


def test_a_running_job_is_cancelled_through_the_engine_and_pays_for_its_time(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.default = Program(seconds=math.inf)
    person = make_person(platform)
    job = make_job(platform, person)
    dispatcher.step()
    advance(platform, 20)
    jobs.cancel(platform, caller_of(person), job.id)
    jobs.cancel(platform, caller_of(person), job.id)
    until_idle(dispatcher)
    ended = read(platform, job.id)
    assert (ended.state, ended.reason and ended.reason["code"]) == ("CANCELLED", "cancelled")
    assert [line.cpu_seconds for line in rows(platform, Ledger)] == [20.0]


def test_a_job_lost_while_it_was_being_cancelled_is_not_tried_again(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.default = Program(seconds=math.inf)
    person = make_person(platform)
    job = make_job(platform, person)
    dispatcher.step()
    jobs.cancel(platform, caller_of(person), job.id)
    engine.lose(Handle(job.id, 1))
    dispatcher.step()
    assert (read(platform, job.id).state, rows(platform, Ledger)) == ("CANCELLED", [])


def test_a_cancelled_job_whose_submit_was_lost_never_begins(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.deaf = True
    person = make_person(platform)
    job = make_job(platform, person)
    dispatcher.step()
    jobs.cancel(platform, caller_of(person), job.id)
    engine.deaf = False
    until_idle(dispatcher)
    assert (read(platform, job.id).state, engine.submitted) == ("CANCELLED", [])


def test_a_preempted_run_is_counted_and_runs_again_without_using_up_a_retry(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    engine.default = Program(seconds=math.inf)
    job = make_job(platform, make_person(platform))
    dispatcher.step()
    advance(platform, 7)
    engine.finish(Handle(job.id, 1), JobState.PREEMPTED)
    dispatcher.step()
    dispatcher.step()
    assert (read(platform, job.id).run, read(platform, job.id).retries) == (2, 0)
    assert [line.cpu_seconds for line in rows(platform, Ledger)] == [7.0]


def test_a_guard_that_refuses_keeps_every_write_out(platform: Platform, engine: FakeEngine) -> None:
    class Lost(Exception):
        pass

    def refuse(_: Any) -> None:
        raise Lost

    job = make_job(platform, make_person(platform))
    with pytest.raises(Lost):
        Dispatcher(platform, engine, guard=refuse).step()
    assert (read(platform, job.id).state, engine.submitted) == ("PENDING", [])


def test_who_used_much_lately_waits_behind_who_did_not(platform: Platform) -> None:
    engine = FakeEngine(platform.clock, nodes=[one_node(cores=1)])
    dispatcher = Dispatcher(platform, engine)
    heavy, light = make_person(platform), make_person(platform)
    make_job(platform, heavy)
    until_idle(dispatcher)
    second = make_job(platform, heavy)
    advance(platform, 1)
    first = make_job(platform, light)
    until_idle(dispatcher)
    assert [h.job for h in engine.submitted][1:] == [first.id, second.id]


def test_the_machines_are_told_to_those_who_must_know_what_fits(platform: Platform, dispatcher: Dispatcher) -> None:
    assert nodes.known(platform) == []
    dispatcher.step()
    assert nodes.known(platform) == [one_node()]
    (platform.folders.run / "nodes.json").write_text("[{", "utf-8")
    assert nodes.known(platform) == []


def test_several_ends_and_starts_are_one_transaction(
    platform: Platform, engine: FakeEngine, dispatcher: Dispatcher
) -> None:
    person = make_person(platform)
    for _ in range(4):
        make_job(platform, person)
    dispatcher.step()
    advance(platform, 5)
    commits = 0
    real = platform.store.transaction

    def counted() -> Any:
        nonlocal commits
        commits += 1
        return real()

    platform.store.transaction = counted  # type: ignore[method-assign]
    dispatcher.step()
    assert (commits, len(engine.submitted)) == (1, 4)
