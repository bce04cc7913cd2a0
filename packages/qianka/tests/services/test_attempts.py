"""Asking for another grading, and who sees which part of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka.domain.people import Role
from qianka.errors import Conflict, Forbidden, NotFound, Refused
from qianka.services import attempts
from qianka.services.platform import Platform
from qianka.store.tables import Audit, Cohort, Lab, Person
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
    return make_lab(platform, cohort, version="v2")


@pytest.fixture
def teacher(platform: Platform, cohort: Cohort) -> Person:
    person = make_person(platform)
    enroll(platform, cohort, person, Role.TEACHER)
    return person


def test_a_rerun_is_a_new_attempt_by_the_present_version(
    platform: Platform, cohort: Cohort, lab: Lab, teacher: Person
) -> None:
    submission = make_submission(platform, lab, make_student(platform, cohort))
    make_attempt(platform, submission, state="done", verdict="infra_error")
    made = attempts.rerun(platform, caller_of(teacher), submission.id)
    assert (made.number, made.why, made.state, made.lab_version) == (2, "rerun", "queued", "v2")
    with platform.store.reading() as session:
        assert session.query(Audit).one().action == "attempt.rerun"
    with pytest.raises(Conflict):
        attempts.rerun(platform, caller_of(teacher), submission.id)


def test_students_cannot_ask_for_a_rerun(platform: Platform, cohort: Cohort, lab: Lab) -> None:
    student, other = make_student(platform, cohort), make_student(platform, cohort)
    submission = make_submission(platform, lab, student)
    with pytest.raises(Forbidden):
        attempts.rerun(platform, caller_of(student), submission.id)
    with pytest.raises(NotFound):
        attempts.rerun(platform, caller_of(other), submission.id)


def test_an_invalid_hand_in_has_nothing_to_grade(platform: Platform, cohort: Cohort, lab: Lab, teacher: Person) -> None:
    submission = make_submission(platform, lab, make_student(platform, cohort), state="invalid")
    with pytest.raises(Refused):
        attempts.rerun(platform, caller_of(teacher), submission.id)


def test_notes_are_for_staff_alone(platform: Platform, cohort: Cohort, lab: Lab, teacher: Person) -> None:
    student, other = make_student(platform, cohort), make_student(platform, cohort)
    submission = make_submission(platform, lab, student)
    made = make_attempt(platform, submission, state="done", staff_notes={"flags": ["x"]}, feedback={"verdict": "x"})
    assert attempts.get(platform, caller_of(teacher), made.id).staff_notes == {"flags": ["x"]}
    mine = attempts.get(platform, caller_of(student), made.id)
    assert (mine.staff_notes, mine.feedback) == (None, {"verdict": "x"})
    assert [a.staff_notes for a in attempts.of_submission(platform, caller_of(student), submission.id)] == [None]
    for look, name in ((attempts.get, made.id), (attempts.of_submission, submission.id)):
        with pytest.raises(NotFound):
            look(platform, caller_of(other), name)
