"""Boards of predictions: the Ladder, the final ranking, what is chosen, who sees what, and purity."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qianka import receipts
from qianka.errors import BadInput, Conflict, Forbidden, NotFound, QiankaError, Refused
from qianka.grading.boardfile import BoardError
from qianka.services import boards, groups, submissions
from qianka.services.boards import entering
from qianka.store.tables import Entry, Event, Person, Standing
from qianka.testing import FakeClock, caller_of, make_person, make_platform
from qianka.testing.boards import BoardScene, make_board_scene, table
from sqlalchemy import func, select


def scene(tmp_path: Path, **changes: Any) -> BoardScene:
    clock = FakeClock()
    return make_board_scene(make_platform(tmp_path / "data", clock=clock), clock, **changes)


@pytest.fixture
def course(tmp_path: Path) -> Iterator[BoardScene]:
    made = scene(tmp_path, due="2026-09-08 12:00", reveal="2026-09-09 12:00")
    yield made
    made.platform.store.close()


def wrong_on(public: int, private: int, course: BoardScene) -> str:
    """A file that is wrong on so many rows of each part."""
    return course.predictions([*course.public_ids[:public], *course.private_ids[:private]])


def test_an_entry_has_a_receipt_that_verifies_offline_and_its_bytes(course: BoardScene) -> None:
    alice = course.student("alice")
    text = course.predictions(3)
    entered = course.enter(alice, text)
    receipt = boards.receipt_of(course.platform, caller_of(alice), entered.entry.id)
    key = submissions.key_of(course.platform)
    file = submissions.render_receipt(course.platform, receipt.body, receipt.signature)
    verified = receipts.verify_file(file, {key.key_id: key.public})
    assert (verified.body["submission"], verified.body["lab"]) == (entered.entry.id, "guess")
    assert boards.file_of(course.platform, caller_of(alice), entered.entry.id).read_text() == text
    assert "score" not in receipt.body
    assert list(course.platform.folders.incoming.iterdir()) == []


def test_blobs_of_entries_and_answers_outlive_the_sweep(course: BoardScene) -> None:
    alice = course.student("alice")
    entry = course.enter(alice).entry
    course.clock.advance(30 * 86_400)
    submissions.sweep(course.platform, age=-1e9)
    assert boards.file_of(course.platform, caller_of(alice), entry.id).exists()
    assert boards.rebuild(course.platform, caller_of(course.teacher), "ai", "guess") == (1, 0)


def test_public_until_the_reveal_then_private_from_what_was_chosen(course: BoardScene) -> None:
    a, b = course.student("a", name="a"), course.student("b", name="b")
    course.enter(a, wrong_on(0, 9, course))  # overfits the public part
    kept = course.enter(a, wrong_on(5, 1, course)).entry
    course.enter(a, wrong_on(6, 0, course))
    course.enter(b, wrong_on(1, 3, course))
    assert [name for _, name, _ in course.rows()] == ["a", "b"]
    seen = boards.ranking(course.platform, caller_of(a), "ai", "guess")
    assert (seen.phase, seen.is_private) == ("open", False)
    with pytest.raises(Forbidden):
        boards.ranking(course.platform, caller_of(a), "ai", "guess", private=True)
    assert all(not one.with_private for one in boards.list_entries(course.platform, caller_of(a), "ai", "guess"))
    boards.select_entries(course.platform, caller_of(a), "ai", "guess", [kept.id])
    course.clock.set(course.board.due_at + timedelta(seconds=1) if course.board.due_at else course.clock.now())
    assert boards.ranking(course.platform, caller_of(a), "ai", "guess").phase == "closed"
    with pytest.raises(Conflict):
        course.enter(a)
    with pytest.raises(Conflict):
        boards.select_entries(course.platform, caller_of(a), "ai", "guess", [])
    course.clock.advance(86_400)
    final = boards.ranking(course.platform, caller_of(b), "ai", "guess")
    assert (final.phase, final.is_private) == ("final", True)
    assert [(row.rank, row.mine) for row in final.rows] == [(1, False), (2, True)]
    assert all(one.with_private for one in boards.list_entries(course.platform, caller_of(a), "ai", "guess"))


def test_without_a_choice_the_best_public_ones_count(course: BoardScene) -> None:
    a = course.student("a", name="a")
    first = course.enter(a, wrong_on(1, 4, course)).entry
    course.enter(a, wrong_on(9, 0, course))
    second = course.enter(a, wrong_on(2, 3, course)).entry
    standing = course.standing(f"p{a.id}")
    assert standing is not None
    assert standing.private == max(first.private or 0, second.private or 0)
    assert standing.private_entry == second.id


def test_nobody_chooses_what_is_not_theirs_or_not_scored(course: BoardScene) -> None:
    a, b = course.student("a"), course.student("b")
    theirs = course.enter(b).entry
    invalid = course.enter(a, "id,label\n").entry
    for id in (theirs.id, invalid.id, "e-none"):
        with pytest.raises(Refused):
            boards.select_entries(course.platform, caller_of(a), "ai", "guess", [id])
    for call in (boards.get_entry, boards.receipt_of, boards.file_of, boards.withdraw):
        with pytest.raises(NotFound):
            call(course.platform, caller_of(a), theirs.id)
    with pytest.raises(QiankaError):
        boards.list_entries(course.platform, caller_of(a), "ai", "guess", everybody=True)
    with pytest.raises(NotFound):
        boards.ranking(course.platform, caller_of(make_person(course.platform)), "ai", "guess")


def test_names_are_aliases_unless_shown_and_the_suspended_leave(course: BoardScene) -> None:
    a = course.student("a", name="A", alias="~a")
    b = course.student("b", name="B", alias="~b", show_name=True)
    for who in (a, b):
        course.enter(who)
    c = course.student("c", name="C")
    assert {row.name for row in course.ranking(caller_of(c)).rows} == {"~a", "B"}
    assert {row.name for row in course.ranking(caller_of(a)).rows} == {"A", "B"}
    with course.platform.store.transaction() as session:
        from qianka.store.repos import people

        enrolled = people.enrollment(session, course.cohort.id, b.id)
        assert enrolled is not None
        enrolled.state = "suspended"
    assert [row.name for row in course.ranking(caller_of(c)).rows] == ["~a"]


def test_the_ladder_tells_only_gains_above_their_noise(tmp_path: Path) -> None:
    course = scene(tmp_path, rows=400, public__ladder=True)
    a = course.student("a", name="a")
    public = course.public_ids
    shown = []
    for wrong in (60, 59, 58, 61, 40, 41, 39, 0):
        entry = course.enter(a, course.predictions(public[:wrong])).entry
        assert entry.public == pytest.approx(1 - wrong / len(public))
        shown.append(round((1 - (entry.shown or 0)) * len(public)))
    # One row better is no more than its own standard error: not told. Two are, and twenty.
    assert shown == [60, 60, 58, 58, 40, 40, 40, 0]


def test_a_withdrawn_step_of_the_ladder_is_as_if_it_had_never_been(tmp_path: Path) -> None:
    course = scene(tmp_path, rows=400, public__ladder=True)
    a = course.student("a", name="a")
    public = course.public_ids
    entries = [course.enter(a, course.predictions(public[:wrong])).entry for wrong in (60, 20, 30)]
    boards.withdraw(course.platform, caller_of(course.teacher), entries[1].id)
    assert course.rows() == [(1, "a", f"{1 - 30 / len(public):.4f}")]


def facts(course: BoardScene) -> list[Any]:
    """The whole state of a board: standings and what each entry showed."""
    with course.platform.store.reading() as session:
        names = [column.name for column in Standing.__table__.columns if column.name != "id"]
        rows = session.scalars(select(Standing).order_by(Standing.owner))
        standings = [tuple(getattr(row, name) for name in names) for row in rows]
        query = select(Entry.id, Entry.state, Entry.public, Entry.private, Entry.shown).order_by(Entry.id)
        return [standings, [tuple(row) for row in session.execute(query)], [vars(r) for r in course.ranking().rows]]


step = st.tuples(
    st.integers(0, 2), st.sampled_from(["enter", "enter", "enter", "withdraw", "select", "bad"]), st.integers()
)


@pytest.mark.sqlite_only
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ladder=st.booleans(),
    metric=st.sampled_from(["accuracy", "f1_macro", "log_loss"]),
    steps=st.lists(step, max_size=14),
)
def test_a_board_is_a_pure_function_of_its_valid_entries(
    tmp_path_factory: pytest.TempPathFactory, ladder: bool, metric: str, steps: list[tuple[int, str, int]]
) -> None:
    """Whatever happened, scoring all again changes nothing; and a board that saw only the valid entries is the same."""
    course = scene(tmp_path_factory.mktemp("pure"), metric=metric, public__ladder=ladder)
    again = scene(tmp_path_factory.mktemp("again"), metric=metric, public__ladder=ladder)
    column = course.board.rules["column"]
    people = [course.student(login, name=login) for login in "abc"]
    files: dict[str, str] = {}
    for number, what, seed in steps:
        who, source = people[number], random.Random(seed)
        mine = [entry for entry in course.entries(who) if entry.state == "scored"]
        if what == "bad":
            course.enter(who, f"id,{column}\n")
        elif what == "enter":
            values = ("0", "1") if column == "label" else ("0.2", "0.9")
            text = table(f"id,{column}", ((id, source.choice(values)) for id in course.truth))
            files[course.enter(who, text).entry.id] = text
        elif what == "withdraw" and mine:
            by = course.teacher if ladder else who
            boards.withdraw(course.platform, caller_of(by), source.choice(mine).id)
        elif what == "select":
            chosen = [entry.id for entry in source.sample(mine, min(2, len(mine)))]
            boards.select_entries(course.platform, caller_of(who), "ai", "guess", chosen)
    before = facts(course)
    boards.rebuild(course.platform, caller_of(course.teacher), "ai", "guess")
    assert facts(course) == before
    with again.platform.store.transaction() as session:
        session.merge(again.board).secret = course.board.secret
    again.board.secret = course.board.secret
    twins = [again.student(login, name=login) for login in "abc"]
    for who, twin in zip(people, twins, strict=True):
        for entry in course.entries(who):
            if entry.state == "scored":
                again.enter(twin, files[entry.id])
    expected = {name: score for _, name, score in course.rows()}
    assert {name: score for _, name, score in again.rows()} == expected
    for one in (course, again):
        one.platform.store.close()


def test_a_board_is_never_stale_and_tells_of_each_change(course: BoardScene) -> None:
    a = course.student("a", name="a")
    for wrong in (9, 5, 1):
        entry = course.enter(a, course.predictions(wrong)).entry
        assert course.rows() == [(1, "a", f"{entry.public:.4f}")]
    with course.platform.store.reading() as session:
        topic = f"board:{course.board.id}"
        assert session.scalar(select(func.count()).where(Event.topic == topic)) == 3


def test_a_crash_before_the_record_leaves_nothing_half_done(
    course: BoardScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = course.student("a", name="a")

    def crash(*_: Any) -> None:
        raise OSError("the machine died")

    with monkeypatch.context() as broken:
        broken.setattr(entering, "_receipt", crash)
        with pytest.raises(OSError, match="died"):
            course.enter(a, key="one-and-the-same")
    assert course.rows() == []
    assert course.entries(a) == []
    assert not course.enter(a, key="one-and-the-same").again
    assert course.enter(a, key="one-and-the-same").again


def test_lost_answers_are_our_fault_and_cost_nothing(course: BoardScene) -> None:
    from qianka.errors import PlatformFault
    from qianka.services.boards import loading

    a = course.student("a")
    (course.platform.folders.blobs / course.board.answers_sha256).unlink()
    loading._answers.cache_clear()
    with pytest.raises(PlatformFault):
        course.enter(a)
    assert boards.allowance_now(course.platform, caller_of(a), "ai", "guess").day.used == 0


def test_a_kaggle_folder_becomes_a_board(course: BoardScene, tmp_path: Path) -> None:
    folder = tmp_path / "house-prices"
    folder.mkdir()
    rows = [(n, n * 1.5, ("Public", "Private", "Ignored")[n % 3]) for n in range(30)]
    (folder / "solution.csv").write_text("Id,Price,Usage\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    (folder / "sample_submission.csv").write_text(table("Id,Price", ((n, 0) for n, _, _ in rows)))
    with pytest.raises(Forbidden):
        boards.import_kaggle(course.platform, caller_of(course.student()), "ai", folder, "p", metric="r2")
    made = boards.import_kaggle(
        course.platform, caller_of(course.teacher), "ai", folder, "prices", metric="root_mean_squared_error"
    )
    assert (made.rules["split"], made.rules["ladder"], made.rules["column"]) == ("usage", False, "Price")
    a = course.student("a")
    text = table(
        "Id,Price",
        ((n, value + (2 if usage == "Public" else 4 if usage == "Private" else 99)) for n, value, usage in rows),
    )
    path = course.file(text)
    entry = boards.enter(course.platform, caller_of(a), "ai", "prices", path, "p.csv", "key-of-a-price").entry
    assert (entry.public, entry.private) == (pytest.approx(2), pytest.approx(4))
    with pytest.raises(BadInput):
        boards.import_kaggle(course.platform, caller_of(course.teacher), "ai", folder, "q", metric="magic")
    with pytest.raises(Conflict):
        boards.import_kaggle(course.platform, caller_of(course.teacher), "ai", folder, "prices", metric="r2")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("id,label\n1,0\n1,1\n", "twice"),
        ("id,label\n1,\n2,0\n", "none of the labels"),
        ("id,other\n1,0\n", "no column label"),
        ("id,label\n", "no answers"),
        ("id,label\n1,0,3\n", "3 columns"),
        ('id,label\n"1,0\n', "malformed"),
    ],
)
def test_answers_that_are_wrong_make_no_board(course: BoardScene, tmp_path: Path, answers: str, words: str) -> None:
    (tmp_path / "board.toml").write_text('title = "x"\nmetric = "accuracy"\n')
    (tmp_path / "answers.csv").write_text(answers)
    with pytest.raises(BoardError) as refused:
        boards.create(course.platform, caller_of(course.teacher), "ai", tmp_path, "broken")
    assert words in refused.value.message.en


def test_dates_and_limits_can_be_changed_in_order_only(course: BoardScene) -> None:
    teacher = caller_of(course.teacher)
    later = course.clock.now() + timedelta(days=9)
    changed = boards.change(course.platform, teacher, "ai", "guess", due_at=later, reveal_at=None, a_day=2)
    assert (changed.row.due_at, changed.rules.a_day) == (later, 2)
    with pytest.raises(BadInput):
        boards.change(course.platform, teacher, "ai", "guess", opens_at=later + timedelta(1))
    with pytest.raises(Forbidden):
        boards.change(course.platform, caller_of(course.student()), "ai", "guess", a_day=99)


def test_before_the_opening_nothing_is_given_or_taken(tmp_path: Path) -> None:
    course = scene(tmp_path, opens="2027-01-01 08:00")
    alice = caller_of(course.student("alice"))
    for call in (
        lambda: boards.sample_of(course.platform, alice, "ai", "guess"),
        lambda: course.enter(course.student()),
    ):
        with pytest.raises(Conflict) as refused:
            call()
        assert refused.value.reason == "not_open"
    assert boards.list_boards(course.platform, alice, "ai") == []
    assert boards.sample_of(course.platform, caller_of(course.teacher), "ai", "guess").exists()
    course.platform.store.close()


def test_joining_a_group_while_the_file_is_scored_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = scene(tmp_path, group__size=2)
    alice = course.student("alice")
    keep = submissions.storage.keep_archive

    def join_meanwhile(*given: Any) -> Any:
        groups.import_csv(course.platform, caller_of(course.teacher), "ai", b"group,login\nred,alice\n")
        return keep(*given)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(submissions.storage, "keep_archive", join_meanwhile)
        with pytest.raises(Conflict) as refused:
            course.enter(alice)
    assert refused.value.reason == "group_changed"
    assert course.enter(alice).entry.group_id is not None
    course.platform.store.close()


def test_staff_may_try_a_board_without_standing_on_it(course: BoardScene) -> None:
    course.clock.advance(40 * 86_400)
    entered = course.enter(course.teacher)
    assert (entered.entry.state, entered.entry.charged) == ("scored", False)
    assert course.rows(private=True) == []


def forming(course: BoardScene, **rules: Any) -> tuple[Person, Person, Person, Person]:
    groups.set_rules(course.platform, caller_of(course.teacher), "ai", **{"size": 3, **rules})
    made = [course.student(login, name=login) for login in ("ann", "ben", "cem", "dan")]
    return made[0], made[1], made[2], made[3]


def test_students_ask_each_other_up_to_the_size_and_the_lock(course: BoardScene) -> None:
    ann, ben, cem, dan = forming(course, locks_at=course.clock.now() + timedelta(days=1))
    red = groups.create(course.platform, caller_of(ann), "ai", " 红 队 ").group
    for who in (ben, cem):
        groups.invite(course.platform, caller_of(ann), red.id, who.login)
    with pytest.raises(Conflict, match="full"):
        groups.invite(course.platform, caller_of(ann), red.id, dan.login)
    with pytest.raises(NotFound):
        groups.accept(course.platform, caller_of(dan), red.id)
    with pytest.raises(Conflict):
        groups.create(course.platform, caller_of(ann), "ai", "second")
    found = groups.accept(course.platform, caller_of(ben), red.id)
    assert ([p.login for p in found.members], [p.login for p in found.invited]) == (["ann", "ben"], ["cem"])
    groups.leave(course.platform, caller_of(cem), red.id)
    groups.invite(course.platform, caller_of(ben), red.id, dan.login)
    assert groups.list_groups(course.platform, caller_of(cem), "ai") == []
    course.clock.advance(2 * 86_400)
    with pytest.raises(Forbidden) as refused:
        groups.accept(course.platform, caller_of(dan), red.id)
    assert refused.value.reason == "locked"


def test_where_staff_forms_groups_students_do_not(course: BoardScene) -> None:
    ann, *_ = forming(course, by_students=False)
    with pytest.raises(Forbidden):
        groups.create(course.platform, caller_of(ann), "ai", "red")
    with pytest.raises(Forbidden):
        groups.set_rules(course.platform, caller_of(ann), "ai", size=3)
    with pytest.raises(Refused) as refused:
        groups.import_csv(
            course.platform, caller_of(course.teacher), "ai", "组,学号\nred,ann\nred,nobody\nx,ann\n".encode()
        )
    assert refused.value.details["count"] == 2
    assert groups.list_groups(course.platform, caller_of(course.teacher), "ai") == []


def test_a_file_in_gbk_with_numbers_makes_and_moves(course: BoardScene) -> None:
    ann, ben, cem, _ = forming(course)
    teacher = caller_of(course.teacher)
    data = f"小组,学号\r\n甲,{ann.student_number}\r\n甲,{ben.student_number}\r\n乙,{cem.student_number}\r\n"
    groups.import_csv(course.platform, teacher, "ai", data.encode("gb18030"))
    found = groups.import_csv(course.platform, teacher, "ai", f"小组,学号\n乙,{ben.student_number}\n".encode())
    assert {one.group.name: [p.login for p in one.members] for one in found} == {"甲": ["ann"], "乙": ["cem", "ben"]}


def test_once_a_group_has_handed_in_students_leave_it_as_it_is(tmp_path: Path) -> None:
    course = scene(tmp_path, group__size=2)
    ann, ben, cem, _ = forming(course)
    red = groups.create(course.platform, caller_of(ann), "ai", "red").group
    groups.invite(course.platform, caller_of(ann), red.id, ben.login)
    groups.accept(course.platform, caller_of(ben), red.id)
    course.enter(ann)
    with pytest.raises(Conflict):
        groups.leave(course.platform, caller_of(ben), red.id)
    groups.import_csv(course.platform, caller_of(course.teacher), "ai", b"group,login\nred,cem\n")
    with pytest.raises(Conflict) as refused:
        course.enter(cem)
    assert refused.value.reason == "group_size"
    course.platform.store.close()
