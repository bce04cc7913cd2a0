"""Ways around the limits and the secrecy of boards, none of which leads anywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.errors import Conflict, Forbidden, OverLimit, QiankaError
from qianka.services import boards, groups, submissions
from qianka.store.repos import people
from qianka.store.tables import Person
from qianka.testing import FakeClock, caller_of, make_platform, make_student
from qianka.testing.boards import BoardScene, make_board_scene, table
from qianka.testing.handins import make_handin_scene


def scene(tmp_path: Path, **changes: Any) -> BoardScene:
    clock = FakeClock()
    return make_board_scene(make_platform(tmp_path / "data", clock=clock), clock, **changes)


@pytest.fixture
def course(tmp_path: Path) -> Iterator[BoardScene]:
    made = scene(tmp_path, group__size=2, limits__a_day=5)
    yield made
    made.platform.store.close()


def withdraw(course: BoardScene, who: Person, entry: str) -> None:
    boards.withdraw(course.platform, caller_of(who), entry)


def test_taking_entries_back_does_not_get_around_the_ladder(tmp_path: Path) -> None:
    """Who could take back what was told would be told the next score in full: the Ladder would tell everything."""
    course = scene(tmp_path, rows=400, public__ladder=True)
    ann, source = course.student("ann"), random.Random(1)
    told = set()
    for _ in range(6):
        text = table("id,label", ((id, source.randrange(2)) for id in course.truth))
        entry = course.enter(ann, text).entry
        told.add(entry.shown)
        with pytest.raises(Forbidden) as refused:
            withdraw(course, ann, entry.id)
        assert refused.value.reason == "ladder"
        assert refused.value.hint is not None
    assert len(told) < 6
    boards.withdraw(course.platform, caller_of(course.teacher), course.entries(ann)[0].id)
    course.platform.store.close()


def test_a_second_group_brings_no_fresh_tries(course: BoardScene) -> None:
    """Ann's group has used up the day; one that she makes for this board alone finds the day used up."""
    ann, ben = course.student("ann"), course.student("ben")
    for scope in ("", "guess"):
        groups.set_rules(course.platform, caller_of(course.teacher), "ai", scope=scope, size=2)
    red = groups.create(course.platform, caller_of(ann), "ai", "red").group
    groups.invite(course.platform, caller_of(ann), red.id, "ben")
    groups.accept(course.platform, caller_of(ben), red.id)
    for number in range(5):
        course.enter(ben, course.predictions(number))
    groups.create(course.platform, caller_of(ann), "ai", "blue", "guess")
    with pytest.raises(OverLimit):
        course.enter(ann)
    assert boards.allowance_now(course.platform, caller_of(ann), "ai", "guess").left == 0


def test_what_a_second_group_entered_counts_for_the_first(course: BoardScene) -> None:
    ann, ben = course.student("ann"), course.student("ben")
    made = b"group,login\nred,ann\nred,ben\n"
    groups.import_csv(course.platform, caller_of(course.teacher), "ai", made)
    groups.set_rules(course.platform, caller_of(course.teacher), "ai", scope="guess", size=2)
    groups.create(course.platform, caller_of(ann), "ai", "blue", "guess")
    for number in range(3):
        course.enter(ann, course.predictions(number))
    assert boards.allowance_now(course.platform, caller_of(ben), "ai", "guess").left == 2


def test_who_has_left_a_group_takes_nothing_of_it_back(course: BoardScene) -> None:
    ann, ben = course.student("ann"), course.student("ben")
    teacher = caller_of(course.teacher)
    groups.import_csv(course.platform, teacher, "ai", b"group,login\nred,ann\nred,ben\n")
    entry = course.enter(ann).entry
    groups.import_csv(course.platform, teacher, "ai", b"group,login\nblue,ann\n")
    with pytest.raises(Forbidden) as refused:
        withdraw(course, ann, entry.id)
    assert refused.value.reason == "left_group"
    assert boards.get_entry(course.platform, caller_of(ann), entry.id).entry.state == "scored"
    withdraw(course, ben, entry.id)


def test_the_suspended_take_nothing_back(course: BoardScene) -> None:
    ann = course.student("ann")
    entry = course.enter(ann).entry
    with course.platform.store.transaction() as session:
        enrolled = people.enrollment(session, course.cohort.id, ann.id)
        assert enrolled is not None
        enrolled.state = "suspended"
    with pytest.raises(Forbidden) as refused:
        withdraw(course, ann, entry.id)
    assert refused.value.reason == "suspended"


