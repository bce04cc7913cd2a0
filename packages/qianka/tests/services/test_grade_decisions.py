"""Bonus, override and comment: one of each holds, with its reason; exports and totals follow."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from openpyxl import load_workbook
from qianka.domain.people import Role
from qianka.errors import BadInput, Conflict, Forbidden, NotFound
from qianka.services import grades
from qianka.services.attempts.outcome import update_grade
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Audit, Cohort, Event, Lab, Person
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


@pytest.fixture
def teacher(platform: Platform, cohort: Cohort) -> Caller:
    person = make_person(platform, "teacher")
    enroll(platform, cohort, person, Role.TEACHER)
    return caller_of(person)


def graded(platform: Platform, lab: Lab, person: Person, points: float) -> None:
    handed = make_submission(platform, lab, person)
    make_attempt(platform, handed, state="done", verdict="accepted", points=points, max_points=100)
    with platform.store.transaction() as session:
        update_grade(session, platform, lab, person.id, "best")


def decide(
    platform: Platform, caller: Caller, login: str, kind: str, points: float | None = None, text: str = "why"
) -> int:
    return grades.adjust(platform, caller, "ai", "lab1", login, kind=kind, points=points, text=text).row.id


def points_of(platform: Platform, caller: Caller) -> dict[str, float | None]:
    return {
        line.login: line.grades["lab1"].points if "lab1" in line.grades else None
        for line in grades.of_cohort(platform, caller, "ai")
    }


def test_the_newest_of_a_kind_holds_and_taking_it_back_leaves_what_was_graded(
    platform: Platform, cohort: Cohort, lab: Lab, teacher: Caller
) -> None:
    amy = make_student(platform, cohort, "amy")
    graded(platform, lab, amy, 70)
    decide(platform, teacher, "amy", "override", 60)
    second = decide(platform, teacher, "AMY", "override", 90, "the answer key was wrong")
    decide(platform, teacher, "amy", "bonus", 5)
    decide(platform, teacher, "amy", "comment", text="well argued")
    (mine,) = grades.mine(platform, caller_of(amy))
    assert mine.points == 95
    decided = (mine.counted.override, mine.counted.bonus, mine.counted.comment)
    assert [one and one.text for one in decided] == ["the answer key was wrong", "why", "well argued"]
    assert points_of(platform, teacher) == {"amy": 95}
    grades.revoke(platform, teacher, "ai", second)
    assert points_of(platform, teacher) == {"amy": 75}
    with pytest.raises(Conflict):
        grades.revoke(platform, teacher, "ai", second)
    seen = grades.decisions(platform, caller_of(amy), "ai", "lab1")
    assert [(one.row.kind, one.row.revoked_at is None) for one in seen] == [
        ("comment", True),
        ("bonus", True),
        ("override", False),
        ("override", False),
    ]
    with platform.store.reading() as session:
        lines = session.query(Audit).filter(Audit.action.startswith("grade.adjust")).all()
        told = session.query(Event).filter_by(topic=f"person:{amy.id}", kind="grade").all()
    assert [line.action for line in lines].count("grade.adjust") == 4
    assert [line.action for line in lines].count("grade.adjust.revoke") == 1
    assert lines[1].details["reason"] == "the answer key was wrong"
    assert all("points" not in event.payload and "reason" not in event.payload for event in told)


def test_who_handed_in_nothing_can_be_given_points_and_a_comment_alone_is_no_zero(
    platform: Platform, cohort: Cohort, lab: Lab, teacher: Caller
) -> None:
    make_student(platform, cohort, "amy")
    make_student(platform, cohort, "bob")
    decide(platform, teacher, "amy", "override", 55, "oral exam")
    decide(platform, teacher, "bob", "comment", text="ill")
    assert points_of(platform, teacher) == {"amy": 55, "bob": None}


def test_a_later_grading_moves_what_is_below_the_decisions(
    platform: Platform, cohort: Cohort, lab: Lab, teacher: Caller
) -> None:
    amy = make_student(platform, cohort, "amy")
    graded(platform, lab, amy, 70)
    decide(platform, teacher, "amy", "bonus", 5)
    graded(platform, lab, amy, 80)
    assert points_of(platform, teacher) == {"amy": 85}


def test_students_and_strangers_decide_nothing(platform: Platform, cohort: Cohort, lab: Lab, teacher: Caller) -> None:
    amy, bob = make_student(platform, cohort, "amy"), make_student(platform, cohort, "bob")
    other = make_cohort(platform, "other")
    stranger = make_person(platform, "stranger")
    enroll(platform, other, stranger, Role.TEACHER)
    for person in (amy, bob):
        with pytest.raises(Forbidden):
            decide(platform, caller_of(person), "amy", "bonus", 5)
    with pytest.raises(NotFound):
        decide(platform, caller_of(stranger), "amy", "bonus", 5)
    given = decide(platform, teacher, "amy", "bonus", 5)
    with pytest.raises(NotFound):
        grades.revoke(platform, caller_of(stranger), "other", given)
    with pytest.raises(Forbidden):
        grades.decisions(platform, caller_of(bob), "ai", "lab1", "amy")
    with pytest.raises(NotFound):
        decide(platform, teacher, "teacher", "bonus", 5)


@pytest.mark.parametrize(
    ("kind", "points", "text"),
    [
        ("bonus", None, "why"),
        ("bonus", 0.0, "why"),
        ("bonus", 1e9, "why"),
        ("override", -1.0, "why"),
        ("override", float("nan"), "why"),
        ("override", 5.0, "  "),
        ("comment", 5.0, "words"),
        ("comment", None, ""),
        ("gift", 5.0, "why"),
    ],
)
def test_a_decision_that_says_nothing_is_refused(
    platform: Platform, cohort: Cohort, lab: Lab, teacher: Caller, kind: str, points: float | None, text: str
) -> None:
    make_student(platform, cohort, "amy")
    with pytest.raises(BadInput):
        decide(platform, teacher, "amy", kind, points, text)


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "a\x08b"])
def test_a_workbook_holds_text_as_text_and_no_formula(
    platform: Platform, cohort: Cohort, lab: Lab, teacher: Caller, name: str
) -> None:
    amy = make_student(platform, cohort, "amy", name=name, student_number="007")
    graded(platform, lab, amy, 70)
    decide(platform, teacher, "amy", "override", 88.5, "=HYPERLINK(1)")
    book = load_workbook(io.BytesIO(grades.export_xlsx(platform, teacher, "ai")))
    head, row = book["成绩"].iter_rows()
    assert [cell.value for cell in head] == ["学号", "姓名", "班级", "账号", "在册", "lab1", "合计"]
    assert (row[0].value, row[0].data_type, row[0].number_format) == ("007", "s", "@")
    assert (row[1].value, row[1].data_type) == (name.replace("\x08", ""), "s")
    assert (row[5].value, row[6].value, row[5].data_type) == (88.5, 88.5, "n")
    for sheet in book:
        assert not [cell for line in sheet.iter_rows() for cell in line if cell.data_type == "f"]
    detail = dict(zip(*(([c.value for c in line]) for line in book["明细"].iter_rows()), strict=True))
    assert (detail["评分"], detail["改分"], detail["改分理由"], detail["得分"]) == (70, 88.5, "=HYPERLINK(1)", 88.5)


def test_the_csv_holds_what_counts(platform: Platform, cohort: Cohort, lab: Lab, teacher: Caller) -> None:
    amy = make_student(platform, cohort, "amy")
    graded(platform, lab, amy, 70)
    decide(platform, teacher, "amy", "bonus", 2.5)
    data = grades.export_csv(platform, teacher, "ai").decode("utf-8-sig")
    _, row = csv.reader(io.StringIO(data, newline=""))
    assert row[-2:] == ["72.5", "72.5"]
