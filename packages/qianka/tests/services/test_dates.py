"""Dates: who may hand in when, what being late costs, and what a change of dates moves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from qianka.errors import BadInput, Conflict, Forbidden, NotFound
from qianka.services import dates, submissions
from qianka.services.attempts.outcome import update_grade
from qianka.services.dates import More
from qianka.services.platform import Caller
from qianka.store.tables import Attempt, Audit, Cohort, Event, Grade, GradeChange, Lab, Person, Submission
from qianka.testing import caller_of, make_lab, make_student
from qianka.testing.handins import HandinScene

DAY = timedelta(days=1)
PENALTY = """
title = "实验"
[handin]
required = ["code/train.py", "README.md"]
attempts_a_day = 50
late = "penalty"
late_penalty = 0.10
grace_seconds = 60
[[check]]
kind = "metric"
metric = "accuracy"
weight = 100
floor = 0.3
line = 0.7
full = 0.8
"""


class Class:
    """The hand-in scene with a lab that takes ten per cent a day, and a grader in one line."""

    def __init__(self, scene: HandinScene) -> None:
        self.scene, self.platform, self.clock = scene, scene.platform, scene.clock
        self.teacher = caller_of(scene.teacher)
        (scene.folder / "lab.toml").write_text(PENALTY, "utf-8")
        assert scene.lab.due_at is not None
        self.due: datetime = scene.lab.due_at

    def at(self, after: timedelta) -> None:
        """It is so long after the due date of the class."""
        self.clock.set(self.due + after)

    def graded(self, points: float, who: Person | None = None, content: str | None = None) -> Submission:
        """Hand in now and be graded with `points`."""
        handed = self.scene.hand_in(who, content=content)
        assert handed.attempt is not None
        self.end(handed.attempt, points)
        return handed.submission

    def end(self, attempt: Attempt, points: float) -> None:
        with self.platform.store.transaction() as session:
            row = session.get(Attempt, attempt.id)
            assert row is not None
            row.state, row.verdict, row.points, row.max_points = "done", "accepted", points, 100
            lab = session.get(Lab, row.lab_id)
            assert lab is not None
            update_grade(session, self.platform, lab, row.person_id, "best")

    def grade(self, who: Person | None = None, lab: Lab | None = None) -> Grade:
        lab_id, person_id = (lab or self.scene.lab).id, (who or self.scene.student).id
        with self.platform.store.reading() as session:
            return session.query(Grade).filter_by(person_id=person_id, lab_id=lab_id).one()

    def rows(self, table: Any) -> list[Any]:
        with self.platform.store.reading() as session:
            return list(session.query(table).order_by(table.id))

    def extend(self, more: More, **whom: Any) -> str:
        whom = whom or {"login": "alice"}
        found = dates.extend(self.platform, self.teacher, "ai", more, "病假", lab_slug=whom.pop("lab", "lab1"), **whom)
        return found.row.id

    def late(self, submission: Submission) -> bool:
        with self.platform.store.reading() as session:
            row = session.get(Submission, submission.id)
            assert row is not None
            return row.late


@pytest.fixture
def course_(course: HandinScene) -> Class:
    return Class(course)


def test_a_day_late_costs_ten_per_cent_and_the_grade_says_why(course_: Class) -> None:
    course_.at(timedelta(hours=5))
    submission = course_.graded(90)
    grade = course_.grade()
    assert submission.late
    assert (grade.raw_points, grade.penalty, grade.points, grade.days_late) == (90, 9, 81, 1)


def test_the_best_is_compared_after_the_penalty(course_: Class) -> None:
    course_.at(-DAY)
    first = course_.graded(80)
    course_.at(2 * DAY)
    course_.graded(95)
    assert course_.grade().points == 80
    with course_.platform.store.reading() as session:
        assert session.get(Attempt, course_.grade().attempt_id).submission_id == first.id  # type: ignore[union-attr]


def test_an_extension_is_for_one_person_alone(course_: Class) -> None:
    bob = make_student(course_.platform, course_.scene.cohort, "bob")
    course_.extend(More(days=2))
    course_.at(DAY)
    assert not course_.graded(90).late
    assert course_.graded(90, bob).late
    assert (course_.grade().points, course_.grade(bob).points) == (90, 81)


def test_the_most_generous_rule_holds_and_nothing_is_added_up(course_: Class) -> None:
    course_.extend(More(days=1))
    course_.extend(More(hours=36), lab=None, login="alice")
    course_.extend(More(until=course_.due + timedelta(hours=12)))
    mine = dates.mine(course_.platform, caller_of(course_.scene.student), "ai", "lab1")
    assert mine.personal.due == course_.due + timedelta(hours=36)
    assert mine.extension is not None
    assert mine.extension.lab_id is None
    course_.at(timedelta(hours=37))
    assert course_.graded(50).late


def test_a_standing_extension_of_a_section_reaches_its_people_in_every_lab(course_: Class) -> None:
    other = make_lab(course_.platform, course_.scene.cohort, "lab2", due_at=course_.due)
    people = [make_student(course_.platform, course_.scene.cohort, name) for name in ("s1", "s2")]
    with course_.platform.store.transaction() as session:
        from qianka.store.tables import Enrollment

        for row in session.query(Enrollment).filter(Enrollment.person_id == people[0].id):
            row.section = "B"
    course_.extend(More(days=3), lab=None, section="B")
    for lab in ("lab1", other.slug):
        found = [dates.mine(course_.platform, caller_of(person), "ai", lab).personal.due for person in people]
        assert found == [course_.due + 3 * DAY, course_.due]


def test_what_a_student_sees_names_offset_countdown_and_why(course_: Class) -> None:
    course_.extend(More(days=2))
    course_.clock.set(course_.due - timedelta(hours=3))
    words = dates.mine(course_.platform, caller_of(course_.scene.student), "ai", "lab1").sentence
    local = (course_.due + 2 * DAY).astimezone(ZoneInfo("Asia/Shanghai"))
    assert f"{local:%Y-%m-%d %H:%M} (UTC+08:00)" in words.zh
    assert "还有 2 天 3 小时" in words.zh
    assert "病假" in words.zh
    assert "CST" not in words.zh + words.en


def test_after_the_lock_nothing_is_taken_but_an_extension_moves_it(course_: Class) -> None:
    bob = make_student(course_.platform, course_.scene.cohort, "bob")
    dates.change_dates(course_.platform, course_.teacher, "ai", "lab1", locks=course_.due + DAY)
    course_.extend(More(days=2))
    course_.at(DAY + timedelta(minutes=1))
    with pytest.raises(Conflict) as refused:
        course_.scene.hand_in(bob)
    assert refused.value.reason == "locked"
    assert "都还在" in refused.value.hint.zh  # type: ignore[union-attr]
    assert not course_.graded(70).late


def test_a_lab_takes_late_ones_for_so_many_days(course_: Class) -> None:
    text = PENALTY.replace("grace_seconds = 60", "grace_seconds = 60\nlate_most_days = 2")
    (course_.scene.folder / "lab.toml").write_text(text, "utf-8")
    course_.at(2 * DAY)
    course_.graded(50)
    course_.at(2 * DAY + timedelta(seconds=61))
    with pytest.raises(Conflict) as refused:
        course_.scene.hand_in()
    assert refused.value.reason == "past_due"


def test_changing_the_date_moves_every_penalty_in_one_go_as_the_preview_said(course_: Class) -> None:
    people = [make_student(course_.platform, course_.scene.cohort, name) for name in ("bob", "carol")]
    course_.at(-DAY)
    on_time = course_.graded(60)
    course_.at(DAY)
    late = [course_.graded(points, who) for points, who in zip((80, 50), people, strict=True)]
    later = course_.due + 2 * DAY
    before = course_.rows(GradeChange)
    told = dates.change_dates(course_.platform, course_.teacher, "ai", "lab1", due=later, preview=True)
    assert [(told.names[m.person_id][0], m.before["points"], m.after["points"]) for m in told.moves] == [  # type: ignore[index]
        ("bob", 72, 80),
        ("carol", 45, 50),
    ]
    assert course_.rows(GradeChange) == before or len(course_.rows(GradeChange)) == len(before)
    assert course_.grade(people[0]).points == 72
    done = dates.change_dates(course_.platform, course_.teacher, "ai", "lab1", due=later)
    assert [(m.before, m.after) for m in done.moves] == [(m.before, m.after) for m in told.moves]
    assert [course_.grade(who).points for who in people] == [80, 50]
    assert [course_.late(one) for one in (on_time, *late)] == [False, False, False]
    new = course_.rows(GradeChange)[len(before) :]
    assert {(row.why, row.by_id) for row in new} == {("dates", course_.scene.teacher.id)}
    assert [row.before["points"] for row in new] == [72, 45]
    (line,) = [row for row in course_.rows(Audit) if row.action == "lab.dates"]
    assert line.details["grades"] == 2
    told = [event.payload for event in course_.rows(Event) if event.kind == "grade"]
    assert told
    assert all(set(payload) == {"attempt", "why"} for payload in told), "members of a group share an attempt's events"


def test_moving_a_date_back_takes_points_again(course_: Class) -> None:
    course_.at(-timedelta(hours=1))
    submission = course_.graded(90)
    dates.change_dates(course_.platform, course_.teacher, "ai", "lab1", due=course_.due - DAY)
    assert (course_.grade().points, course_.late(submission)) == (81, True)
    dates.change_dates(course_.platform, course_.teacher, "ai", "lab1", due=course_.due)
    assert (course_.grade().points, course_.late(submission)) == (90, False)
    dates.change_dates(course_.platform, course_.teacher, "ai", "lab1", due=None)
    assert dates.mine(course_.platform, caller_of(course_.scene.student), "ai", "lab1").personal.due is None


def test_an_extension_given_afterwards_lifts_the_penalty_and_revoking_brings_it_back(course_: Class) -> None:
    course_.at(DAY)
    course_.graded(90)
    assert course_.grade().points == 81
    given = course_.extend(More(days=1))
    assert course_.grade().points == 90
    told = dates.revoke(course_.platform, course_.teacher, given, "弄错人", preview=True)
    assert [move.points for move in told.moves] == [-9]
    assert course_.grade().points == 90
    dates.revoke(course_.platform, course_.teacher, given, "弄错人")
    assert course_.grade().points == 81
    with pytest.raises(Conflict):
        dates.revoke(course_.platform, course_.teacher, given, "再来")
    (listed,) = dates.list_extensions(course_.platform, course_.teacher, "ai", revoked=True)
    assert (listed.by, listed.extension.revoke_reason) == ("teacher", "弄错人")
    assert dates.list_extensions(course_.platform, course_.teacher, "ai") == []
    actions = [row.action for row in course_.rows(Audit)]
    assert actions.count("extension.give") == actions.count("extension.revoke") == 1
    assert [row.reason for row in course_.rows(GradeChange)][-2:] == ["病假", "弄错人"]


def test_the_same_files_once_more_keep_the_earlier_time_and_cost_no_try(course_: Class) -> None:
    course_.at(-DAY)
    first = course_.graded(88, content="print(1)")
    course_.at(3 * DAY)
    again = course_.scene.hand_in(content="print(1)")
    assert again.attempt is not None
    assert (again.submission.late, again.submission.charged, again.submission.same_as) == (False, False, first.id)
    assert (again.attempt.state, again.attempt.why, again.attempt.points) == ("done", "same", 88)
    assert again.receipt is not None
    assert '"late":false' in again.receipt.body
    grade = course_.grade()
    assert (grade.points, grade.penalty) == (88, 0)


def test_the_same_files_in_another_archive_are_the_same_files(course_: Class) -> None:
    course_.at(-DAY)
    first = course_.graded(88, content="print(1)")
    course_.at(DAY)
    archive = course_.scene.archive("print(1)", **{".DS_Store": "x"})
    again = course_.scene.hand_in(archive=archive)
    assert again.submission.archive_sha256 != first.archive_sha256
    assert again.submission.same_as == first.id


def test_the_same_files_are_taken_when_the_tries_of_the_day_are_used_up(course_: Class) -> None:
    text = PENALTY.replace("attempts_a_day = 50", "attempts_a_day = 1")
    (course_.scene.folder / "lab.toml").write_text(text, "utf-8")
    course_.at(-DAY)
    course_.graded(88, content="print(1)")
    course_.at(DAY)
    course_.graded(90)
    assert course_.scene.hand_in(content="print(1)").submission.same_as is not None
    with pytest.raises(Exception, match="used up"):
        course_.scene.hand_in()


def test_changed_files_are_no_twins(course_: Class) -> None:
    course_.at(-DAY)
    course_.graded(88, content="print(1)")
    course_.at(DAY)
    again = course_.scene.hand_in(content="print(2)").submission
    assert (again.late, again.charged, again.same_as) == (True, True, None)


def late_days(course_: Class, days: int) -> None:
    dates.set_late_days(course_.platform, course_.teacher, "ai", days)


def second_lab(course_: Class) -> Lab:
    lab = make_lab(course_.platform, course_.scene.cohort, "lab2", due_at=course_.due + 7 * DAY)
    folder = course_.platform.folders.labs / "ai" / "lab2" / lab.version
    folder.mkdir(parents=True)
    (folder / "lab.toml").write_text(PENALTY, "utf-8")
    return lab


@pytest.mark.parametrize("first_graded", ["lab1", "lab2"])
def test_late_days_are_spent_by_due_date_whatever_is_graded_first(course_: Class, first_graded: str) -> None:
    late_days(course_, 3)
    lab2 = second_lab(course_)
    course_.at(2 * DAY)
    one = course_.scene.hand_in().attempt
    course_.at(9 * DAY)
    two = submissions.hand_in(
        course_.platform,
        caller_of(course_.scene.student),
        "ai",
        "lab2",
        course_.scene.archive("print(2)"),
        "x.zip",
        "key-of-two",
    ).attempt
    assert one is not None
    assert two is not None
    for attempt in (one, two) if first_graded == "lab1" else (two, one):
        course_.end(attempt, 80)
    spent = [(course_.grade(lab=lab).late_days, course_.grade(lab=lab).points) for lab in (course_.scene.lab, lab2)]
    assert spent == [(2, 80), (1, 72)]
    mine = dates.mine(course_.platform, caller_of(course_.scene.student), "ai", "lab1")
    assert mine.late_days_used == 3


def test_more_late_days_for_the_class_move_grades_as_told(course_: Class) -> None:
    course_.at(DAY)
    course_.graded(80)
    told = dates.set_late_days(course_.platform, course_.teacher, "ai", 5, preview=True)
    assert [move.points for move in told.moves] == [8]
    assert course_.grade().points == 72
    late_days(course_, 5)
    assert (course_.grade().points, course_.grade().late_days) == (80, 1)
    assert course_.rows(GradeChange)[-1].why == "late_days"


def test_a_day_of_23_hours_is_one_day(course: HandinScene) -> None:
    with course.platform.store.transaction() as session:
        cohort = session.get(Cohort, course.cohort.id)
        lab = session.get(Lab, course.lab.id)
        assert cohort is not None
        assert lab is not None
        cohort.zone = "America/Detroit"
        # 12 March 2022, 23:59 in Detroit; the night after, the clocks go forward.
        lab.due_at = datetime(2022, 3, 13, 4, 59, tzinfo=timezone.utc)
        course.lab, course.cohort = lab, cohort
    scene = Class(course)
    scene.clock.set(datetime(2022, 3, 14, 3, 59, tzinfo=timezone.utc))
    scene.graded(100)
    scene.clock.set(datetime(2022, 3, 14, 4, 10, tzinfo=timezone.utc))
    other = make_student(scene.platform, course.cohort, "bob")
    scene.graded(100, other)
    assert (scene.grade().days_late, scene.grade(other).days_late) == (1, 2)


def test_who_may_do_what(course_: Class) -> None:
    student = caller_of(course_.scene.student)
    stranger = Caller(person_id=None, login="x")
    given = course_.extend(More(days=1))
    with pytest.raises(Forbidden):
        dates.extend(course_.platform, student, "ai", More(days=9), "please", lab_slug="lab1", login="alice")
    with pytest.raises(Forbidden):
        dates.change_dates(course_.platform, student, "ai", "lab1", due=None)
    with pytest.raises(Forbidden):
        dates.list_extensions(course_.platform, student, "ai")
    with pytest.raises(Forbidden):
        dates.mine(course_.platform, student, "ai", "lab1", "teacher")
    for caller in (student, stranger):
        with pytest.raises(NotFound):
            dates.revoke(course_.platform, caller, given, "no")


@pytest.mark.parametrize(
    ("more", "lab", "whom", "reason"),
    [
        (More(), "lab1", {"login": "alice"}, "ill"),
        (More(days=1), "lab1", {}, "ill"),
        (More(days=1), "lab1", {"login": "alice", "section": "B"}, "ill"),
        (More(days=1), "lab1", {"login": "alice"}, "  "),
        (More(days=1, until=datetime(2026, 12, 1, tzinfo=timezone.utc)), "lab1", {"login": "alice"}, "ill"),
        (More(until=datetime(2026, 12, 1, tzinfo=timezone.utc)), None, {"login": "alice"}, "ill"),
        (More(days=400), "lab1", {"login": "alice"}, "ill"),
    ],
)
def test_an_extension_that_says_nothing_is_refused(
    course_: Class, more: More, lab: str | None, whom: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BadInput):
        dates.extend(course_.platform, course_.teacher, "ai", more, reason, lab_slug=lab, **whom)


def test_dates_must_be_in_order(course_: Class) -> None:
    change: Callable[..., object] = dates.change_dates
    with pytest.raises(BadInput):
        change(course_.platform, course_.teacher, "ai", "lab1", opens=course_.due)
    with pytest.raises(BadInput):
        change(course_.platform, course_.teacher, "ai", "lab1", locks=course_.due - DAY)
