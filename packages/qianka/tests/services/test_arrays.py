"""Job arrays: all jobs or none, and no more at once than was asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from qianka.domain.resources import Resources
from qianka.errors import BadInput, NotFound, OverLimit
from qianka.services import jobs, nodes
from qianka.services.jobs import JobRequest
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Audit, Job, Ledger
from qianka.testing import FakeClock, FakeEngine, Program, caller_of, make_cohort, make_student, one_node
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.queueing import QueueDispatcher

ARRAY = JobRequest(argv=("true",), array="0-9%3", wall=3600.0, environment={"LR": "1"}, key="one-key-only")


@pytest.fixture
def alice(platform: Platform) -> Caller:
    nodes.publish(platform, [one_node(16, 64 << 30, 2)])
    return caller_of(make_student(platform, make_cohort(platform, cpu_hours=10.0), "alice"))


def all_jobs(platform: Platform) -> list[Job]:
    with platform.store.reading() as session:
        return list(session.query(Job).order_by(Job.id))


def in_state(platform: Platform, array: str, state: str) -> int:
    return jobs.array_states(platform, [array])[array].get(state, 0)


def test_an_index_is_a_job_with_the_names_that_scripts_for_slurm_know(platform: Platform, alice: Caller) -> None:
    first = jobs.submit(platform, alice, replace(ARRAY, array="2-8:3"))
    found = jobs.get_array(platform, alice, str(first.array_id))
    assert [job.array_index for job in found.jobs] == [2, 5, 8]
    assert len({job.id for job in found.jobs}) == 3
    words = found.jobs[1].spec["environment"]
    assert (words["LR"], words["QIANKA_ARRAY_INDEX"], words["QIANKA_ARRAY_COUNT"]) == ("1", "5", "3")
    assert (words["QIANKA_ARRAY"], words["SLURM_ARRAY_JOB_ID"]) == (found.id, found.id)
    named = [words[f"SLURM_ARRAY_TASK_{name}"] for name in ("ID", "COUNT", "MIN", "MAX", "STEP")]
    assert named == ["5", "3", "2", "8", "3"]
    assert jobs.get(platform, alice, f"{found.id}_5")[0].id == found.jobs[1].id


def test_the_budget_covers_all_of_an_array_or_none_is_made(platform: Platform, alice: Caller) -> None:
    with pytest.raises(OverLimit) as refused:
        jobs.submit(platform, alice, replace(ARRAY, array="0-10"))
    assert refused.value.details["asked"] == 11.0
    with pytest.raises(BadInput):
        jobs.submit(platform, alice, replace(ARRAY, array="0-x"))
    assert all_jobs(platform) == []
    assert jobs.dry_run(platform, alice, ARRAY).cpu_hours == 10.0
    jobs.submit(platform, alice, ARRAY)
    with pytest.raises(OverLimit):
        jobs.submit(platform, alice, JobRequest(argv=("true",), wall=60.0))


def test_the_same_key_is_the_same_array(platform: Platform, alice: Caller) -> None:
    first = jobs.submit(platform, alice, ARRAY)
    assert jobs.submit(platform, alice, ARRAY).array_id == first.array_id
    assert len(all_jobs(platform)) == 10


def test_a_setting_says_how_large_an_array_may_be(platform: Platform, alice: Caller) -> None:
    small = replace(platform, settings=replace(platform.settings, queue_array_most=9))
    with pytest.raises(OverLimit):
        jobs.submit(small, alice, ARRAY)


@pytest.mark.parametrize("queues", [False, True])
def test_no_more_run_at_once_than_asked_for_and_all_run(platform: Platform, alice: Caller, queues: bool) -> None:
    clock = FakeClock()
    platform = replace(platform, clock=clock)
    first = jobs.submit(platform, alice, replace(ARRAY, wall=360.0))
    array = str(first.array_id)
    other = jobs.submit(platform, alice, JobRequest(argv=("true",), resources=Resources(cpus=1), wall=60.0))
    engine = FakeEngine(clock, nodes=[one_node(8, 64 << 30)], queues=queues)
    dispatcher = (QueueDispatcher if queues else Dispatcher)(platform, engine)
    engine.default = Program(seconds=5.0)
    seen = 0
    for _ in range(60):
        dispatcher.step()
        held = {handle.job for handle in engine.submitted}
        at_once = len(held) - sum(job.state == "COMPLETED" and job.id in held for job in all_jobs(platform))
        running = in_state(platform, array, "RUNNING")
        assert running <= 3
        assert at_once <= 4  # the other job is not of the array
        seen = max(seen, running)
        never_begun = [job for job in all_jobs(platform) if job.array_id and job.run == 0]
        if running == 3 and never_begun:
            assert never_begun[-1].reason == {"code": "waiting_array"}
        clock.advance(2.0)
    dispatcher.close()
    assert (seen, jobs.array_states(platform, [array])) == (3, {array: {"COMPLETED": 10}})
    assert jobs.get(platform, alice, other.id)[0].state == "COMPLETED"
    with platform.store.reading() as session:
        assert session.query(Ledger).count() == 11


def test_an_array_is_cancelled_whole_and_once(platform: Platform, alice: Caller) -> None:
    array = str(jobs.submit(platform, alice, ARRAY).array_id)
    jobs.cancel(platform, alice, f"{array}_3")
    assert in_state(platform, array, "CANCELLED") == 1
    assert jobs.cancel_array(platform, alice, array).states == {"CANCELLED": 10}
    jobs.cancel_array(platform, alice, array)
    with platform.store.reading() as session:
        actions = [line.target for line in session.query(Audit) if line.action == "job.cancel"]
    assert actions.count(f"array:{array}") == 1


def test_somebody_elses_array_is_not_there(platform: Platform, alice: Caller) -> None:
    array = str(jobs.submit(platform, alice, ARRAY).array_id)
    bob = caller_of(make_student(platform, make_cohort(platform), "bob"))
    for call in (jobs.get_array, jobs.cancel_array):
        with pytest.raises(NotFound):
            call(platform, bob, array)
    for name in (f"{array}_3", f"{array}_99", f"{array}_x", array):
        with pytest.raises(NotFound):
            jobs.get(platform, bob, name)
    assert in_state(platform, array, "PENDING") == 10


def test_a_folded_list_has_one_line_an_array(platform: Platform, alice: Caller) -> None:
    array = str(jobs.submit(platform, alice, replace(ARRAY, wall=360.0)).array_id)
    alone = jobs.submit(platform, alice, JobRequest(argv=("true",), wall=0.001))
    assert {job.array_id for job in jobs.list_jobs(platform, alice, fold=True)} == {array, None}
    assert len(jobs.list_jobs(platform, alice, fold=True)) == 2
    assert len(jobs.list_jobs(platform, alice)) == 11
    assert [job.id for job in jobs.list_jobs(platform, alice, fold=True, limit=1)] in (
        [alone.id],
        [all_jobs(platform)[-1].id],
    )
