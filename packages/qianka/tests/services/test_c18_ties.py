"""C18: ties, float noise, handing in the same again, the bonus line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka.services import boards
from qianka.testing import FakeClock, caller_of, make_platform
from qianka.testing.boards import BoardScene, make_board_scene, table


@pytest.fixture
def course(tmp_path: Path) -> Iterator[BoardScene]:
    """A regression: any score can be made."""
    clock = FakeClock()
    platform = make_platform(tmp_path / "data", clock=clock)
    yield make_board_scene(platform, clock, metric="mean_absolute_error", truth=lambda n: float(n))
    platform.store.close()


def off_by(course: BoardScene, error: float) -> str:
    """Predictions whose mean absolute error is `error` on every part."""
    return table("id,value", ((id, repr(value + error)) for id, value in course.truth.items()))


def test_shown_as_equal_is_ranked_as_equal_the_earlier_above(course: BoardScene) -> None:
    a, b, c, d = (course.student(login, name=login) for login in "abcd")
    for who, error in ((a, 0.91234501), (b, 0.5), (c, 0.91234499), (d, 2.0)):
        course.enter(who, off_by(course, error))
    expected = [(1, "b", "0.5000"), (2, "a", "0.9123"), (2, "c", "0.9123"), (4, "d", "2.0000")]
    assert course.rows() == expected
    assert course.rows() == expected
    assert course.rows(private=True) == expected


def test_handing_in_the_same_again_neither_lowers_nor_refreshes(course: BoardScene) -> None:
    a, b = course.student("a", name="a"), course.student("b", name="b")
    course.enter(a, off_by(course, 0.7))
    best = course.enter(a, off_by(course, 0.4)).entry
    course.enter(b, off_by(course, 0.4))
    before = course.ranking().rows
    for error in (0.4, 0.9, 0.4, 0.40000001):
        course.enter(a, off_by(course, error))
    after = course.ranking().rows
    assert [(row.rank, row.name, row.score, row.at) for row in after] == [
        (row.rank, row.name, row.score, row.at) for row in before
    ]
    assert [row.name for row in after] == ["a", "b"]
    assert after[0].at == best.submitted_at


def test_noise_below_the_digits_shown_does_not_pass_anybody(course: BoardScene) -> None:
    a, b = course.student("a", name="a"), course.student("b", name="b")
    course.enter(a, off_by(course, 0.5))
    course.enter(b, off_by(course, 0.50000001))
    course.enter(b, off_by(course, 0.49999999))
    assert course.rows() == [(1, "a", "0.5000"), (1, "b", "0.5000")]


def test_the_bonus_line_takes_the_whole_tie(course: BoardScene) -> None:
    """Twenty people: a tenth is two, and the third is equal to the second."""
    for number in range(20):
        error = 0.1 if number == 0 else 0.2 if number < 3 else 0.5
        course.enter(course.student(), off_by(course, error))
    for private in (False, True):
        rows = course.ranking(private=private).rows
        assert [row.rank for row in rows if row.bonus] == [1, 2, 2]


def test_choosing_too_many_is_refused_at_once_and_changes_nothing(course: BoardScene) -> None:
    from qianka.errors import Refused

    a = course.student("a", name="a")
    ids = [course.enter(a, off_by(course, error)).entry.id for error in (0.9, 0.4, 0.6)]
    assert boards.select_entries(course.platform, caller_of(a), "ai", "guess", ids[:2]) == ids[:2]
    with pytest.raises(Refused) as refused:
        boards.select_entries(course.platform, caller_of(a), "ai", "guess", ids)
    assert refused.value.reason == "too_many_selected"
    assert [entry.selected for entry in course.entries(a)] == [True, True, False]
