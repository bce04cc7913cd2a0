"""Grades: what counts, who sees it, and a file that no spreadsheet can be made to calculate."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from qianka.domain.people import Role
from qianka.errors import Forbidden
from qianka.services import grades
from qianka.services.attempts.outcome import update_grade
from qianka.services.platform import Platform
from qianka.store.tables import Attempt, Cohort, Grade, Lab, Person
from qianka.testing import (
    caller_of,
    enroll,
    make_attempt,
    make_cohort,
    make_lab,
    make_person,
    make_platform,
    make_student,
    make_submission,
)


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path)
    yield platform
    platform.store.close()


@pytest.fixture
def cohort(platform: Platform) -> Cohort:
    return make_cohort(platform, "ai")


@pytest.fixture
def lab(platform: Platform, cohort: Cohort) -> Lab:
    return make_lab(platform, cohort, "lab1")


class Hand:
    """Enters ended attempts and keeps the grade up to date."""

    def __init__(self, platform: Platform, lab: Lab, policy: str = "best") -> None:
        self.platform, self.lab, self.policy = platform, lab, policy
        self.minutes = 0

    def enter(self, person: Person, points: float | None, verdict: str = "accepted") -> Attempt:
        self.minutes += 1
        at = self.platform.now() + timedelta(minutes=self.minutes)
        submission = make_submission(self.platform, self.lab, person, submitted_at=at)
        return self._add(submission, points, verdict, 1)

    def again(self, attempt: Attempt, points: float | None, verdict: str = "accepted") -> Attempt:
        """Another grading of the same submission."""
        from qianka.store.tables import Submission

        with self.platform.store.reading() as session:
            submission = session.get(Submission, attempt.submission_id)
        return self._add(submission, points, verdict, attempt.number + 1)

    def _add(self, submission: object, points: float | None, verdict: str, number: int) -> Attempt:
        made = make_attempt(
            self.platform,
            submission,  # type: ignore[arg-type]
            state="done",
            verdict=verdict,
            points=points,
            max_points=100,
            number=number,
        )
        with self.platform.store.transaction() as session:
            update_grade(session, self.platform, self.lab, made.person_id, self.policy)
        return made

    def grade(self, person: Person) -> Grade | None:
        with self.platform.store.reading() as session:
            return session.query(Grade).filter_by(person_id=person.id).one_or_none()


def test_the_best_counts_and_the_first_of_equals_stays(platform: Platform, cohort: Cohort, lab: Lab) -> None:
    person, hand = make_student(platform, cohort), Hand(platform, lab)
    first = hand.enter(person, 80)
    hand.enter(person, 60)
    hand.enter(person, 80)
    grade = hand.grade(person)
    assert grade is not None
    assert (grade.attempt_id, grade.points) == (first.id, 80)


def test_the_last_counts_where_the_lab_says_so(platform: Platform, cohort: Cohort, lab: Lab) -> None:
    person, hand = make_student(platform, cohort), Hand(platform, lab, "last")
    hand.enter(person, 80)
    last = hand.enter(person, 60)
    grade = hand.grade(person)
    assert grade is not None
    assert grade.attempt_id == last.id


@pytest.mark.parametrize("policy", ["best", "last"])
@pytest.mark.parametrize("verdict", ["infra_error", "cancelled", "invalid", "not_run"])
def test_what_is_no_grade_never_replaces_one(
    platform: Platform, cohort: Cohort, lab: Lab, policy: str, verdict: str
) -> None:
    person, hand = make_student(platform, cohort), Hand(platform, lab, policy)
    hand.enter(person, None, verdict)
    assert hand.grade(person) is None
    first = hand.enter(person, 70)
    hand.enter(person, None, verdict)
    hand.again(first, None, verdict)
    grade = hand.grade(person)
    assert grade is not None
    assert grade.attempt_id == first.id


def test_a_rerun_replaces_the_grading_before_it_even_downwards(platform: Platform, cohort: Cohort, lab: Lab) -> None:
    person, hand = make_student(platform, cohort), Hand(platform, lab)
    first = hand.enter(person, 90)
    again = hand.again(first, 50, "below_line")
    grade = hand.grade(person)
    assert grade is not None
    assert (grade.attempt_id, grade.points) == (again.id, 50)


def test_students_see_their_own_and_staff_see_all(platform: Platform, cohort: Cohort, lab: Lab) -> None:
    person, other, teacher = make_student(platform, cohort), make_student(platform, cohort), make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    Hand(platform, lab).enter(person, 88)
    (mine,) = grades.mine(platform, caller_of(person))
    assert (mine.lab, mine.points) == ("lab1", 88)
    (theirs,) = grades.mine(platform, caller_of(other))
    assert theirs.points is None
    lines = grades.of_cohort(platform, caller_of(teacher), "ai")
    assert {line.login: line.total for line in lines} == {person.login: 88, other.login: 0}
    for look in (grades.of_cohort, grades.export_csv):
        with pytest.raises(Forbidden):
            look(platform, caller_of(person), "ai")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "=cmd|' /C calc'!A0", "|x", "%x"])
def test_no_cell_becomes_a_formula(platform: Platform, cohort: Cohort, lab: Lab, name: str) -> None:
    make_student(platform, cohort, name=name, student_number=name)
    admin = make_person(platform, admin=True)
    text = grades.export_csv(platform, caller_of(admin), "ai").decode("utf-8-sig")
    _, row = csv.reader(io.StringIO(text, newline=""))
    assert row[0] == row[1] == "'" + name


def test_student_numbers_stay_text_and_come_back_whole(platform: Platform, cohort: Cohort, lab: Lab) -> None:
    numbers = ["007", "202611223344556677", "A123"]
    for number in numbers:
        make_student(platform, cohort, student_number=number)
    admin = make_person(platform, admin=True)
    data = grades.export_csv(platform, caller_of(admin), "ai")
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert sorted(row[0].strip() for row in rows[1:]) == sorted(numbers)
    assert all(not row[0][0].isdigit() for row in rows[1:])
