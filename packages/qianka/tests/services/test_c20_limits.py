"""C20: tries are charged to the instant of handing in, in the cohort's zone, exactly; groups have one counter."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from qianka.errors import Conflict, OverLimit
from qianka.services import boards, groups
from qianka.services.boards.allowance import day_window
from qianka.services.boards.entering import Entered
from qianka.store.session import Store
from qianka.testing import FakeClock, caller_of, make_platform
from qianka.testing.boards import BoardScene, make_board_scene
from qianka.testing.handins import HandinScene, make_handin_scene

UTC = timezone.utc


def scene(tmp_path: Path, store: Store | None = None, **changes: Any) -> BoardScene:
    clock = FakeClock()
    platform = make_platform(tmp_path / "data", clock=clock, store=store)
    return make_board_scene(platform, clock, **{"limits__a_day": 5, **changes})


def left(course: BoardScene, who: Any) -> int | None:
    return boards.allowance_now(course.platform, caller_of(who), "ai", "guess").left


def together(work: Callable[[Any], None], items: Sequence[Any]) -> None:
    threads = [threading.Thread(target=work, args=(item,)) for item in items]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_day_ends_at_midnight_of_the_cohort(tmp_path: Path) -> None:
    course = scene(tmp_path)
    alice = course.student("alice")
    course.clock.set(datetime(2026, 9, 7, 15, 59, 53, tzinfo=UTC))
    for _ in range(5):
        course.enter(alice)
    course.clock.set(datetime(2026, 9, 7, 15, 59, 58, 900_000, tzinfo=UTC))  # 23:59:59.9 in Shanghai, a second on
    with pytest.raises(OverLimit) as refused:
        course.enter(alice)
    assert refused.value.details["limit"] == 5
    course.clock.set(datetime(2026, 9, 7, 15, 59, 59, 100_000, tzinfo=UTC))
    assert course.enter(alice).entry.charged
    assert left(course, alice) == 4


def test_the_sentence_names_what_is_left_and_when_it_comes_back(tmp_path: Path) -> None:
    course = scene(tmp_path, limits__reset="18:00")
    alice = course.student("alice")
    course.clock.set(datetime(2026, 9, 7, 4, 47, 57, tzinfo=UTC))
    for _ in range(3):
        course.enter(alice)
    sentence = boards.allowance_now(course.platform, caller_of(alice), "ai", "guess").sentence
    assert sentence.zh == "剩 2 次，18:00 后重置（还有 5 小时 12 分）"
    assert sentence.en == "2 left, reset after 18:00 (in 5 h 12 min)"


def test_six_at_once_with_five_tries_are_five(tmp_path: Path, store: Store) -> None:
    course = scene(tmp_path, store)
    alice = course.student("alice")
    barrier = threading.Barrier(6)
    taken: list[Entered] = []
    refused: list[str] = []

    def enter(number: int) -> None:
        barrier.wait()
        try:
            taken.append(course.enter(alice, course.predictions(number)))
        except OverLimit as refusal:
            refused.append(refusal.reason)

    together(enter, range(6))
    assert (len(taken), refused) == (5, ["no_tries_left"])
    assert sorted(one.entry.number for one in taken) == [1, 2, 3, 4, 5]
    assert len([one for one in course.entries(alice) if one.charged]) == 5


def test_invalid_and_failed_files_and_retries_are_free(tmp_path: Path) -> None:
    course = scene(tmp_path)
    alice = course.student("alice")
    for _ in range(7):
        assert course.enter(alice, "id,label\n1000,NaN\n").entry.state == "invalid"
    assert left(course, alice) == 5
    first = course.enter(alice, key="the-same-key")
    again = course.enter(alice, key="the-same-key")
    assert (again.again, again.entry.id) == (True, first.entry.id)
    with pytest.raises(Conflict):
        course.enter(alice, course.predictions(3), key="the-same-key")
    assert left(course, alice) == 4


def test_a_withdrawn_entry_stays_charged_unless_staff_gives_it_back(tmp_path: Path) -> None:
    """Who saw a score has used a try; a try that was our fault comes back."""
    course = scene(tmp_path)
    alice = course.student("alice")
    ids = [course.enter(alice).entry.id for _ in range(2)]
    boards.withdraw(course.platform, caller_of(alice), ids[0])
    assert left(course, alice) == 3
    boards.withdraw(course.platform, caller_of(course.teacher), ids[1], refund=True)
    assert left(course, alice) == 4
    assert course.rows() == []


def test_weekly_and_total_limits(tmp_path: Path) -> None:
    course = scene(tmp_path, limits__a_week=6, limits__total=8)
    alice = course.student("alice")
    for _ in range(5):
        course.enter(alice)
    course.clock.advance(86_400)
    assert left(course, alice) == 1
    assert boards.allowance_now(course.platform, caller_of(alice), "ai", "guess").sentence.zh.startswith("本周剩 1 次")
    course.enter(alice)
    with pytest.raises(OverLimit):
        course.enter(alice)
    course.clock.advance(7 * 86_400)
    assert left(course, alice) == 2
    course.enter(alice)
    course.enter(alice)
    with pytest.raises(OverLimit) as refused:
        course.enter(alice)
    assert "8" in refused.value.message.zh


def test_days_of_23_and_25_hours_in_detroit() -> None:
    def hours(now: datetime, clock: str = "00:00") -> float:
        span = day_window(now, ZoneInfo("America/Detroit"), clock)
        assert now in span
        return (span.end - span.start).total_seconds() / 3600

    assert hours(datetime(2022, 3, 13, 17, tzinfo=UTC)) == 23
    assert hours(datetime(2022, 3, 12, 17, tzinfo=UTC)) == 24
    assert hours(datetime(2022, 11, 6, 17, tzinfo=UTC)) == 25
    assert hours(datetime(2022, 3, 13, 12, tzinfo=UTC), "02:30") == 23  # that 02:30 does not exist


def test_the_counter_in_detroit_on_the_day_the_clocks_change(tmp_path: Path) -> None:
    course = scene(tmp_path, zone="America/Detroit", limits__a_day=1)
    alice = course.student("alice")
    course.clock.set(datetime(2022, 3, 13, 4, 59, 58, tzinfo=UTC))  # 23:59:59 of the 12th, a second on
    course.enter(alice)
    course.enter(alice)  # 00:00:00 of the 13th
    course.clock.set(datetime(2022, 3, 14, 3, 59, 58, tzinfo=UTC))  # 23:59:59 of the 13th: 23 hours later
    with pytest.raises(OverLimit):
        course.enter(alice)
    course.enter(alice)


def test_a_group_of_three_has_one_counter_and_one_row(tmp_path: Path) -> None:
    course = scene(tmp_path, group__size=3)
    people = [course.student(login, name=login) for login in ("ann", "ben", "cem")]
    course.enter(people[2], course.predictions(3))  # alone, before the group: that counts too
    made = "小组,login\n" + "".join(f"红队,{one.login}\n" for one in people)
    groups.import_csv(course.platform, caller_of(course.teacher), "ai", made.encode())
    for number, who in enumerate((people[0], people[1], people[0], people[1])):
        course.enter(who, course.predictions(number))
    for who in people:
        assert left(course, who) == 0
        with pytest.raises(OverLimit):
            course.enter(who)
    assert [(rank, name) for rank, name, _ in course.rows()] == [(1, "红队")]
    for who in people:
        seen = boards.list_entries(course.platform, caller_of(who), "ai", "guess")
        assert len([one for one in seen if one.entry.group_id is not None]) == 4
        assert [row.mine for row in course.ranking(caller_of(who)).rows] == [True]


def test_a_group_at_once_is_counted_exactly(tmp_path: Path, store: Store) -> None:
    course = scene(tmp_path, store, group__size=3)
    people = [course.student(login) for login in ("ann", "ben", "cem")]
    made = "group,login\n" + "".join(f"red,{one.login}\n" for one in people)
    groups.import_csv(course.platform, caller_of(course.teacher), "ai", made.encode())
    barrier = threading.Barrier(6)
    taken, refused = [], []

    def enter(number: int) -> None:
        barrier.wait()
        try:
            taken.append(course.enter(people[number % 3], course.predictions(number)).entry.number)
        except OverLimit as refusal:
            refused.append(refusal.reason)

    together(enter, range(6))
    assert (sorted(taken), len(refused)) == ([1, 2, 3, 4, 5], 1)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[HandinScene]:
    clock = FakeClock()
    platform = make_platform(tmp_path / "data", clock=clock)
    made = make_handin_scene(platform, clock)
    text = (made.folder / "lab.toml").read_text("utf-8").replace("[handin]", "[handin]\ngroup = 3")
    (made.folder / "lab.toml").write_text(text, "utf-8")
    yield made
    platform.store.close()


def test_a_hand_in_scored_the_next_day_is_charged_to_its_own(lab: HandinScene) -> None:
    """Two hours in the queue: the day of handing in has the charge, the next day begins full."""
    from qianka.services import submissions

    lab.clock.set(datetime(2026, 9, 7, 15, 0, tzinfo=UTC))  # 23:00 in Shanghai
    handed = lab.hand_in()
    lab.clock.advance(2 * 3600)
    lab.begin(handed.attempt)
    assert submissions.tries(lab.platform, caller_of(lab.student), "ai", "lab1").left == 5


def test_a_lab_handed_in_by_a_group_counts_once_for_all(lab: HandinScene) -> None:
    from qianka.errors import NotFound
    from qianka.services import submissions
    from qianka.testing import make_student

    bob = make_student(lab.platform, lab.cohort, "bob")
    eve = make_student(lab.platform, lab.cohort, "eve")
    made = "group,login\nred,alice\nred,bob\n"
    groups.import_csv(lab.platform, caller_of(lab.teacher), "ai", made.encode())
    for who in (lab.student, bob, lab.student, bob, lab.student):
        lab.begin(lab.hand_in(who).attempt)
    for who in (lab.student, bob):
        assert submissions.tries(lab.platform, caller_of(who), "ai", "lab1").left == 0
        assert len(submissions.list_submissions(lab.platform, caller_of(who), "ai", "lab1")) == 5
        with pytest.raises(OverLimit):
            lab.hand_in(who)
    assert submissions.tries(lab.platform, caller_of(eve), "ai", "lab1").left == 5
    theirs = submissions.list_submissions(lab.platform, caller_of(bob), "ai", "lab1")[0].submission.id
    with pytest.raises(NotFound):
        submissions.get(lab.platform, caller_of(eve), theirs)
    assert timedelta(0) < lab.clock.now() - datetime(2026, 9, 1, tzinfo=UTC)
