"""C01, C02, C03 in the database: previewed, applied as previewed, nobody's data lost."""

from __future__ import annotations

import pytest
from qianka.domain.people import Role
from qianka.errors import BadInput, Conflict, Forbidden, NotFound, Refused
from qianka.services import access, people
from qianka.services.platform import Caller
from qianka.store.tables import Audit, Enrollment, Person
from qianka.testing import caller_of, enroll, make_cohort, make_person
from qianka.testing.handins import HandinScene
from sqlalchemy import func, select


def csv(numbers: list[int], head: str = "学号,姓名,班级", encoding: str = "utf-8", **names: str) -> bytes:
    rows = [f"2023{i:03d},{names.get(f'n{i}', f'学生{i}')},1" for i in numbers]
    return "\n".join([head, *rows]).encode(encoding)


@pytest.fixture
def teacher(course: HandinScene) -> Caller:
    """The class without its one student: rosters bring the students."""
    with course.platform.store.transaction() as session:
        session.delete(session.scalars(select(Enrollment).where(Enrollment.person_id == course.student.id)).one())
    return caller_of(course.teacher)


def states(course: HandinScene) -> dict[str, str]:
    return {
        person.student_number or person.login: row.state
        for row, person in people.list_people(course.platform, caller_of(course.teacher), "ai")
        if row.role == "student"
    }


