"""The only door to other people's data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from qianka.domain.jobs import JobKind
from qianka.domain.people import Role
from qianka.errors import Forbidden, NotFound, NotSignedIn
from qianka.services import access, people
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Token
from qianka.testing import caller_of, enroll, make_attempt, make_cohort, make_job, make_person, make_submission
from qianka.testing.handins import HandinScene
from sqlalchemy.orm import Session

Ask = Callable[[Session, Caller], Any]


@pytest.fixture
def callers(course: HandinScene) -> dict[str, Caller]:
    """One of each kind, seen from the student's things."""
    platform = course.platform
    assistant, other = make_person(platform, "assistant"), make_person(platform, "other")
    enroll(platform, course.cohort, assistant, Role.ASSISTANT)
    enroll(platform, course.cohort, other)
    gone = make_person(platform, "gone")
    enroll(platform, course.cohort, gone, Role.ASSISTANT, state="suspended")
    elsewhere = make_person(platform, "elsewhere")
    enroll(platform, make_cohort(platform, "math"), elsewhere, Role.TEACHER)
    return {
        "own": caller_of(course.student),
        "teacher": caller_of(course.teacher),
        "assistant": caller_of(assistant),
        "admin": caller_of(make_person(platform, "root", admin=True)),
        "system": Caller.system(),
        "classmate": caller_of(other),
        "gone assistant": caller_of(gone),
        "teacher elsewhere": caller_of(elsewhere),
        "stranger": caller_of(make_person(platform, "stranger")),
    }


MAY = {"own", "teacher", "assistant", "admin", "system"}


@pytest.mark.parametrize("thing", ["submission", "attempt", "job"])
def test_who_may_know_of_a_students_things(course: HandinScene, callers: dict[str, Caller], thing: str) -> None:
    submission = make_submission(course.platform, course.lab, course.student)
    attempt = make_attempt(course.platform, submission)
    job = make_job(course.platform, course.student, cohort=course.cohort, attempt_id=attempt.id)
    asks: dict[str, Ask] = {
        "submission": lambda session, caller: access.submission_for(session, caller, submission.id),
        "attempt": lambda session, caller: access.attempt_for(session, caller, attempt.id),
        "job": lambda session, caller: access.job_for(session, caller, job.id),
    }
    assert allowed(course.platform, callers, asks[thing]) == MAY


def test_a_job_outside_any_cohort_is_its_owners_alone(course: HandinScene, callers: dict[str, Caller]) -> None:
    job = make_job(course.platform, course.student)
    found = allowed(course.platform, callers, lambda session, caller: access.job_for(session, caller, job.id))
    assert found == {"own", "admin", "system"}


def test_who_may_know_of_a_cohort_and_a_person(course: HandinScene, callers: dict[str, Caller]) -> None:
    in_it = MAY | {"classmate", "gone assistant"}
    assert allowed(course.platform, callers, lambda s, caller: access.cohort_for(s, caller, "ai")) == in_it
    assert allowed(course.platform, callers, lambda s, caller: access.person_for(s, caller, "Alice")) == MAY
    assert allowed(course.platform, callers, lambda s, caller: access.board_for(s, caller, course.lab.id)) == in_it


def allowed(platform: Platform, callers: dict[str, Caller], ask: Ask) -> set[str]:
    """Who gets an answer; everybody else must be told that there is no such thing."""
    found = set()
    for name, caller in callers.items():
        with platform.store.reading() as session:
            try:
                ask(session, caller)
            except NotFound:
                continue
        found.add(name)
    return found


def test_unknown_things_and_hidden_things_look_alike(course: HandinScene, callers: dict[str, Caller]) -> None:
    submission = make_submission(course.platform, course.lab, course.student)
    with course.platform.store.reading() as session:
        with pytest.raises(NotFound) as hidden:
            access.submission_for(session, callers["classmate"], submission.id)
        with pytest.raises(NotFound) as unknown:
            access.submission_for(session, callers["classmate"], "s-none")
    assert hidden.value.message.en.replace(submission.id, "") == unknown.value.message.en.replace("s-none", "")
    assert hidden.value.details == unknown.value.details


def test_staff_and_teacher_rights(course: HandinScene, callers: dict[str, Caller]) -> None:
    with course.platform.store.reading() as session:
        staff, teachers, active = set(), set(), set()
        for name, caller in callers.items():
            for found, ask in ((staff, access.require_staff), (teachers, access.require_teacher)):
                try:
                    ask(session, caller, course.cohort.id)
                except Forbidden:
                    continue
                found.add(name)
            try:
                access.require_active(session, caller, course.cohort.id)
            except (Forbidden, NotFound):
                continue
            active.add(name)
    assert staff == {"teacher", "assistant", "admin", "system"}
    assert teachers == {"teacher", "admin", "system"}
    assert active == MAY | {"classmate"}


@pytest.mark.parametrize(("name", "is_shown"), [("train", True), ("predict", False), ("judge", False)])
def test_what_the_stages_print_is_for_staff_but_training_is_the_students(
    course: HandinScene, callers: dict[str, Caller], name: str, is_shown: bool
) -> None:
    attempt = make_attempt(course.platform, make_submission(course.platform, course.lab, course.student))
    job = make_job(
        course.platform,
        course.student,
        cohort=course.cohort,
        attempt_id=attempt.id,
        key=f"attempt:{attempt.id}:{name}:1",
        kind=JobKind.GRADE,
    )
    with course.platform.store.reading() as session:
        access.require_output(session, callers["teacher"], job)
        access.require_output(session, callers["system"], job)
        if is_shown:
            access.require_output(session, callers["own"], job)
        else:
            with pytest.raises(Forbidden):
                access.require_output(session, callers["own"], job)


def test_tokens_open_the_door_until_they_end(course: HandinScene) -> None:
    platform, caller = course.platform, caller_of(course.student)
    secret = people.issue_token(platform, caller, "laptop", days=2).secret
    found = access.caller_from_token(platform, secret, "bearer", "10.0.0.1")
    assert (found.person_id, found.login, found.address) == (course.student.id, "alice", "10.0.0.1")
    assert found.token_id is not None
    for wrong in (secret + "x", "", "qk_\ud800"):
        with pytest.raises(NotSignedIn):
            access.caller_from_token(platform, wrong)
    with pytest.raises(NotSignedIn):
        access.caller_from_token(platform, secret, "session")
    course.clock.advance(timedelta(days=2).total_seconds())
    with pytest.raises(NotSignedIn):
        access.caller_from_token(platform, secret)


def test_a_token_writes_its_last_use_seldom(course: HandinScene) -> None:
    secret = people.issue_token(course.platform, caller_of(course.student)).secret
    uses = []
    for seconds in (0, 5, 700):
        course.clock.advance(seconds)
        token_id = access.caller_from_token(course.platform, secret).token_id
        with course.platform.store.reading() as session:
            token = session.get(Token, token_id)
            assert token is not None
            uses.append(token.last_used_at)
    assert uses[0] == uses[1] != uses[2]


def test_revoking_is_for_ones_own_tokens(course: HandinScene) -> None:
    platform = course.platform
    secret = people.issue_token(platform, caller_of(course.student)).secret
    mine = access.caller_from_token(platform, secret)
    with pytest.raises(NotFound):
        people.revoke_token(platform, caller_of(course.teacher), mine.token_id)
    people.revoke_token(platform, mine)
    with pytest.raises(NotSignedIn):
        access.caller_from_token(platform, secret)
    assert people.list_tokens(platform, mine) == []
