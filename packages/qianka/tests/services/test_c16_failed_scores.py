"""C16: NaN, infinite, empty and unreadable predictions, and scores that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from qianka.errors import Text
from qianka.grading import scoring
from qianka.grading.boardfile import BoardError
from qianka.services import boards
from qianka.services.boards import standings
from qianka.store.tables import Audit
from qianka.testing import FakeClock, caller_of, make_platform
from qianka.testing.boards import BoardScene, make_board_scene
from sqlalchemy import select

BAD = {
    "NaN": "not_finite",
    "nan": "not_finite",
    "inf": "not_finite",
    "-inf": "not_finite",
    "Infinity": "not_finite",
    "": "empty_value",
    "  ": "empty_value",
    "1e400": "not_finite",
    "-1e400": "not_finite",
    "None": "not_number",
    "True": "not_number",
    '"0,5"': "decimal_comma",
    "0,5": "columns_in_row",
    "0x10": "not_number",
    "1_000": "not_number",
    "１": "not_number",
    " 0.5": "not_number",
}


def scene(tmp_path: Path, metric: str, **changes: Any) -> BoardScene:
    clock = FakeClock()
    platform = make_platform(tmp_path / "data", clock=clock)
    return make_board_scene(platform, clock, metric=metric, **changes)


@pytest.mark.parametrize("metric", ["mean_squared_error", "roc_auc"])
def test_a_bad_value_is_refused_with_its_row_and_id_and_nothing_else_changes(tmp_path: Path, metric: str) -> None:
    """In both sort directions: no score, not on the board, no try, and the best of before stays."""
    course = scene(tmp_path, metric, limits__a_day=3)
    alice, bob = course.student("alice"), course.student("bob")
    good = course.enter(alice, course.predictions(10))
    before = course.rows()
    for value, code in BAD.items():
        lines = course.predictions().splitlines()
        lines[5] = f"1004,{value}"
        for who in (alice, bob):
            entry, receipt, _ = course.enter(who, "\n".join(lines) + "\n")
            assert (entry.state, entry.public, entry.private, entry.shown, entry.charged) == (
                "invalid",
                None,
                None,
                None,
                False,
            ), value
            assert receipt is None
            codes = {one["code"]: one for one in (entry.refusal or {})["problems"]}
            assert codes[code]["first"][0]["line"] == 6, value
            assert codes[code]["first"][0]["id"] == "1004", value
            assert codes[code]["count"] == 1
    assert course.rows() == before
    assert [(rank, score) for rank, _, score in before] == [(1, before[0][2])]
    assert good.entry.charged
    allowance = boards.allowance_now(course.platform, caller_of(alice), "ai", "guess")
    assert allowance.left == 2
    with course.platform.store.reading() as session:
        actions = list(session.scalars(select(Audit.action)))
    assert actions.count("entry.invalid") == 2 * len(BAD)


@pytest.mark.parametrize("metric", ["mean_squared_error", "r2"])
def test_predictions_too_large_for_a_score_are_refused(tmp_path: Path, metric: str) -> None:
    course = scene(tmp_path, metric)
    text = course.predictions().replace("1004,0", "1004,1e200").replace("1005,1", "1005,-1.7e308")
    for id in course.truth:
        text = text.replace(f"{id},1\n", f"{id},1e180\n")
    entry = course.enter(course.student(), text).entry
    assert entry.state == "invalid"
    assert course.rows() == []


def test_a_probability_beyond_zero_and_one_is_refused(tmp_path: Path) -> None:
    course = scene(tmp_path, "log_loss")
    entry = course.enter(course.student(), course.predictions().replace("1004,0", "1004,-0.01")).entry
    assert [one["code"] for one in (entry.refusal or {})["problems"]] == ["out_of_bounds"]


def test_answers_of_one_class_make_no_board(tmp_path: Path) -> None:
    with pytest.raises(BoardError) as refused:
        scene(tmp_path, "roc_auc", truth=lambda n: 1)
    assert "both classes" in refused.value.message.en
    with pytest.raises(BoardError):
        scene(tmp_path / "2", "r2", truth=lambda n: 3)


def test_a_split_that_leaves_one_class_in_a_part_is_drawn_again(tmp_path: Path) -> None:
    """Few rows: by chance a part has one class only; the board is made with another secret."""
    for number in range(8):
        course = scene(tmp_path / str(number), "roc_auc", rows=6)
        assert course.enter(course.student()).entry.state == "scored"


def test_a_scorer_that_fails_costs_nothing_and_ranks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = scene(tmp_path, "roc_auc")
    alice = course.student("alice")
    course.enter(alice, course.predictions(4))
    before = course.rows()

    def broken(*_: Any, **__: Any) -> Any:
        raise scoring.Undefined("the scorer is broken")

    monkeypatch.setattr(standings, "score", broken)
    entry = course.enter(alice).entry
    assert (entry.state, entry.charged, entry.public) == ("failed", False, None)
    assert course.rows() == before
    assert boards.allowance_now(course.platform, caller_of(alice), "ai", "guess").day.used == 1


@pytest.mark.parametrize(("metric", "order"), [("mean_squared_error", ["b", "a"]), ("roc_auc", ["b", "a"])])
def test_who_has_no_score_is_on_the_board_in_neither_direction(tmp_path: Path, metric: str, order: list[str]) -> None:
    course = scene(tmp_path, metric)
    a, b, c = (course.student(login, name=login) for login in "abc")
    course.enter(a, course.predictions(12))
    course.enter(b, course.predictions(2))
    course.enter(c, "id,value\n1000,NaN\n")
    assert [(rank, name) for rank, name, _ in course.rows()] == [(1, order[0]), (2, order[1])]
    assert isinstance(course.entries(c)[0].refusal, dict)
    assert Text(**{k: (course.entries(c)[0].refusal or {})["problems"][0][k] for k in ("zh", "en")}).zh
