"""Boards of labs: efficiency from the ledger, groups as one, and never stale."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qianka.domain.jobs import JobKind
from qianka.services import boards, events, groups, labs
from qianka.services.attempts.outcome import graded_people, update_grade
from qianka.services.boards import lab as lab_boards
from qianka.services.platform import Platform
from qianka.store.repos import attempts as repo
from qianka.store.repos import boards as boards_repo
from qianka.store.tables import Attempt, Event, Ledger, Person, Submission
from qianka.testing import (
    caller_of,
    enroll,
    make_attempt,
    make_cohort,
    make_job,
    make_person,
    make_platform,
    make_student,
    make_submission,
)
from qianka.testing.factories import Role
from qianka.testing.labfolders import LAB_TOML, make_lab_folder
from sqlalchemy import delete, func, select


class Course:
    """A lab that groups of three may hand in, and a short way to enter results with what they took."""

    def __init__(self, platform: Platform, folder: Path) -> None:
        self.platform = platform
        self.cohort = make_cohort(platform, "ai")
        teacher = make_person(platform)
        enroll(platform, self.cohort, teacher, Role.TEACHER)
        self.teacher = caller_of(teacher)
        text = LAB_TOML.replace("[handin]", "[handin]\ngroup = 3")
        self.lab = labs.publish(platform, self.teacher, "ai", make_lab_folder(folder, text))
        self.minutes = 0

    def enter(
        self, who: Person, score: float, *, cpu: float = 0, gpu: float = 0, group_id: int | None = None
    ) -> Submission:
        """An accepted hand-in of `who` whose training took so many core- and card-seconds."""
        self.minutes += 1
        at = self.platform.now() + timedelta(minutes=self.minutes)
        handed = make_submission(self.platform, self.lab, who, submitted_at=at, group_id=group_id)
        attempt = make_attempt(
            self.platform, handed, state="done", verdict="accepted", score=score, points=80, max_points=100
        )
        for charged, share in ((True, 1.0), (False, 50.0)):  # what is not charged, as a repeat, is not counted
            job = make_job(self.platform, who, cohort=self.cohort, attempt_id=attempt.id, kind=JobKind.GRADE)
            with self.platform.store.transaction() as session:
                session.add(
                    Ledger(
                        job_id=job.id,
                        run=1,
                        person_id=who.id,
                        cohort_id=self.cohort.id,
                        kind="grade",
                        cpu_seconds=cpu * share,
                        gpu_seconds=gpu * share,
                        charged=charged,
                        started_at=at,
                        ended_at=at,
                    )
                )
        with self.platform.store.transaction() as session:
            events.emit(session, self.platform, f"board:{self.lab.id}", "changed")
        return handed

    def rows(self, *, efficiency: bool = False) -> list[tuple[int | None, str, str | None]]:
        make = boards.efficiency if efficiency else boards.board
        return [(row.rank, row.name, row.score) for row in make(self.platform, self.teacher, "ai", "lab1").rows]


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Course]:
    platform = make_platform(tmp_path / "data")
    yield Course(platform, tmp_path / "lab1")
    platform.store.close()


def student(course: Course, login: str) -> Person:
    return make_student(course.platform, course.cohort, login, name=login)


def test_score_per_gpu_minute_from_the_ledger(course: Course) -> None:
    a, b, c = (student(course, login) for login in "abc")
    course.enter(a, 0.9, cpu=600, gpu=120)
    course.enter(b, 0.8, cpu=900, gpu=60)
    course.enter(c, 0.99, cpu=1, gpu=0)  # used no card: it has no score by this measure
    found = boards.efficiency(course.platform, course.teacher, "ai", "lab1")
    assert found.unit == "gpu_minute"
    assert course.rows(efficiency=True) == [(1, "b", "0.8000"), (2, "a", "0.4500"), (None, "c", None)]
    assert course.rows()[0][1] == "c"


def test_without_cards_it_is_cpu_minutes(course: Course) -> None:
    a, b = student(course, "a"), student(course, "b")
    course.enter(a, 0.9, cpu=60)
    course.enter(b, 0.9, cpu=30)
    course.enter(b, 0.95, cpu=3000)
    assert boards.efficiency(course.platform, course.teacher, "ai", "lab1").unit == "cpu_minute"
    assert course.rows(efficiency=True) == [(1, "b", "1.8000"), (2, "a", "0.9000")]


def test_a_board_shows_each_change_at_once(course: Course) -> None:
    a = student(course, "a")
    for score in (0.8, 0.9, 0.85):
        course.enter(a, score, cpu=1)
        best = max(0.8, score if score != 0.85 else 0.9)
        assert course.rows() == [(1, "a", f"{best:.4f}")]


def test_a_regrade_that_only_rehearses_moves_nothing(course: Course) -> None:
    handed = course.enter(student(course, "a"), 0.8)
    make_attempt(
        course.platform, handed, number=2, state="done", verdict="accepted", score=0.99, counts=False, why="regrade"
    )
    with course.platform.store.transaction() as session:
        events.emit(session, course.platform, f"board:{course.lab.id}", "changed")
    assert course.rows() == [(1, "a", "0.8000")]


def test_a_group_has_one_row_and_its_grade_goes_to_each_member(course: Course) -> None:
    a, b, c = (student(course, login) for login in "abc")
    course.enter(a, 0.99)  # alone, before the group: does not stand beside it
    groups.import_csv(course.platform, course.teacher, "ai", b"group,login\nred,a\nred,b\n")
    red = groups.list_groups(course.platform, course.teacher, "ai")[0].group
    handed = course.enter(a, 0.9, group_id=red.id)
    course.enter(c, 0.8)
    assert course.rows() == [(1, "red", "0.9000"), (2, "c", "0.8000")]
    mine = boards.board(course.platform, caller_of(b), "ai", "lab1").rows
    assert [(row.name, row.mine) for row in mine] == [("red", True), (c.alias, False)]
    with course.platform.store.transaction() as session:
        assert sorted(graded_people(session, handed)) == sorted([a.id, b.id])
        for person_id in graded_people(session, handed):
            update_grade(session, course.platform, course.lab, person_id, "best")
        grade = repo.grade(session, course.lab.id, b.id)
        assert grade is not None
        assert grade.points == 80
        assert repo.grade(session, course.lab.id, c.id) is None


def ended(course: Course, handed: Submission, verdict: str, score: float | None, **changes: Any) -> Attempt:
    """One more grading of a hand-in that ends as gradings do: two events in the transaction of its end."""
    fields = {"state": "done", "verdict": verdict, "score": score, "points": 80, "max_points": 100, **changes}
    attempt = make_attempt(course.platform, handed, **fields)
    with course.platform.store.transaction() as session:
        events.emit(session, course.platform, f"attempt:{attempt.id}", "verdict", verdict=verdict)
        if attempt.counts:
            events.emit(session, course.platform, f"board:{course.lab.id}", "changed")
    return attempt


def apply_regrade(course: Course, attempt: Attempt, number: int) -> None:
    """A rehearsed grading that counts from now on, as `regrades.apply` has it."""
    with course.platform.store.transaction() as session:
        row = session.get_one(Attempt, attempt.id)
        row.counts, row.number = True, number
        events.emit(session, course.platform, f"attempt:{attempt.id}", "verdict")
        events.emit(session, course.platform, f"board:{course.lab.id}", "changed")


def whole(course: Course, rows: Any) -> Any:
    """What a process that starts now shows: nothing is kept from before."""
    lab_boards._kept.clear()
    return rows()


@pytest.mark.sqlite_only
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["hand in", "hand in", "again", "rehearse", "apply", "clean", "other"]),
            st.integers(0, 3),
            st.sampled_from(["accepted", "accepted", "accepted", "wrong_answer", "infra_error"]),
            st.sampled_from([0.5, 0.7, 0.70001, 0.9]),
            st.booleans(),
            st.booleans(),
        ),
        max_size=25,
    )
)
def test_a_board_of_which_only_what_changed_is_read_is_never_stale(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, str, float, bool, bool]]
) -> None:
    """Whatever ended, in whatever order and with looks at any time: as a process shows it that knows nothing."""
    folder = tmp_path_factory.mktemp("stale")
    course = Course(make_platform(folder / "data"), folder / "lab1")
    people = [student(course, login) for login in "abcd"]
    groups.import_csv(course.platform, course.teacher, "ai", b"group,login\nred,a\nred,b\n")
    red = groups.list_groups(course.platform, course.teacher, "ai")[0].group
    handed: list[tuple[Submission, int]] = []
    rehearsed: list[Attempt] = []
    for what, number, verdict, score, together, look in steps:
        value = score if verdict == "accepted" else None
        if what == "hand in":
            group_id = red.id if together and number < 2 else None
            at = course.platform.now() + timedelta(minutes=len(handed) % 3, seconds=len(handed))
            one = make_submission(course.platform, course.lab, people[number], submitted_at=at, group_id=group_id)
            ended(course, one, verdict, value)
            handed.append((one, 1))
        elif what in ("again", "rehearse") and handed:
            at_ = number % len(handed)
            one, last = handed[at_]
            handed[at_] = one, last + 1
            if what == "again":
                ended(course, one, verdict, value, number=last + 1)
            else:
                rehearsed.append(ended(course, one, verdict, value, number=-last - 1, counts=False, why="regrade"))
        elif what == "apply" and rehearsed:
            attempt = rehearsed.pop()
            at_ = next(i for i, (one, _) in enumerate(handed) if one.id == attempt.submission_id)
            one, last = handed[at_]
            handed[at_] = one, last + 1
            apply_regrade(course, attempt, last + 1)
        elif what == "clean":
            with course.platform.store.transaction() as session:
                newest = session.scalar(select(func.max(Event.id))) or 0
                session.execute(delete(Event).where(Event.id < newest))
        elif what == "other" and handed:  # a change that tells the board alone
            one, last = handed[number % len(handed)]
            handed[number % len(handed)] = one, last + 1
            make_attempt(
                course.platform, one, number=last + 1, state="done", verdict="accepted", score=score, points=80,
                max_points=100,
            )  # fmt: skip
            with course.platform.store.transaction() as session:
                events.emit(session, course.platform, f"board:{course.lab.id}", "changed")
        if look:
            shown = course.rows()
            assert shown == whole(course, course.rows)
    shown = course.rows()
    assert shown == whole(course, course.rows)
    course.platform.store.close()


def test_after_a_grading_only_its_owners_attempts_are_read(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [student(course, f"s{number}") for number in range(20)]
    for number in range(60):
        ended(course, make_submission(course.platform, course.lab, people[number % 20]), "accepted", 0.5)
    course.rows()
    read: list[int] = []
    ended_in_lab = boards_repo.ended_in_lab

    def counting(*given: Any) -> Any:
        rows = ended_in_lab(*given)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(boards_repo, "ended_in_lab", counting)
    ended(course, make_submission(course.platform, course.lab, people[7]), "accepted", 0.9)
    assert course.rows()[0] == (1, "s7", "0.9000")
    assert course.rows()[0] == (1, "s7", "0.9000")
    assert read == [4]
