"""Inquiries: one open in a lab, seen by who asked and by staff, closed and opened again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from qianka.domain.people import Role
from qianka.errors import BadInput, Conflict, Forbidden, NotFound, OverLimit
from qianka.services import inquiries
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Cohort, Event, Lab
from qianka.testing import (
    FakeClock,
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
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def platform(tmp_path: Path, clock: FakeClock) -> Iterator[Platform]:
    platform = make_platform(tmp_path, clock=clock)
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


@pytest.fixture
def amy(platform: Platform, cohort: Cohort) -> Caller:
    return caller_of(make_student(platform, cohort, "amy"))


def states(platform: Platform, caller: Caller, state: str | None = None) -> list[tuple[str, str]]:
    _, found = inquiries.list_inquiries(platform, caller, "ai", state=state)
    return [(one.person.login, one.inquiry.state) for one in found]


def test_a_question_is_answered_closed_and_asked_again(
    platform: Platform, lab: Lab, teacher: Caller, amy: Caller, clock: FakeClock
) -> None:
    asked = inquiries.ask(platform, amy, "ai", "lab1", " why 70? ")
    with pytest.raises(Conflict) as refused:
        inquiries.ask(platform, amy, "ai", "lab1", "again")
    assert refused.value.details["inquiry"] == asked
    clock.advance(60)
    inquiries.write(platform, teacher, asked, "see the third check")
    inquiries.close(platform, teacher, asked)
    assert states(platform, teacher, "open") == []
    clock.advance(60)
    inquiries.write(platform, amy, asked, "but it printed 0.93")
    assert states(platform, teacher, "open") == [("amy", "open")]
    shown = inquiries.thread(platform, amy, asked)
    assert [(row.text, row.by_staff) for row, _ in shown.messages] == [
        ("why 70?", False),
        ("see the third check", True),
        ("but it printed 0.93", False),
    ]
    assert (shown.found.first, shown.found.messages, shown.found.by_staff) == ("why 70?", 3, False)
    inquiries.close(platform, amy, asked)
    other = inquiries.ask(platform, amy, "ai", "lab1", "something else")
    with pytest.raises(Conflict):
        inquiries.close(platform, teacher, asked, reopen=True)
    inquiries.close(platform, teacher, other)
    inquiries.close(platform, teacher, asked, reopen=True)
    assert sorted(states(platform, teacher)) == [("amy", "closed"), ("amy", "open")]


def test_others_cannot_know_of_it(platform: Platform, cohort: Cohort, lab: Lab, teacher: Caller, amy: Caller) -> None:
    bob = caller_of(make_student(platform, cohort, "bob"))
    asked = inquiries.ask(platform, amy, "ai", "lab1", "why 70?")
    assert states(platform, bob) == []
    assert states(platform, amy) == [("amy", "open")]
    for act in (
        lambda: inquiries.thread(platform, bob, asked),
        lambda: inquiries.write(platform, bob, asked, "me too"),
        lambda: inquiries.close(platform, bob, asked),
    ):
        with pytest.raises(NotFound):
            act()
    with pytest.raises(BadInput):
        inquiries.ask(platform, teacher, "ai", "lab1", "why?")


def test_a_suspended_student_reads_but_does_not_ask(platform: Platform, cohort: Cohort, lab: Lab, amy: Caller) -> None:
    asked = inquiries.ask(platform, amy, "ai", "lab1", "why 70?")
    gone = make_person(platform, "gone")
    enroll(platform, cohort, gone, state="suspended")
    with pytest.raises(Forbidden):
        inquiries.ask(platform, caller_of(gone), "ai", "lab1", "why?")
    assert inquiries.thread(platform, amy, asked).found.inquiry.id == asked


def test_the_grading_asked_about_must_be_ones_own_and_of_that_lab(
    platform: Platform, cohort: Cohort, lab: Lab, amy: Caller
) -> None:
    bob = make_student(platform, cohort, "bob")
    theirs = make_attempt(platform, make_submission(platform, lab, bob))
    with pytest.raises(NotFound):
        inquiries.ask(platform, amy, "ai", "lab1", "why?", theirs.id)
    other = make_lab(platform, cohort, "lab2")
    handed = make_attempt(platform, make_submission(platform, other, bob))
    with pytest.raises(NotFound):
        inquiries.ask(platform, caller_of(bob), "ai", "lab1", "why?", handed.id)
    asked = inquiries.ask(platform, caller_of(bob), "ai", "lab1", "why?", theirs.id)
    assert inquiries.thread(platform, caller_of(bob), asked).found.inquiry.attempt_id == theirs.id


def test_a_students_messages_are_limited_by_the_day(
    platform: Platform, lab: Lab, teacher: Caller, amy: Caller, clock: FakeClock
) -> None:
    asked = inquiries.ask(platform, amy, "ai", "lab1", "1")
    for number in range(2, inquiries.A_DAY + 1):
        inquiries.write(platform, amy, asked, str(number))
    with pytest.raises(OverLimit):
        inquiries.write(platform, amy, asked, "one more")
    inquiries.write(platform, teacher, asked, "staff may")
    clock.advance(timedelta(days=1).total_seconds() + 1)
    inquiries.write(platform, amy, asked, "the day after")


def test_both_sides_are_told_without_a_word_of_it(platform: Platform, lab: Lab, teacher: Caller, amy: Caller) -> None:
    asked = inquiries.ask(platform, amy, "ai", "lab1", "why 70?")
    inquiries.write(platform, teacher, asked, "because")
    with platform.store.reading() as session:
        told = session.query(Event).filter_by(kind="inquiry").all()
    assert sorted(event.topic for event in told) == sorted([f"person:{amy.person_id}", "staff:ai"] * 2)
    assert all(event.payload == {"inquiry": asked} for event in told)


@pytest.mark.parametrize("text", ["", "   ", "x" * 4001])
def test_an_empty_or_endless_message_is_refused(platform: Platform, lab: Lab, amy: Caller, text: str) -> None:
    with pytest.raises(BadInput):
        inquiries.ask(platform, amy, "ai", "lab1", text)


def test_a_lab_that_has_not_opened_is_not_known_of(
    platform: Platform, cohort: Cohort, amy: Caller, clock: FakeClock
) -> None:
    make_lab(platform, cohort, "final", opens_at=clock.now() + timedelta(days=1))
    with pytest.raises(NotFound):
        inquiries.ask(platform, amy, "ai", "final", "what is it about?")
    clock.advance(timedelta(days=1).total_seconds())
    assert inquiries.ask(platform, amy, "ai", "final", "why 70?")
