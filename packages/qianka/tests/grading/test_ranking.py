"""Ranks on a board: ties, NaN, order inside a tie, the bonus line."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.grading.metrics import METRICS
from qianka.grading.ranking import Entry, rank, shown, top_share

START = datetime(2026, 9, 7, tzinfo=timezone.utc)


def entries(*scores: float | None) -> list[Entry]:
    return [Entry(person=i, score=s, at=START + timedelta(minutes=i)) for i, s in enumerate(scores)]


def test_shown_as_equal_is_ranked_as_equal() -> None:
    """C18: 1, 2, 2, 4, the earlier hand-in above."""
    ranked = rank(entries(0.91234499, 0.95, 0.91234501, 0.9), METRICS["accuracy"], 4)
    assert [(row.rank, row.entry.person) for row in ranked] == [(1, 1), (2, 0), (2, 2), (4, 3)]
    assert ranked[1].shown == ranked[2].shown == "0.9123"


@pytest.mark.parametrize("metric", ["accuracy", "mean_squared_error"])
def test_no_score_and_nan_stand_last_without_a_rank_in_both_directions(metric: str) -> None:
    """C16."""
    ranked = rank(entries(None, float("nan"), 0.5, float("inf"), 0.7, float("-inf")), METRICS[metric], 4)
    assert [row.rank for row in ranked] == [1, 2, None, None, None, None]
    assert ranked[0].entry.score == (0.7 if metric == "accuracy" else 0.5)


def test_minus_zero_is_zero() -> None:
    assert shown(-0.00001, 4) == shown(0.0, 4) == "0.0000"


def test_the_bonus_line_takes_the_whole_tie() -> None:
    ranked = rank(entries(*([0.9] * 3 + [0.8] * 17)), METRICS["accuracy"], 4)
    assert len(top_share(ranked, 0.10)) == 3
    assert top_share([], 0.10) == []
    assert len(top_share(rank(entries(0.5, None), METRICS["accuracy"], 4), 0.10)) == 1


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=30), st.integers(0, 6))
def test_ranks_agree_with_what_is_shown(scores: list[float | None], digits: int) -> None:
    ranked = rank(entries(*scores), METRICS["accuracy"], digits)
    placed = [row for row in ranked if row.rank is not None]
    assert len(ranked) == len(scores)
    assert ranked[: len(placed)] == placed
    for place, row in enumerate(placed, 1):
        better = sum(float(other.shown or 0) > float(row.shown or 0) for other in placed)
        assert row.rank == better + 1 <= place
