"""The `[[check]]` tables of lab.toml: kinds, bands, weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Literal

from qianka.grading.metrics import METRICS
from qianka.grading.model import MAX_POINTS, Bands, Check, MemoryCheck, MetricCheck, StyleCheck, TimeCheck
from qianka.grading.reader import Table

KINDS = ("metric", "time", "memory", "style")
NARROWEST = 1.5
"""neighbouring band edges lie at least this factor apart: the same program varies by 10-20 % from run to run"""


def read_checks(top: Table) -> tuple[Check, ...]:
    """All checks in the order of the file; notes mistakes in each and in their sum."""
    checks: list[Check] = []
    for table in top.tables("check"):
        kind = table.text("kind", choices=KINDS)
        checks.append(_READERS[kind](table))
        table.close()
    if not any(isinstance(check, MetricCheck) for check in checks):
        top.bad("check", '至少要有一个 kind = "metric" 的检查', 'there must be a check of kind = "metric"')
    total = sum(check.weight for check in checks)
    if checks and not math.isclose(total, MAX_POINTS, abs_tol=1e-6):
        top.bad(
            "check",
            f"各检查的 weight 之和应是 {MAX_POINTS:g}，现在是 {total:g}",
            f"the weights of all checks must add up to {MAX_POINTS:g}, now {total:g}",
        )
    for kind in ("style", "time"):
        if sum(1 for check in checks if check.kind == kind) > 1:
            top.bad("check", f"{kind} 检查只能有一个", f"there may be one {kind} check only")
    return tuple(checks)


def _weight(table: Table) -> float:
    return table.number("weight", None, 0, MAX_POINTS)


def _metric(table: Table) -> MetricCheck:
    metric = table.text("metric", "accuracy", tuple(METRICS))
    rule = METRICS[metric]
    low, high = (-1e12 if rule.low is None else rule.low), (1e12 if rule.high is None else rule.high)
    line = table.number("line", None, low, high)
    full = table.number("full", line, low, high)
    floor = table.number("floor", line, low, high)
    if not (full == line or rule.better(full, line)):
        table.bad("full", f"应不差于 line = {line:g}", f"must be no worse than line = {line:g}")
    if not (floor == line or rule.better(line, floor)):
        table.bad("floor", f"应不好于 line = {line:g}", f"must be no better than line = {line:g}")
    at_line = table.number("at_line", 0.6, 0, 1)
    return MetricCheck(weight=_weight(table), metric=metric, line=line, full=full, floor=floor, at_line=at_line)


def _time(table: Table) -> TimeCheck:
    return TimeCheck(
        weight=_weight(table),
        of=_stage(table),
        measure="wall" if table.text("measure", "cpu", ("cpu", "wall")) == "wall" else "cpu",
        bands=_bands(table, NARROWEST),
    )


def _memory(table: Table) -> MemoryCheck:
    unit: Literal["ratio", "mb"] = "mb" if table.text("unit", "ratio", ("ratio", "mb")) == "mb" else "ratio"
    return MemoryCheck(weight=_weight(table), of=_stage(table), unit=unit, bands=_bands(table, 1.0))


def _style(table: Table) -> StyleCheck:
    return StyleCheck(
        weight=_weight(table),
        line_length=table.integer("line_length", 100, 40, 400),
        problems=table.integer("problems", 20, 1, 1000),
    )


def _stage(table: Table) -> Literal["train", "predict"]:
    return "predict" if table.text("of", "train", ("train", "predict")) == "predict" else "train"


def _bands(table: Table, narrowest: float) -> Bands:
    value = table.take("bands")
    pairs = value if isinstance(value, list) and value else []
    good = all(isinstance(pair, list) and len(pair) == 2 and all(_is_number(x) for x in pair) for pair in pairs)
    if not pairs or not good:
        table.bad(
            "bands",
            "应是 [[上限, 比例], …]，例如 [[1.5, 1.0], [3.0, 0.6]]",
            "must be [[upper edge, share], …], such as [[1.5, 1.0], [3.0, 0.6]]",
        )
        return ((narrowest, 1.0),)
    bands = tuple((float(edge), float(share)) for edge, share in pairs)
    _check_bands(table, bands, narrowest)
    return bands


def _check_bands(table: Table, bands: Bands, narrowest: float) -> None:
    edges, shares = [edge for edge, _ in bands], [share for _, share in bands]
    if any(not 0 <= share <= 1 for share in shares) or sorted(shares, reverse=True) != shares:
        table.bad("bands", "比例应在 0 到 1 之间，由大到小", "the shares must fall, and lie in 0..1")
    if edges[0] < narrowest or edges[0] <= 0:
        table.bad(
            "bands",
            f"第一个上限应不小于 {narrowest:g}（同一程序两次运行可差 20%）",
            f"the first edge must be at least {narrowest:g} (two runs of one program differ by up to 20 %)",
        )
    for before, after in pairwise(edges):
        if after <= before or after < before * narrowest:
            table.bad(
                "bands",
                f"上限 {after:g} 应至少是前一个（{before:g}）的 {narrowest:g} 倍，否则噪声会换档",
                f"edge {after:g} must be at least {narrowest:g} times the one before ({before:g}), or noise decides",
            )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_READERS: dict[str, Callable[[Table], Check]] = {"metric": _metric, "time": _time, "memory": _memory, "style": _style}
