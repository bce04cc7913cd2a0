"""What staff changes about people of a class, and codes for many at once."""

from __future__ import annotations

import pytest
from qianka.domain.people import Role
from qianka.errors import BadInput, Forbidden, NotFound, NotSignedIn
from qianka.services import people
from qianka.services.platform import Caller
from qianka.store.tables import Audit, Event
from qianka.testing import caller_of, enroll, make_cohort, make_person, make_student
from qianka.testing.handins import HandinScene
from sqlalchemy import select

ROSTER = "学号,姓名,班级\n1001,张三,1\n1002,李四,1\n1003,王五,2\n"


@pytest.fixture
def teacher(course: HandinScene) -> Caller:
    caller = caller_of(course.teacher)
    people.apply_roster(course.platform, caller, "ai", ROSTER.encode(), mode="append")
    return caller


@pytest.fixture
def assistant(course: HandinScene, teacher: Caller) -> Caller:
    _, helper, _ = people.add_to_cohort(
        course.platform, teacher, "ai", login="helper", name="助教", role=Role.ASSISTANT
    )
    return caller_of(helper)


def events(course: HandinScene) -> set[tuple[str, str]]:
    with course.platform.store.reading() as session:
        return {(event.topic, event.kind) for event in session.scalars(select(Event))}


def test_who_is_suspended_and_restored_stays_with_the_roster(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    people.change_person(platform, teacher, "ai", "1001", state="suspended")
    row, person = people.change_person(platform, teacher, "ai", "1001", state="active", section="２班")
    assert (row.state, row.section, row.source) == ("active", "２班", "roster")
    assert ("staff:ai", "people") in events(course)
    assert (f"person:{person.id}", "people") in events(course)
    without = "学号,姓名,班级\n1002,李四,1\n1003,王五,2\n"
    preview = people.preview_roster(platform, teacher, "ai", without.encode(), mode="replace")
    assert "1001" in [known.login for known in preview.diff.dropped]


def test_who_becomes_staff_is_out_of_reach_of_the_roster(course: HandinScene, teacher: Caller) -> None:
    people.change_person(course.platform, teacher, "ai", "1001", role=Role.ASSISTANT)
    people.change_person(course.platform, teacher, "ai", "1001", role=Role.STUDENT)
    preview = people.preview_roster(course.platform, teacher, "ai", "学号,姓名\n1002,李四\n".encode(), mode="replace")
    assert "1001" not in [known.login for known in preview.diff.dropped]


def test_an_assistant_changes_students_alone_and_nobody_themselves(
    course: HandinScene, teacher: Caller, assistant: Caller
) -> None:
    platform = course.platform
    people.change_person(platform, assistant, "ai", "1001", section="3", name="张 三")
    with pytest.raises(Forbidden):
        people.change_person(platform, assistant, "ai", "1001", role=Role.ASSISTANT)
    with pytest.raises(Forbidden):
        people.change_person(platform, assistant, "ai", "teacher", state="suspended")
    for change in ({"role": Role.STUDENT}, {"state": "suspended"}):
        with pytest.raises(Forbidden) as refused:
            people.change_person(platform, teacher, "ai", "teacher", **change)
        assert refused.value.reason == "oneself"
    with pytest.raises(Forbidden):
        people.change_person(platform, caller_of(course.student), "ai", "1001", section="9")
    with pytest.raises(NotFound):
        people.change_person(platform, teacher, "ai", "nobody", section="9")


def test_names_of_staff_are_an_administrators_matter(course: HandinScene, teacher: Caller, assistant: Caller) -> None:
    with pytest.raises(Forbidden) as refused:
        people.change_person(course.platform, teacher, "ai", "helper", name="别人")
    assert refused.value.reason == "staff"
    admin = caller_of(make_person(course.platform, admin=True))
    assert people.change_person(course.platform, admin, "ai", "helper", name="新名")[1].name == "新名"


def test_what_is_typed_keeps_the_rules_of_a_roster(course: HandinScene, teacher: Caller) -> None:
    _, person, code = people.add_to_cohort(
        course.platform, teacher, "ai", login="late", name=" 插\n班 ", student_number="２０２３００９"
    )
    assert (person.name, person.student_number, code is not None) == ("插班", "2023009", True)
    with pytest.raises(BadInput) as refused:
        people.add_to_cohort(course.platform, teacher, "ai", login="x", name="某", student_number="2.02E+09")
    assert refused.value.reason == "scientific"
    with pytest.raises(BadInput):
        people.change_person(course.platform, teacher, "ai", "late", email="not an address")


def test_a_change_that_changes_nothing_leaves_no_trace(course: HandinScene, teacher: Caller) -> None:
    people.change_person(course.platform, teacher, "ai", "1001", section="1", name="张三")
    with course.platform.store.reading() as session:
        assert "person.change" not in list(session.scalars(select(Audit.action)))


def test_codes_for_all_who_never_signed_in(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    first = {new.login: new.code for new in people.new_codes(platform, teacher, "ai", ["1001", "1002", "1003"]).given}
    people.activate(platform, "1001", first["1001"], "my password")
    people.change_person(platform, teacher, "ai", "1003", state="suspended")
    given = people.new_codes(platform, teacher, "ai").given
    assert "1002" in {new.login for new in given}
    assert not {"1001", "1003", "teacher"} & {new.login for new in given}
    assert next(new.section for new in given if new.login == "1002") == "1"
    with pytest.raises(NotSignedIn):
        people.activate(platform, "1002", first["1002"], "my password")  # the old code is void
    assert people.sign_in(platform, "1001", "my password")
    with course.platform.store.reading() as session:
        told = [str(row.details) for row in session.scalars(select(Audit).where(Audit.action == "person.new_codes"))]
    assert not any(new.code in line for new in given for line in told)


def test_a_code_never_opens_an_account_of_another_class(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    other = make_cohort(platform, "other")
    shared = make_student(platform, other, "shared")
    people.enroll(platform, teacher, "ai", "shared")
    made = people.new_codes(platform, teacher, "ai")
    assert [person.id for person in made.left_out] == [shared.id]
    assert "shared" not in {new.login for new in made.given}
    enroll(platform, other, course.teacher, Role.TEACHER)
    assert "shared" in {new.login for new in people.new_codes(platform, teacher, "ai").given}


def test_codes_are_for_staff_and_for_people_of_the_class(course: HandinScene, teacher: Caller) -> None:
    make_student(course.platform, make_cohort(course.platform, "other"), "stranger")
    with pytest.raises(NotFound):
        people.new_codes(course.platform, teacher, "ai", ["stranger"])
    with pytest.raises(Forbidden):
        people.new_codes(course.platform, caller_of(course.student), "ai")
