"""Accounts, passwords, activation, signing in and the brake on guessing."""

from __future__ import annotations

import random
import threading

import pytest
from qianka.domain.people import Role
from qianka.errors import BadInput, Conflict, Forbidden, NotSignedIn, OverLimit
from qianka.services import access, people
from qianka.services.people.aliases import new_alias
from qianka.services.people.passwords import plain_code
from qianka.services.platform import Caller
from qianka.store.tables import Audit, Enrollment, Person, Token
from qianka.testing import caller_of, enroll, make_cohort, make_person, make_student
from qianka.testing.handins import HandinScene
from sqlalchemy import select

GOOD = "correct horse"


@pytest.fixture
def admin(course: HandinScene) -> Caller:
    """An administrator."""
    return caller_of(make_person(course.platform, "root", admin=True))


def test_activate_then_sign_in(course: HandinScene, admin: Caller) -> None:
    platform = course.platform
    person, code = people.create_person(platform, admin, login=" WangWu ", name="王五", student_number="2023009")
    assert (person.login, person.password_hash) == ("wangwu", None)
    assert code is not None
    people.activate(platform, "WANGWU", code.lower().replace("-", " "), GOOD)
    signed = people.sign_in(platform, " WangWu", GOOD, seen=people.Seen(address="10.0.0.9"))
    assert signed.person.id == person.id
    assert signed.csrf
    assert access.signed_in(platform, signed.secret, "session").csrf == signed.csrf
    with pytest.raises(NotSignedIn):
        people.activate(platform, "wangwu", code, "another one 1")


def test_secrets_are_stored_as_hashes_alone(course: HandinScene, admin: Caller) -> None:
    platform = course.platform
    person, code = people.create_person(platform, admin, login="p", name="p", password=GOOD)
    assert code is None
    signed = people.sign_in(platform, "p", GOOD)
    with platform.store.reading() as session:
        stored = session.get(Person, person.id)
        token = session.scalars(select(Token)).one()
        assert stored is not None
        assert str(stored.password_hash).startswith("$argon2id$")
        assert signed.secret not in (token.secret_hash, token.csrf)
        assert len(signed.secret) > 40
        for row in session.scalars(select(Audit)):
            assert GOOD not in str(row.details)
            assert signed.secret not in str(row.details)


def test_codes_expire_after_two_weeks(course: HandinScene, admin: Caller) -> None:
    _, code = people.create_person(course.platform, admin, login="p", name="p")
    assert code is not None
    course.clock.advance(14 * 86_400)
    with pytest.raises(NotSignedIn):
        people.activate(course.platform, "p", code, GOOD)


@pytest.mark.parametrize("password", ["short", "2023001", "alice001", "aaaaaaaaaa", "20230012023001", "x" * 201])
def test_passwords_that_anybody_would_try(course: HandinScene, admin: Caller, password: str) -> None:
    with pytest.raises(BadInput) as refusal:
        people.create_person(
            course.platform, admin, login="alice001", name="a", student_number="2023001", password=password
        )
    assert refusal.value.reason == "weak_password"


@pytest.mark.parametrize("login", ["", "../x", "a b", "系统", "system", "-rf", "a" * 33])
def test_logins_that_are_none(course: HandinScene, admin: Caller, login: str) -> None:
    with pytest.raises(BadInput):
        people.create_person(course.platform, admin, login=login, name="x")


def test_only_an_administrator_makes_accounts_and_a_login_is_taken_once(course: HandinScene, admin: Caller) -> None:
    with pytest.raises(Forbidden):
        people.create_person(course.platform, caller_of(course.teacher), login="x", name="x", is_admin=True)
    with pytest.raises(Conflict):
        people.create_person(course.platform, admin, login="alice", name="x")


def test_wrong_login_and_wrong_password_are_not_told_apart(course: HandinScene, admin: Caller) -> None:
    people.create_person(course.platform, admin, login="p", name="p", password=GOOD)
    refusals = []
    for login, password in (("p", "wrong"), ("nobody", GOOD), ("alice", GOOD)):
        with pytest.raises(NotSignedIn) as refusal:
            people.sign_in(course.platform, login, password)
        refusals.append(refusal.value.message)
    assert len(set(refusals)) == 1


def test_guessing_is_braked_and_the_failures_are_audited(course: HandinScene, admin: Caller) -> None:
    platform = course.platform
    people.create_person(platform, admin, login="p", name="p", password=GOOD)
    for _ in range(8):
        with pytest.raises(NotSignedIn):
            people.sign_in(platform, "p", "wrong", seen=people.Seen(address="10.0.0.1"))
    with pytest.raises(OverLimit) as refusal:
        people.sign_in(platform, "p", GOOD, seen=people.Seen(address="10.0.0.1"))
    assert refusal.value.details["retry_after"] == 600
    people.sign_in(platform, "p", GOOD, seen=people.Seen(address="10.0.0.2"))  # the owner, elsewhere
    with platform.store.reading() as session:
        failures = list(session.scalars(select(Audit).where(Audit.action == "sign_in.failed")))
    assert len(failures) == 8
    course.clock.advance(601)
    people.sign_in(platform, "p", GOOD, seen=people.Seen(address="10.0.0.1"))


