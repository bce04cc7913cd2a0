"""The board: best accepted score a person, names by alias, who is on it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from qianka.domain.people import Role
from qianka.errors import NotFound
from qianka.services import boards, labs, versions
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Cohort, Enrollment, Lab, Person
from qianka.testing import (
    caller_of,
    enroll,
    make_attempt,
    make_cohort,
    make_person,
    make_platform,
    make_student,
    make_submission,
)
from qianka.testing.labfolders import make_lab_folder


class Class:
    """A cohort with a published lab, and a short way to enter results."""

    def __init__(self, platform: Platform, folder: Path) -> None:
        self.platform = platform
        self.cohort: Cohort = make_cohort(platform, "ai")
        teacher = make_person(platform)
        enroll(platform, self.cohort, teacher, Role.TEACHER)
        self.teacher = caller_of(teacher)
        self.lab: Lab = labs.publish(platform, self.teacher, "ai", make_lab_folder(folder))
        self.minutes = 0

    def student(self, login: str, *, show_name: bool = False) -> Person:
        return make_student(
            self.platform, self.cohort, login, name=f"名{login}", alias=f"~{login}", show_name=show_name
        )

    def enter(self, person: Person, score: float | None, verdict: str = "accepted", points: float = 80) -> None:
        """A hand-in of `person`, a minute after the one before."""
        self.minutes += 1
        at = self.platform.now() + timedelta(minutes=self.minutes)
        submission = make_submission(self.platform, self.lab, person, submitted_at=at)
        make_attempt(
            self.platform, submission, state="done", verdict=verdict, score=score, points=points, max_points=100
        )

    def rows(self, caller: Caller | None = None) -> list[tuple[int | None, str, str | None]]:
        found = boards.board(self.platform, caller or self.teacher, "ai", self.lab.slug)
        return [(row.rank, row.name, row.score) for row in found.rows]


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Class]:
    platform = make_platform(tmp_path / "data")
    yield Class(platform, tmp_path / "lab1")
    platform.store.close()


def test_ties_share_a_rank_and_the_earlier_stands_above(course: Class) -> None:
    a, b, c, d = (course.student(name) for name in "abcd")
    for person, score in ((a, 0.91234501), (b, 0.99), (c, 0.91234499), (d, 0.5)):
        course.enter(person, score)
    assert course.rows() == [(1, "名b", "0.9900"), (2, "名a", "0.9123"), (2, "名c", "0.9123"), (4, "名d", "0.5000")]


def test_only_accepted_scores_rank_and_the_best_stays(course: Class) -> None:
    """C16: a failed or refused hand-in neither ranks nor takes the best away."""
    a, b = course.student("a"), course.student("b")
    course.enter(a, 0.9)
    course.enter(a, 0.99, verdict="below_line")
    course.enter(a, None, verdict="bad_predictions")
    course.enter(a, None, verdict="infra_error")
    course.enter(b, 0.999, verdict="below_line")
    assert course.rows() == [(1, "名a", "0.9000"), (None, "名b", None)]


def test_handing_in_the_same_again_moves_nothing(course: Class) -> None:
    """C18."""
    a, b = course.student("a"), course.student("b")
    course.enter(a, 0.9)
    course.enter(b, 0.9)
    course.enter(a, 0.90000001)
    assert [name for _, name, _ in course.rows()] == ["名a", "名b"]


def test_names_are_shown_by_alias_unless_wanted(course: Class) -> None:
    a, b = course.student("a"), course.student("b", show_name=True)
    me = course.student("me")
    for person in (a, b, me):
        course.enter(person, 0.9)
    assert [name for _, name, _ in course.rows(caller_of(me))] == ["~a", "名b", "名me"]
    found = boards.board(course.platform, caller_of(me), "ai", course.lab.slug)
    assert [row.mine for row in found.rows] == [False, False, True]
    assert [row.points for row in found.rows] == [None, None, 80]


def test_staff_and_suspended_students_do_not_rank(course: Class) -> None:
    gone, here = course.student("gone"), course.student("here")
    assistant = make_person(course.platform)
    enroll(course.platform, course.cohort, assistant, Role.ASSISTANT)
    for person in (gone, here, assistant):
        course.enter(person, 0.9)
    with course.platform.store.transaction() as session:
        row = session.query(Enrollment).filter_by(person_id=gone.id).one()
        row.state = "suspended"
    assert [name for _, name, _ in course.rows()] == ["名here"]


def test_the_whole_tie_at_the_bonus_line_is_in(course: Class) -> None:
    for number in range(20):
        course.enter(course.student(f"s{number}"), 0.95 if number < 3 else 0.8)
    found = boards.board(course.platform, course.teacher, "ai", course.lab.slug)
    assert sum(row.bonus for row in found.rows) == 3


def test_a_lost_lab_folder_does_not_take_the_board_away(course: Class) -> None:
    course.enter(course.student("a"), 0.9)
    folder = labs.version_folder(course.platform, "ai", course.lab.slug, course.lab.version)
    (folder.source / "lab.toml").unlink()
    versions._load.cache_clear()
    assert course.rows() == [(1, "名a", "0.9000")]


def test_strangers_see_no_board(course: Class) -> None:
    with pytest.raises(NotFound):
        course.rows(caller_of(make_person(course.platform)))