@pytest.mark.parametrize("other", [None, 1.0])
def test_huge_predictions_lock_nobody_out(tmp_path: Path, other: float | None) -> None:
    """Losses of which the squares are above every number: the next entry is scored all the same, and told."""
    course = scene(tmp_path, rows=400, metric="mean_squared_error", public__ladder=True)
    ann = course.student("ann")
    half = set(course.public_ids[::2])
    huge = table("id,value", ((id, "1e77" if id in half else "0") for id in course.truth))
    assert course.enter(ann, huge).entry.state == "scored"
    rows = ((id, value if other is None else other) for id, value in course.truth.items())
    good = course.enter(ann, table("id,value", rows)).entry
    assert (good.state, good.shown) == ("scored", good.public)
    course.platform.store.close()


def test_one_answer_of_a_rare_class_is_no_fault_of_the_platform(tmp_path: Path) -> None:
    """Kappa with that row left out is not defined; the entry has a score all the same, and costs its try."""
    course = scene(tmp_path, rows=40, metric="cohen_kappa", public__ladder=True, truth=lambda n: int(n < 2))
    ann = course.student("ann")
    entry = course.enter(ann, table("id,label", ((id, 0) for id in course.truth))).entry
    assert (entry.state, entry.public, entry.charged) == ("scored", 0.0, True)
    course.platform.store.close()


@pytest.mark.parametrize(
    "data", [b"", b"\n", b'group,login\n"red,ann', b"group,login\n" + b"x" * 200_000 + b",ann\n", b"\x00\x00"]
)
def test_a_broken_file_of_groups_is_refused_in_words(course: BoardScene, data: bytes) -> None:
    course.student("ann")
    with pytest.raises(QiankaError) as refused:
        groups.import_csv(course.platform, caller_of(course.teacher), "ai", data)
    assert refused.value.message.zh
    assert refused.value.message.en


def test_a_second_group_brings_no_fresh_hand_ins_in_a_lab(tmp_path: Path) -> None:
    clock = FakeClock()
    lab = make_handin_scene(make_platform(tmp_path / "data", clock=clock), clock)
    text = (lab.folder / "lab.toml").read_text("utf-8").replace("[handin]", "[handin]\ngroup = 3")
    (lab.folder / "lab.toml").write_text(text, "utf-8")
    bob = make_student(lab.platform, lab.cohort, "bob")
    teacher = caller_of(lab.teacher)
    groups.import_csv(lab.platform, teacher, "ai", b"group,login\nred,alice\nred,bob\n")
    groups.set_rules(lab.platform, teacher, "ai", scope="lab1", size=2)
    for _ in range(5):
        lab.begin(lab.hand_in(bob).attempt)
    groups.create(lab.platform, caller_of(lab.student), "ai", "blue", "lab1")
    assert submissions.tries(lab.platform, caller_of(lab.student), "ai", "lab1").left == 0
    with pytest.raises(OverLimit):
        lab.hand_in(lab.student)
    lab.platform.store.close()


def test_before_the_opening_a_student_learns_when_and_no_more(tmp_path: Path) -> None:
    course = scene(tmp_path, opens="2026-09-20 08:00")
    ann = course.student("ann")
    assert boards.list_boards(course.platform, caller_of(ann), "ai") == []
    with pytest.raises(Conflict) as refused:
        course.ranking(caller_of(ann))
    assert refused.value.reason == "not_open"
    assert "2026-09-20 08:00" in (refused.value.hint.en if refused.value.hint else "")
    assert course.ranking().phase == "unopened"
    course.platform.store.close()


def test_a_file_that_was_refused_does_not_close_the_group(course: BoardScene) -> None:
    """It counts for nothing, so it is nothing that a later member would get a share of."""
    ann, ben = course.student("ann"), course.student("ben")
    groups.set_rules(course.platform, caller_of(course.teacher), "ai", size=2)
    red = groups.create(course.platform, caller_of(ann), "ai", "red").group
    groups.invite(course.platform, caller_of(ann), red.id, "ben")
    assert course.enter(ann, "id,label\n").entry.state == "invalid"
    groups.accept(course.platform, caller_of(ben), red.id)
    withdraw(course, ann, course.enter(ann).entry.id)
    with pytest.raises(Conflict):  # a score was told
        groups.leave(course.platform, caller_of(ben), red.id)
