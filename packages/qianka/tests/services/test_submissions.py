"""C20 and who sees what: tries, deadlines, quota, one queued grading a person, other people's hand-ins."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from qianka.errors import Conflict, Forbidden, NotFound, OverLimit, QiankaError
from qianka.services import access, submissions
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Attempt, Event, Lab, Receipt, Submission
from qianka.testing import (
    FakeClock,
    caller_of,
    enroll,
    make_job,
    make_person,
    make_platform,
    make_student,
)
from qianka.testing.handins import HandinScene, make_handin_scene
from sqlalchemy import event, func, select


def counts(platform: Platform) -> dict[str, int]:
    with platform.store.reading() as session:
        return {
            table.__tablename__: session.scalar(select(func.count()).select_from(table)) or 0
            for table in (Submission, Receipt, Attempt)
        }


def run_together(work: Callable[[Path], None], items: list[Path]) -> None:
    threads = [threading.Thread(target=work, args=(item,)) for item in items]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_five_tries_a_day_and_the_sixth_is_told_when(course: HandinScene) -> None:
    for _ in range(5):
        handed = course.hand_in()
        assert handed.attempt is not None
        course.begin(handed.attempt)
    with pytest.raises(OverLimit) as refusal:
        course.hand_in()
    assert "今天的 5 次" in refusal.value.message.zh
    assert refusal.value.hint is not None
    assert "2026-09-08 00:00 (UTC+08:00)" in refusal.value.hint.zh
    assert "15 小时 0 分" in refusal.value.hint.zh
    course.clock.advance(15 * 3600)
    assert submissions.tries(course.platform, caller_of(course.student), "ai", "lab1").left == 5
    course.hand_in()
    sentence = submissions.tries(course.platform, caller_of(course.student), "ai", "lab1").sentence
    assert sentence.zh == "剩 4 次，00:00 后重置（还有 1 天 0 小时）"


def test_midnight_is_that_of_the_cohort(course: HandinScene) -> None:
    course.clock.set(datetime(2026, 9, 7, 15, 59, 59, 900_000, tzinfo=timezone.utc))  # 23:59:59.9 in Shanghai
    for _ in range(5):
        handed = course.hand_in()
        assert handed.attempt is not None
        course.begin(handed.attempt)
    with pytest.raises(OverLimit):
        course.hand_in()
    course.clock.set(datetime(2026, 9, 7, 16, 0, 0, 100_000, tzinfo=timezone.utc))
    course.hand_in()


def test_days_of_23_and_25_hours() -> None:
    def hours(year: int, month: int, day: int) -> float:
        start, end = submissions.day_of(datetime(year, month, day, 17, tzinfo=timezone.utc), "America/Detroit")
        return (end - start).total_seconds() / 3600

    assert (hours(2022, 3, 12), hours(2022, 3, 13), hours(2022, 11, 6)) == (24, 23, 25)


def test_six_at_once_with_five_tries_are_five(tmp_path: Path, store: Any) -> None:
    clock = FakeClock()
    course = make_handin_scene(make_platform(tmp_path / "data", clock=clock, store=store), clock)
    archives = [course.archive(f"x = {i}") for i in range(6)]
    taken: list[str] = []
    refused: list[QiankaError] = []
    barrier = threading.Barrier(6)

    @event.listens_for(store.engine, "before_cursor_execute", retval=True)
    def begin_at_once(_c: Any, _cursor: Any, statement: str, parameters: Any, _x: Any, _m: Any) -> tuple[str, Any]:
        if statement.startswith("INSERT INTO attempt "):
            if isinstance(parameters, dict):  # PostgreSQL
                return statement, {
                    name: "running" if value == "queued" else value for name, value in parameters.items()
                }
            parameters = tuple("running" if value == "queued" else value for value in parameters)
        return statement, parameters

    def submit(archive: Path) -> None:
        barrier.wait()
        try:
            taken.append(course.hand_in(archive=archive).submission.id)
        except OverLimit as refusal:
            refused.append(refusal)

    run_together(submit, archives)
    assert (len(taken), len(refused)) == (5, 1)
    assert counts(course.platform)["submission"] == 5


def test_a_newer_hand_in_takes_the_place_of_a_queued_one(course: HandinScene) -> None:
    older = course.hand_in()
    newer = course.hand_in()
    assert older.attempt is not None
    assert newer.attempt is not None
    with course.platform.store.reading() as session:
        attempt = session.get(Attempt, older.attempt.id)
        submission = session.get(Submission, older.submission.id)
        assert attempt is not None
        assert submission is not None
        assert (attempt.state, attempt.verdict, submission.charged) == ("cancelled", "cancelled", False)
        kinds = [row.kind for row in session.scalars(select(Event).where(Event.topic == f"attempt:{attempt.id}"))]
        assert kinds == ["queued", "verdict"]
        states = list(session.scalars(select(Attempt.state).where(Attempt.person_id == course.student.id)))
    assert sorted(states) == ["cancelled", "queued"]
    assert submissions.tries(course.platform, caller_of(course.student), "ai", "lab1").used == 1


def test_what_has_begun_is_not_taken_back(course: HandinScene) -> None:
    older = course.hand_in()
    assert older.attempt is not None
    job = make_job(course.platform, course.student, cohort=course.cohort, attempt_id=older.attempt.id)
    with course.platform.store.transaction() as session:
        stored = session.merge(job)
        stored.state = "RUNNING"
    course.hand_in()
    with course.platform.store.reading() as session:
        attempt = session.get(Attempt, older.attempt.id)
        assert attempt is not None
        assert attempt.state == "queued"


def test_another_lab_and_another_person_are_left_alone(course: HandinScene) -> None:
    bob = make_student(course.platform, course.cohort, "bob")
    first = course.hand_in()
    course.hand_in(bob)
    with course.platform.store.reading() as session:
        assert first.attempt is not None
        attempt = session.get(Attempt, first.attempt.id)
        assert attempt is not None
        assert attempt.state == "queued"


@pytest.mark.parametrize(("seconds", "is_late"), [(0, False), (299, False), (300, False), (301, True)])
def test_deadline_with_grace(course: HandinScene, seconds: int, is_late: bool) -> None:
    assert course.lab.due_at is not None
    course.clock.set(course.lab.due_at + timedelta(seconds=seconds))
    handed = course.hand_in()
    assert handed.submission.late is is_late
    assert handed.receipt is not None
    assert json.loads(handed.receipt.body)["late"] is is_late


def test_a_lab_that_takes_no_late_ones_and_one_not_open(course: HandinScene) -> None:
    course.write_lab(late="refuse")
    assert course.lab.due_at is not None
    course.clock.set(course.lab.due_at + timedelta(seconds=301))
    with pytest.raises(Conflict) as refusal:
        course.hand_in()
    assert refusal.value.reason == "past_due"
    assert "(UTC+08:00)" in refusal.value.message.zh
    assert course.hand_in(course.teacher).attempt is not None
    with course.platform.store.transaction() as session:
        lab = session.get(Lab, course.lab.id)
        assert lab is not None
        lab.opens_at, lab.due_at = course.clock.now() + timedelta(hours=3), None
    with pytest.raises(Conflict) as refusal:
        course.hand_in()
    assert refusal.value.reason == "not_open"
    assert refusal.value.hint is not None
    assert "3 小时 0 分" in refusal.value.hint.zh
    handed = course.hand_in(course.teacher)
    assert not handed.submission.charged


def test_who_is_not_in_the_class_or_no_longer(course: HandinScene) -> None:
    stranger = make_person(course.platform, "stranger")
    with pytest.raises(NotFound):
        course.hand_in(stranger)
    gone = make_person(course.platform, "gone")
    enroll(course.platform, course.cohort, gone, state="suspended")
    with pytest.raises(Forbidden) as refusal:
        course.hand_in(gone)
    assert refusal.value.reason == "suspended"
    with pytest.raises(Forbidden):
        submissions.hand_in(course.platform, Caller.system(), "ai", "lab1", course.archive(), "x.zip", "key-12345")


def test_quota_counts_each_content_once(course: HandinScene) -> None:
    course.platform = replace(course.platform, settings=replace(course.platform.settings, quota_person_mb=1))
    big = os.urandom(600_000).hex()[:700_000]
    stored = {"README.md": big}
    first = course.hand_in(archive=course.archive("x", **stored))
    course.hand_in(archive=course.archive("x", **stored))
    assert first.submission.size > 600_000
    with pytest.raises(OverLimit) as refusal:
        course.hand_in(archive=course.archive("y", **stored))
    assert refusal.value.reason == "quota"


def test_students_see_their_own_and_staff_see_all(course: HandinScene) -> None:
    bob = make_student(course.platform, course.cohort, "bob")
    mine = course.hand_in()
    course.hand_in(bob)
    listed = submissions.list_submissions(course.platform, caller_of(course.student), "ai", "lab1")
    assert [found.submission.id for found in listed] == [mine.submission.id]
    assert listed[0].attempt is not None
    everybody = submissions.list_submissions(course.platform, caller_of(course.teacher), "ai", everybody=True)
    assert {found.person.login for found in everybody} == {"alice", "bob"}
    newest = submissions.list_submissions(course.platform, caller_of(course.teacher), "ai", everybody=True, limit=1)
    rest = submissions.list_submissions(
        course.platform, caller_of(course.teacher), "ai", everybody=True, before=newest[0].submission.id
    )
    assert len(rest) == 1
    of_bob = submissions.list_submissions(course.platform, caller_of(course.teacher), "ai", login="bob")
    assert [found.person.login for found in of_bob] == ["bob"]
    for wanted in ({"everybody": True}, {"login": "bob"}):
        with pytest.raises(Forbidden):
            submissions.list_submissions(course.platform, caller_of(course.student), "ai", **wanted)
    with pytest.raises(NotFound):
        submissions.get(course.platform, caller_of(bob), mine.submission.id)
    assert submissions.get(course.platform, caller_of(course.teacher), mine.submission.id).lab.slug == "lab1"
    assert mine.attempt is not None
    with course.platform.store.reading() as session, pytest.raises(NotFound):
        access.attempt_for(session, caller_of(bob), mine.attempt.id)
