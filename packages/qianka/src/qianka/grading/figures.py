"""Reads what our own scripts wrote, and believes none of it that is not exactly as it should be.

A figure that is missing, NaN, out of range or of the wrong type is the platform's fault: PlatformFault,
which becomes infra_error, never a grade.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from qianka.errors import PlatformFault, Text
from qianka.grading.metrics import METRICS
from qianka.grading.model import Lab

MOST = 10**9


@dataclass(frozen=True, kw_only=True)
class Offender:
    """Where predictions are wrong; `value` is what stands there and is for staff only."""

    line: int | None
    id: str | None
    value: str | None


@dataclass(frozen=True, kw_only=True)
class PredictionProblem:
    """One kind of mistake in the predictions: how often, and the first offenders."""

    code: str
    count: int
    first: tuple[Offender, ...]


@dataclass(frozen=True, kw_only=True)
class Score:
    """What the judge stage found: scores by metric, or problems."""

    rows: int
    scores: dict[str, float]
    problems: tuple[PredictionProblem, ...]


@dataclass(frozen=True, kw_only=True)
class Style:
    """What the style stage found; `failed` names tools that hung or died on the hand-in."""

    files: int
    lines: int
    unformatted: int
    unformatted_first: tuple[str, ...]
    problems: int
    problems_first: tuple[tuple[str, int, str], ...]
    noqa: int
    fmt_off: int
    numbers: int
    longest: int
    configs: tuple[str, ...]
    failed: tuple[str, ...]


def read_score(raw: object, lab: Lab) -> Score:
    """figures.json of the judge stage. Raises PlatformFault."""
    table = _table(raw, "figures")
    rows = _count(table, "rows")
    if table.get("ok") is True:
        wanted = {check.metric for check in lab.metric_checks}
        given = _table(table.get("scores"), "scores")
        if set(given) != wanted:
            raise _fault("scores", sorted(map(str, given)))
        scores = {name: _score(name, value) for name, value in given.items()}
        return Score(rows=rows, scores=scores, problems=())
    if table.get("ok") is not False:
        raise _fault("ok", table.get("ok"))
    problems = tuple(_problem(item) for item in _items(table, "problems"))
    if not problems:
        raise _fault("problems", problems)
    return Score(rows=rows, scores={}, problems=problems)


def read_style(raw: object) -> Style:
    """style.json of the style stage. Raises PlatformFault."""
    table = _table(raw, "style")
    files, unformatted = _count(table, "files"), _count(table, "unformatted")
    if unformatted > files:
        raise _fault("unformatted", unformatted)
    problems = []
    for item in _items(table, "problems_first"):
        row = _table(item, "problems_first")
        problems.append((_text(row, "path"), _count(row, "line"), _text(row, "code")))
    return Style(
        files=files,
        lines=_count(table, "lines"),
        unformatted=unformatted,
        unformatted_first=_texts(table, "unformatted_first"),
        problems=_count(table, "problems"),
        problems_first=tuple(problems),
        noqa=_count(table, "noqa"),
        fmt_off=_count(table, "fmt_off"),
        numbers=_count(table, "numbers"),
        longest=_count(table, "longest"),
        configs=_texts(table, "configs"),
        failed=_texts(table, "failed"),
    )


def _score(metric: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _fault(metric, value)
    if not METRICS[metric].admits(float(value)):
        raise _fault(metric, value)
    return float(value)


def _problem(raw: object) -> PredictionProblem:
    table = _table(raw, "problems")
    first = tuple(_offender(item) for item in _items(table, "first"))
    return PredictionProblem(code=_text(table, "code"), count=_count(table, "count"), first=first)


def _offender(raw: object) -> Offender:
    table = _table(raw, "first")
    line, id, value = table.get("line"), table.get("id"), table.get("value")
    if not (line is None or _is_count(line)) or not all(x is None or isinstance(x, str) for x in (id, value)):
        raise _fault("first", raw)
    return Offender(line=line, id=None if id is None else id[:100], value=None if value is None else value[:100])


def _table(raw: object, name: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise _fault(name, raw)
    return raw


def _items(table: dict[str, Any], key: str) -> list[Any]:
    value = table.get(key)
    if not isinstance(value, list) or len(value) > 100:
        raise _fault(key, value)
    return value


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _count(table: dict[str, Any], key: str) -> int:
    value = table.get(key)
    if not isinstance(value, int) or not _is_count(value):
        raise _fault(key, value)
    return value


def _text(table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise _fault(key, value)
    return value[:300]


def _texts(table: dict[str, Any], key: str) -> tuple[str, ...]:
    items = _items(table, key)
    if not all(isinstance(item, str) for item in items):
        raise _fault(key, items)
    return tuple(item[:300] for item in items)


def _fault(key: str, value: object) -> PlatformFault:
    shown = repr(value)[:80]
    return PlatformFault(
        Text(f"评分程序给出的 {key} 不可信：{shown}", f"the scorer's {key} cannot be believed: {shown}"),
        Text("会自动重试；不计分、不占次数", "it is tried again by itself: no score, no try used"),
        reason="figures",
        key=key,
    )
