"""Submitting, looking at and cancelling jobs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.jobs import JobKind, JobState
from qianka.domain.people import Role
from qianka.domain.resources import Label, Resources
from qianka.engines.base import Handle
from qianka.errors import BadInput, Forbidden, NotFound, OverLimit, QiankaError, Refused
from qianka.services import jobs, nodes
from qianka.services.jobs import JobRequest
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Audit, Job
from qianka.testing import (
    FakeEngine,
    Program,
    caller_of,
    enroll,
    make_attempt,
    make_cohort,
    make_job,
    make_lab,
    make_person,
    make_platform,
    make_student,
    make_submission,
    one_node,
)
from qianka.worker.dispatcher import Dispatcher

TREE = "ab" * 32


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path)
    yield platform
    platform.store.close()


def test_a_students_script_becomes_a_contained_job_of_their_only_cohort(platform: Platform) -> None:
    (platform.folders.trees / TREE).mkdir()
    cohort = make_cohort(platform)
    caller = caller_of(make_student(platform, cohort))
    woken: list[int] = []
    platform = replace(platform, wake_worker=lambda: woken.append(1))
    job = jobs.submit(
        platform, caller, JobRequest(script="code/train.py", args=("--epochs", "1"), tree=TREE, environment={"LR": "1"})
    )
    assert (job.state, job.cohort_id, job.kind, job.charged, woken) == ("PENDING", cohort.id, "run", True, [1])
    assert job.spec["argv"] == ["python", "/work/code/train.py", "--epochs", "1"]
    assert (job.spec["work"], job.spec["network"]) == (str(platform.folders.trees / TREE), "none")
    assert job.spec["isolation"] == {"backend": "auto", "minimum": "full"}
    assert job.spec["runtime"] is None
    with platform.store.reading() as session:
        assert [a.action for a in session.query(Audit)] == ["job.submit"]


def test_the_student_runtime_is_used_where_it_is(platform: Platform) -> None:
    (platform.folders.runtime / "bin").mkdir(parents=True)
    (platform.folders.runtime / "bin" / "python").touch()
    caller = caller_of(make_student(platform, make_cohort(platform)))
    assert jobs.submit(platform, caller, JobRequest(argv=("python", "-V"))).spec["runtime"] == str(
        platform.folders.runtime
    )


def test_the_same_key_is_the_same_job_a_person(platform: Platform) -> None:
    cohort = make_cohort(platform)
    one, two = caller_of(make_student(platform, cohort)), caller_of(make_student(platform, cohort))
    request = JobRequest(argv=("true",), key="k1")
    first = jobs.submit(platform, one, request)
    assert jobs.submit(platform, one, request).id == first.id
    assert jobs.submit(platform, two, request).id != first.id


@pytest.mark.parametrize(
    ("change", "error", "reason"),
    [
        ({"argv": ()}, BadInput, "argv"),
        ({"argv": ("a\0b",)}, BadInput, "argv"),
        ({"argv": ("x" * 200_000,)}, BadInput, "argv"),
        ({"wall": 0}, BadInput, "wall"),
        ({"wall": float("nan")}, BadInput, "wall"),
        ({"wall": 8 * 86400}, BadInput, "wall"),
        ({"resources": Resources(cpus=0)}, BadInput, "cpus"),
        ({"resources": Resources(cpus=float("inf"))}, BadInput, "cpus"),
        ({"resources": Resources(memory=1)}, BadInput, "memory"),
        ({"resources": Resources(gpus=-1)}, BadInput, "gpus"),
        ({"environment": {"A=B": "1"}}, BadInput, "environment"),
        ({"name": "two\nlines"}, BadInput, "name"),
        ({"argv": (), "script": "train.py"}, BadInput, "script"),
        ({"argv": (), "script": "../x.py", "tree": TREE}, BadInput, "script"),
        ({"tree": TREE}, NotFound, "no_tree"),
        ({"tree": "../../etc"}, NotFound, "no_tree"),
        ({"cohort": "elsewhere"}, NotFound, None),
        ({"label": Label.URGENT}, Forbidden, "label"),
        ({"resources": Resources(cpus=64)}, Refused, "impossible"),
        ({"resources": Resources(gpus=1)}, Refused, "impossible"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason_and_queues_nothing(
    platform: Platform, change: dict[str, Any], error: type[QiankaError], reason: str | None
) -> None:
    nodes.publish(platform, [one_node()])
    caller = caller_of(make_student(platform, make_cohort(platform)))
    with pytest.raises(error) as refused:
        jobs.submit(platform, caller, replace(JobRequest(argv=("true",)), **change))
    assert reason is None or refused.value.reason == reason
    assert refused.value.hint is not None
    assert jobs.list_jobs(platform, caller) == []


def test_who_is_in_no_cohort_or_in_two_must_say_or_join(platform: Platform) -> None:
    stranger = make_person(platform)
    with pytest.raises(Forbidden, match="no cohort"):
        jobs.submit(platform, caller_of(stranger), JobRequest(argv=("true",)))
    one, two = make_cohort(platform), make_cohort(platform)
    enroll(platform, one, stranger)
    enroll(platform, two, stranger)
    with pytest.raises(BadInput, match="more than one"):
        jobs.submit(platform, caller_of(stranger), JobRequest(argv=("true",)))
    assert jobs.submit(platform, caller_of(stranger), JobRequest(argv=("true",), cohort=two.slug)).cohort_id == two.id


def test_a_suspended_student_starts_nothing_and_staff_may_be_urgent(platform: Platform) -> None:
    cohort = make_cohort(platform)
    gone, teacher = make_person(platform), make_person(platform)
    enroll(platform, cohort, gone, state="suspended")
    enroll(platform, cohort, teacher, Role.TEACHER)
    with pytest.raises(Forbidden):
        jobs.submit(platform, caller_of(gone), JobRequest(argv=("true",), cohort=cohort.slug))
    with pytest.raises(Forbidden):
        jobs.submit(platform, caller_of(gone), JobRequest(argv=("true",)))
    assert jobs.submit(platform, caller_of(teacher), JobRequest(argv=("true",), label=Label.URGENT)).label == "urgent"
    with pytest.raises(Forbidden):
        jobs.submit(platform, Caller.system(), JobRequest(argv=("true",)))


def test_the_budget_is_checked_at_submit(platform: Platform) -> None:
    cohort = make_cohort(platform, cpu_hours=1.0)
    caller = caller_of(make_student(platform, cohort))
    jobs.submit(platform, caller, JobRequest(argv=("true",), wall=3000))
    with pytest.raises(OverLimit) as refused:
        jobs.submit(platform, caller, JobRequest(argv=("true",), wall=3000))
    assert refused.value.reason == "budget_cpu"
    jobs.submit(platform, caller, JobRequest(argv=("true",), wall=600))


def test_parallel_submits_cannot_both_take_the_last_of_a_budget(platform: Platform) -> None:
    cohort = make_cohort(platform, cpu_hours=1.0)
    caller = caller_of(make_student(platform, cohort))
    taken: list[str] = []

    def one() -> None:
        with contextlib.suppress(OverLimit):
            taken.append(jobs.submit(platform, caller, JobRequest(argv=("true",), wall=2000)).id)

    threads = [threading.Thread(target=one) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1


def test_students_see_their_own_jobs_staff_those_of_their_cohort(platform: Platform) -> None:
    cohort, other = make_cohort(platform), make_cohort(platform)
    student, classmate, teacher = make_student(platform, cohort), make_student(platform, cohort), make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    mine = make_job(platform, student, cohort=cohort)
    elsewhere = make_job(platform, make_student(platform, other), cohort=other)
    assert [j.id for j in jobs.list_jobs(platform, caller_of(student))] == [mine.id]
    assert jobs.list_jobs(platform, caller_of(classmate)) == []
    everybody = jobs.list_jobs(platform, caller_of(teacher), cohort=cohort.slug, everybody=True)
    assert [j.id for j in everybody] == [mine.id]
    with pytest.raises(Forbidden):
        jobs.list_jobs(platform, caller_of(student), cohort=cohort.slug, everybody=True)
    with pytest.raises(Forbidden):
        jobs.list_jobs(platform, caller_of(teacher), everybody=True)
    for looking in (jobs.get, jobs.cancel, jobs.queue_view, jobs.read_log):
        with pytest.raises(NotFound):
            looking(platform, caller_of(classmate), mine.id)  # type: ignore[operator]
        with pytest.raises(NotFound):
            looking(platform, caller_of(teacher), elsewhere.id)  # type: ignore[operator]


def test_a_waiting_job_is_cancelled_at_once_and_again_changes_nothing(platform: Platform) -> None:
    cohort = make_cohort(platform)
    caller = caller_of(make_student(platform, cohort))
    job = jobs.submit(platform, caller, JobRequest(argv=("true",)))
    ended = jobs.cancel(platform, caller, job.id)
    assert (ended.state, ended.reason, ended.run) == ("CANCELLED", {"code": "cancelled"}, 0)
    assert jobs.cancel(platform, caller, job.id).ended_at == ended.ended_at


def test_a_stage_of_a_grading_is_not_a_students_to_cancel(platform: Platform) -> None:
    cohort = make_cohort(platform)
    student, teacher = make_student(platform, cohort), make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    attempt = make_attempt(platform, make_submission(platform, make_lab(platform, cohort), student))
    job = make_job(platform, student, cohort=cohort, kind=JobKind.GRADE, attempt_id=attempt.id)
    with pytest.raises(Forbidden):
        jobs.cancel(platform, caller_of(student), job.id)
    assert jobs.cancel(platform, caller_of(teacher), job.id).state == "CANCELLED"


def test_a_stage_is_idempotent_by_its_key_and_told_on_the_attempts_topic(platform: Platform) -> None:
    cohort = make_cohort(platform)
    student = make_student(platform, cohort)
    attempt = make_attempt(platform, make_submission(platform, make_lab(platform, cohort), student))
    one = make_job(platform, student, cohort=cohort, key="attempt:x:train:1", attempt_id=attempt.id)
    two = make_job(platform, student, cohort=cohort, key="attempt:x:train:1", attempt_id=attempt.id)
    assert one.id == two.id
    engine = FakeEngine(platform.clock)
    Dispatcher(platform, engine).step()
    from qianka.services import events

    kinds = [event.kind for event in events.read(platform, [f"attempt:{attempt.id}"], 0)]
    assert kinds == ["job_queued", "job_running"]


def test_the_queue_tells_place_range_and_reason(platform: Platform) -> None:
    cohort = make_cohort(platform)
    student = make_student(platform, cohort)
    engine = FakeEngine(platform.clock, nodes=[one_node(cores=1)])
    engine.programs["train"] = Program(seconds=20)
    dispatcher = Dispatcher(platform, engine)
    make_job(platform, student, cohort=cohort, name="train", wall_limit=100)
    dispatcher.step()
    engine.wait(20)
    dispatcher.step()
    for _ in range(2):
        make_job(platform, student, cohort=cohort, name="train", wall_limit=100)
    last = make_job(platform, student, cohort=cohort, name="train", wall_limit=100)
    dispatcher.step()
    view = jobs.queue_view(platform, caller_of(student), last.id)
    assert view is not None
    assert (view.position, view.ahead, view.code) == (2, 1, "waiting_cores")
    assert view.estimate is not None
    assert (view.estimate.low, view.estimate.high) == (40.0, 200.0)
    assert view.sentence.en == "1 in front, expected to start in 40 s to 3 min (waiting for free cores)"
    assert view.sentence.zh == "前面还有 1 个，预计 40 秒到 3 分钟后开始（等待空闲的 CPU 核）"
    running = engine.submitted[-1].job
    assert jobs.queue_view(platform, caller_of(student), running) is None


def test_logs_are_read_piece_by_piece_until_the_job_has_ended(platform: Platform) -> None:
    cohort = make_cohort(platform)
    student = make_student(platform, cohort)
    engine = FakeEngine(platform.clock, jobs=platform.folders.jobs)
    engine.default = Program(stdout="第一行\nsecond\n")
    job = make_job(platform, student, cohort=cohort)
    assert jobs.read_log(platform, caller_of(student), job.id) == jobs.LogPiece("", 0, False, 0)
    dispatcher = Dispatcher(platform, engine)
    dispatcher.step()
    engine.wait(5)
    dispatcher.step()
    (platform.folders.jobs / job.id / "runs/1/result.json").write_text("{}")
    first = jobs.read_log(platform, caller_of(student), job.id)
    assert (first.text, first.ended, first.run) == ("第一行\nsecond\n", False, 1)
    assert jobs.read_log(platform, caller_of(student), job.id, offset=first.offset).ended


def test_every_reason_that_policy_gives_has_its_sentence() -> None:
    from qianka.policy.plan import REASONS

    assert set(REASONS) <= set(jobs.REASONS)
    assert jobs.reason_text({"code": "waiting_cores"}) == jobs.REASONS["waiting_cores"]
    assert jobs.reason_text(None) is None
    unknown = jobs.reason_text({"code": "new_code"})
    assert unknown is not None
    assert unknown.en == "new_code"


def test_a_damaged_result_time_does_not_stop_the_settling(platform: Platform) -> None:
    engine = FakeEngine(platform.clock)
    engine.default = Program(result={"started_at": "yesterday", "ended_at": 7, "wall": "long"})
    job = make_job(platform, make_person(platform))
    dispatcher = Dispatcher(platform, engine)
    dispatcher.step()
    engine.wait(5)
    dispatcher.step()
    with platform.store.reading() as session:
        row = session.get(Job, job.id)
        assert row is not None
        assert (row.state, row.ended_at) == (JobState.COMPLETED.value, platform.now())
    assert engine.submitted == [Handle(job.id, 1)]