def test_preview_writes_nothing_and_apply_does_what_it_showed(course: HandinScene, teacher: Caller) -> None:
    data = csv(list(range(1, 101)), encoding="gb18030")
    preview = people.preview_roster(course.platform, teacher, "ai", data)
    assert preview.roster.summary.zh == "GB18030, 逗号, 100 行"
    assert preview.roster.sample_names == ("学生1", "学生2", "学生3")
    assert preview.diff.summary.zh == "+100 −0 ↩0 ✎0，0 人不变"
    assert states(course) == {}
    applied = people.apply_roster(course.platform, teacher, "ai", data, digest=preview.digest)
    assert len(applied.codes) == 100
    assert len({new.code for new in applied.codes}) == 100
    assert applied.codes[0].login == "2023001"
    assert set(states(course).values()) == {"active"}
    people.activate(course.platform, "2023001", applied.codes[0].code, "my password")
    with course.platform.store.reading() as session:
        assert session.scalar(select(func.count(func.distinct(Person.alias)))) == 102
        assert "roster.apply" in list(session.scalars(select(Audit.action)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_the_second_import_changes_nothing(course: HandinScene, teacher: Caller, encoding: str) -> None:
    people.apply_roster(course.platform, teacher, "ai", csv([1, 2, 3]))
    again = people.apply_roster(course.platform, teacher, "ai", csv([1, 2, 3], encoding=encoding))
    assert again.diff.is_empty
    assert again.codes == ()


def test_adds_drops_and_returns_mid_term(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    people.apply_roster(platform, teacher, "ai", csv(list(range(1, 101))))
    make_helper(course)
    second = csv([*range(16, 101), *range(101, 111)])
    preview = people.preview_roster(platform, teacher, "ai", second)
    assert preview.diff.summary.zh == "+10 −15 ↩0 ✎0，85 人不变"
    people.apply_roster(platform, teacher, "ai", second, digest=preview.digest)
    assert [states(course)[f"2023{i:03d}"] for i in (1, 15, 16, 110)] == ["suspended", "suspended", "active", "active"]
    third = csv([1, 2, *range(16, 111)], n20="改名")
    applied = people.apply_roster(platform, teacher, "ai", third)
    assert applied.diff.summary.zh == "+0 −0 ↩2 ✎1，94 人不变"
    assert applied.codes == ()
    assert [states(course)[f"2023{i:03d}"] for i in (1, 2, 3)] == ["active", "active", "suspended"]
    assert roles(course) == {"teacher": "active", "helper": "active", "byhand": "active"}


def make_helper(course: HandinScene) -> None:
    people.add_to_cohort(
        course.platform, caller_of(course.teacher), "ai", login="helper", name="助教", role=Role.ASSISTANT
    )
    people.add_to_cohort(
        course.platform, caller_of(course.teacher), "ai", login="byhand", name="旁听", student_number="X1"
    )


def roles(course: HandinScene) -> dict[str, str]:
    wanted = ("teacher", "helper", "byhand")
    listed = people.list_people(course.platform, caller_of(course.teacher), "ai")
    return {person.login: row.state for row, person in listed if person.login in wanted}


def test_who_returns_finds_everything_again(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    codes = people.apply_roster(platform, teacher, "ai", csv(list(range(1, 11)))).codes
    student = people.activate(platform, "2023001", codes[0].code, "my password")
    handed = course.hand_in(student)
    people.apply_roster(platform, teacher, "ai", csv(list(range(2, 11))))
    with pytest.raises(Forbidden):
        course.hand_in(student)
    people.apply_roster(platform, teacher, "ai", csv(list(range(1, 11))))
    with platform.store.reading() as session:
        assert access.submission_for(session, caller_of(student), handed.submission.id)
    assert people.sign_in(platform, "2023001", "my password").person.id == student.id
    course.hand_in(student)


def test_a_partial_file_asks_for_the_mode(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    people.apply_roster(platform, teacher, "ai", csv(list(range(1, 101))))
    part = csv([*range(1, 16), 101])
    preview = people.preview_roster(platform, teacher, "ai", part)
    assert preview.needs_mode is not None
    assert "85 %" in preview.needs_mode.zh
    with pytest.raises(Conflict) as refusal:
        people.apply_roster(platform, teacher, "ai", part, digest=preview.digest)
    assert refusal.value.reason == "choose_mode"
    appended = people.preview_roster(platform, teacher, "ai", part, mode="append")
    people.apply_roster(platform, teacher, "ai", part, digest=appended.digest, mode="append")
    assert list(states(course).values()).count("active") == 101
    people.apply_roster(platform, teacher, "ai", part, mode="replace")
    assert list(states(course).values()).count("active") == 16


def test_a_renamed_login_and_two_who_swap(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    head = "学号,姓名,登录名\n"
    people.apply_roster(platform, teacher, "ai", f"{head}1,甲,jia\n2,乙,yi\n3,丙,bing\n".encode())
    swap = f"{head}1,甲,yi\n2,乙,jia\n3,丙,bing3\n".encode()
    assert len(people.preview_roster(platform, teacher, "ai", swap).diff.changed) == 3
    people.apply_roster(platform, teacher, "ai", swap)
    listed = people.list_people(platform, teacher, "ai")
    assert {person.student_number: person.login for row, person in listed if row.role == "student"} == {
        "1": "yi",
        "2": "jia",
        "3": "bing3",
    }
    assert people.apply_roster(platform, teacher, "ai", swap).diff.is_empty


def test_a_login_of_somebody_else_is_named_and_the_others_are_taken(course: HandinScene, teacher: Caller) -> None:
    data = "学号,姓名,登录名\n1,甲,teacher\n2,乙,yi\n".encode()
    preview = people.preview_roster(course.platform, teacher, "ai", data)
    assert [(problem.line, problem.code) for problem in preview.problems] == [(2, "login_taken")]
    applied = people.apply_roster(course.platform, teacher, "ai", data, digest=preview.digest)
    assert [new.login for new in applied.codes] == ["yi"]


def test_a_bad_row_is_left_out_and_its_student_stays(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    people.apply_roster(platform, teacher, "ai", csv(list(range(1, 101))))
    data = csv(list(range(1, 103))).replace("学生57".encode(), b"\xff57")
    preview = people.preview_roster(platform, teacher, "ai", data)
    assert [problem.text.zh for problem in preview.problems] == ["第 58 行第 2 列无法解码"]
    applied = people.apply_roster(platform, teacher, "ai", data, digest=preview.digest)
    assert applied.diff.summary.zh == "+2 −0 ↩0 ✎0，99 人不变"
    assert states(course)["2023057"] == "active"


def test_rows_that_say_nobody_stop_a_replacement(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    people.apply_roster(platform, teacher, "ai", csv(list(range(1, 21))))
    data = csv(list(range(1, 20))) + b"\n2.02E+09,\xe5\xbc\xa0\xe4\xb8\x89,1\n"
    with pytest.raises(Conflict) as refusal:
        people.apply_roster(platform, teacher, "ai", data)
    assert refusal.value.reason == "choose_mode"
    with pytest.raises(Refused) as refused:
        people.apply_roster(platform, teacher, "ai", data, mode="replace")
    assert refused.value.reason == "unreadable_rows"
    people.apply_roster(platform, teacher, "ai", data, mode="append")
    assert states(course)["2023020"] == "active"


def test_an_outdated_preview_is_not_applied(course: HandinScene, teacher: Caller) -> None:
    preview = people.preview_roster(course.platform, teacher, "ai", csv([1, 2]))
    for data in (csv([1, 2, 3]), csv([1, 2], n1="别名")):
        with pytest.raises(Conflict) as refusal:
            people.apply_roster(course.platform, teacher, "ai", data, digest=preview.digest)
        assert refusal.value.reason == "preview_outdated"
    people.apply_roster(course.platform, teacher, "ai", csv([1]))
    with pytest.raises(Conflict):
        people.apply_roster(course.platform, teacher, "ai", csv([1, 2]), digest=preview.digest)


def test_one_person_in_two_cohorts_has_one_account(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    people.apply_roster(platform, teacher, "ai", csv([1, 2]))
    enroll(platform, make_cohort(platform, "math"), course.teacher, Role.TEACHER)
    applied = people.apply_roster(platform, teacher, "math", csv([1, 3], n1="新名"))
    assert [new.student_number for new in applied.codes] == ["2023003"]
    assert people.apply_roster(platform, teacher, "math", csv([1, 3], n1="新名")).diff.is_empty
    listed = {person.student_number: person.name for _, person in people.list_people(platform, teacher, "ai")}
    assert listed["2023001"] == "新名"


def test_a_roster_cannot_touch_staff_or_administrators(course: HandinScene, teacher: Caller) -> None:
    platform = course.platform
    boss = make_person(platform, "boss", admin=True, student_number="1")
    data = "学号,姓名,登录名\n1,冒名,evil\n2,乙,boss\n".encode()
    preview = people.preview_roster(platform, teacher, "ai", data)
    assert [problem.code for problem in preview.problems] == ["login_taken"]
    people.apply_roster(platform, teacher, "ai", data)
    with platform.store.reading() as session:
        stored = session.get(Person, boss.id)
        assert stored is not None
        assert (stored.login, stored.name, stored.is_admin) == ("boss", boss.name, True)
    assert people.apply_roster(platform, teacher, "ai", data).diff.is_empty


def test_who_may_import(course: HandinScene, teacher: Caller) -> None:
    for caller, refusal in (
        (caller_of(make_person(course.platform)), NotFound),
        (caller_of(student_of(course)), Forbidden),
    ):
        with pytest.raises(refusal):
            people.preview_roster(course.platform, caller, "ai", csv([1]))
    with pytest.raises(BadInput):
        people.preview_roster(course.platform, teacher, "ai", b"PK\x03\x04")


def student_of(course: HandinScene) -> Person:
    person = make_person(course.platform)
    enroll(course.platform, course.cohort, person)
    return person


def test_people_of_a_demo_class_are_marked(course: HandinScene) -> None:
    demo = make_cohort(course.platform, "demo", demo=True)
    people.apply_roster(course.platform, Caller.system(), "demo", csv([1]))
    with course.platform.store.reading() as session:
        rows = session.scalars(select(Person).join(Enrollment).where(Enrollment.cohort_id == demo.id))
        assert [person.demo for person in rows] == [True]