def test_a_burst_of_guesses_does_not_pass_the_brake(course: HandinScene, admin: Caller) -> None:
    people.create_person(course.platform, admin, login="p", name="p", password=GOOD)
    outcomes: list[type[Exception]] = []

    def guess() -> None:
        try:
            people.sign_in(course.platform, "p", "wrong", seen=people.Seen(address="10.0.0.1"))
        except (NotSignedIn, OverLimit) as refusal:
            outcomes.append(type(refusal))

    threads = [threading.Thread(target=guess) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(NotSignedIn) == 8
    assert outcomes.count(OverLimit) == 8


def test_changing_a_password_ends_the_other_sessions(course: HandinScene, admin: Caller) -> None:
    platform = course.platform
    people.create_person(platform, admin, login="p", name="p", password=GOOD)
    here, there = people.sign_in(platform, "p", GOOD), people.sign_in(platform, "p", GOOD)
    caller = access.caller_from_token(platform, here.secret)
    with pytest.raises(NotSignedIn):
        people.change_password(platform, caller, "wrong", "another one 1")
    people.change_password(platform, caller, GOOD, "another one 1")
    access.caller_from_token(platform, here.secret)
    with pytest.raises(NotSignedIn):
        access.caller_from_token(platform, there.secret)
    people.set_password(platform, admin, "p", "a third one 3")
    with pytest.raises(NotSignedIn):
        access.caller_from_token(platform, here.secret)
    people.sign_in(platform, "p", "a third one 3")


def test_a_new_code_is_a_way_in_and_only_for_students_of_ones_own(course: HandinScene, admin: Caller) -> None:
    platform, teacher = course.platform, caller_of(course.teacher)
    code = people.new_activation(platform, teacher, "alice")
    people.activate(platform, "alice", code, GOOD)
    elsewhere = make_student(platform, course.cohort, "both")
    enroll(platform, make_cohort(platform, "math"), elsewhere)
    assistant = make_person(platform, "assistant")
    enroll(platform, course.cohort, assistant, Role.ASSISTANT)
    for login in ("both", "assistant", "teacher"):
        with pytest.raises(Forbidden):
            people.new_activation(platform, teacher, login)
        people.new_activation(platform, admin, login)


def test_staff_add_students_and_teachers_add_staff(course: HandinScene, admin: Caller) -> None:
    platform, teacher = course.platform, caller_of(course.teacher)
    row, person, code = people.add_to_cohort(
        platform, teacher, "ai", login="helper", name="助教", role=Role.ASSISTANT, section="1"
    )
    assert (row.role, row.source, row.section, person.login) == ("assistant", "manual", "1", "helper")
    assert code is not None
    assistant = caller_of(person)
    _, student, code = people.add_to_cohort(platform, assistant, "ai", login="late", name="插班生")
    assert code is not None
    _, again, code = people.add_to_cohort(platform, assistant, "ai", login="late", name="插班生")
    assert (again.id, code) == (student.id, None)
    with pytest.raises(Forbidden):
        people.add_to_cohort(platform, assistant, "ai", login="friend", name="朋友", role=Role.TEACHER)
    with pytest.raises(Forbidden):
        people.enroll(platform, assistant, "ai", "teacher", Role.STUDENT)
    with pytest.raises(Forbidden):
        people.add_to_cohort(platform, caller_of(student), "ai", login="friend", name="朋友")
    with pytest.raises(BadInput):
        people.enroll(platform, teacher, "ai", "late", Role.ADMIN)


def test_suspending_keeps_everything(course: HandinScene) -> None:
    handed = course.hand_in()
    people.suspend(course.platform, caller_of(course.teacher), "ai", "alice")
    with pytest.raises(Forbidden):
        course.hand_in()
    with course.platform.store.reading() as session:
        access.submission_for(session, caller_of(course.student), handed.submission.id)
        row = session.scalars(select(Enrollment).where(Enrollment.person_id == course.student.id)).one()
        assert row.state == "suspended"
    assert len(people.list_people(course.platform, caller_of(course.teacher), "ai")) == 2
    with pytest.raises(Forbidden):
        people.list_people(course.platform, caller_of(course.student), "ai")


def test_a_person_decides_about_name_and_language(course: HandinScene) -> None:
    caller = caller_of(course.student)
    person = people.set_profile(course.platform, caller, show_name=True, language="en")
    assert (person.show_name, access.caller_of(course.platform, person).language) == (True, "en")
    with pytest.raises(BadInput):
        people.set_profile(course.platform, caller, language="fr")


def test_aliases_are_unique_and_say_nothing() -> None:
    taken: set[str] = set()
    source = random.Random(7)
    for _ in range(8000):
        alias = new_alias(taken, source)
        assert alias not in taken
        taken.add(alias)
    assert new_alias(set(), random.Random(1)) == new_alias(set(), random.Random(1))


def test_codes_are_read_as_people_type_them() -> None:
    assert plain_code(" 7qk2-m9xd hj4t－vb3r ") == "7QK2M9XDHJ4TVB3R"
