"""C03: what a roster would change, before anything is changed."""

from __future__ import annotations

from qianka import roster
from qianka.roster import Known


def known(i: int, *, is_active: bool = True, is_kept: bool = False, name: str = "", login: str = "") -> Known:
    number = f"2023{i:03d}"
    return Known(
        student_number=number,
        login=login or number,
        name=name or f"学生{i}",
        section="1",
        email="",
        is_active=is_active,
        is_kept=is_kept,
    )


def file(numbers: list[int], **names: str) -> roster.Roster:
    lines = ["学号,姓名,班级", *(f"2023{i:03d},{names.get(f'n{i}', f'学生{i}')},1" for i in numbers)]
    return roster.read("\n".join(lines).encode())


CLASS = [known(i) for i in range(1, 101)]


def test_adds_drops_returns_and_changes() -> None:
    current = [*CLASS[:85], known(86, is_active=False), known(87, is_active=False)]
    diff = roster.diff(current, file([*range(6, 86), 86, 87, *range(101, 111)], n10="改名"))
    assert diff.summary.zh == "+10 −5 ↩2 ✎1，79 人不变"
    assert not diff.is_partial
    assert diff.changed[0].fields == {"name": ("学生10", "改名")}


def test_the_same_file_again_changes_nothing() -> None:
    assert roster.diff(CLASS, file(list(range(1, 101)))).is_empty


def test_a_partial_file_is_noticed_and_append_drops_nobody() -> None:
    new = file(list(range(101, 111)))
    assert roster.diff(CLASS, new).is_partial
    assert roster.diff(CLASS, new).missing_share == 1.0
    assert roster.diff(CLASS, new, "append").dropped == ()
    assert len(roster.diff(CLASS, new, "append").added) == 10


def test_staff_and_those_added_by_hand_stay() -> None:
    staff = known(500, is_kept=True, name="助教")
    diff = roster.diff([*CLASS, staff], file(list(range(1, 101))))
    assert diff.dropped == ()
    assert diff.kept == (staff,)
    diff = roster.diff([*CLASS, staff], file([*range(1, 101), 500]))
    assert diff.is_empty


def test_a_student_whose_row_is_damaged_is_not_dropped() -> None:
    data = "\n".join(["学号,姓名,班级", *(f"2023{i:03d},学生{i},1" for i in range(1, 101))]).encode()
    read = roster.read(data.replace("学生57".encode(), b"\xff57"))
    diff = roster.diff(CLASS, read)
    assert len(read.problems) == 1
    assert diff.dropped == ()


def test_a_renamed_login_is_a_change_of_the_same_person() -> None:
    read = roster.read("学号,姓名,班级,登录名\n2023001,学生1,1,zhangsan\n".encode())
    diff = roster.diff([known(1)], read)
    assert diff.changed[0].fields == {"login": ("2023001", "zhangsan")}
    assert roster.diff([known(1, login="zhangsan")], file([1])).is_empty
