"""The `[[check]]` tables of lab.toml: kinds, bands, weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Literal

from qianka.domain.resources import Resources
from qianka.grading.metrics import METRICS
from qianka.grading.model import (
    MAX_POINTS,
    MIB,
    Bands,
    Check,
    MemoryCheck,
    MetricCheck,
    NotebookCheck,
    Peer,
    StyleCheck,
    TestsCheck,
    TimeCheck,
)
from qianka.grading.reader import Table

KINDS = ("metric", "time", "memory", "style", "tests", "notebook")
DECIDING = ("metric", "tests", "notebook")
"""kinds of which a lab has at least one: they say whether a hand-in is accepted"""
TEST_FILES = ("tests/test_*.py",)
NARROWEST = 1.5
"""neighbouring band edges lie at least this factor apart: the same program varies by 10-20 % from run to run"""


def read_checks(top: Table) -> tuple[Check, ...]:
    """All checks in the order of the file; notes mistakes in each and in their sum."""
    checks: list[Check] = []
    for table in top.tables("check"):
        kind = table.text("kind", choices=KINDS)
        checks.append(_READERS[kind](table))
        table.close()
    kinds = {check.kind for check in checks}
    if not kinds & set(DECIDING):
        listed = ", ".join(DECIDING)
        top.bad("check", f"至少要有一个这类检查：{listed}", f"there must be a check of one of these kinds: {listed}")
    if "metric" not in kinds and kinds & {"time", "memory"}:
        top.bad(
            "check", "time、memory 检查要和 metric 一起用", "time and memory checks need a metric check beside them"
        )
    total = sum(check.weight for check in checks)
    if checks and not math.isclose(total, MAX_POINTS, abs_tol=1e-6):
        top.bad(
            "check",
            f"各检查的 weight 之和应是 {MAX_POINTS:g}，现在是 {total:g}",
            f"the weights of all checks must add up to {MAX_POINTS:g}, now {total:g}",
        )
    for kind in ("style", "time", "tests", "notebook"):
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


def _tests(table: Table) -> TestsCheck:
    files, public = table.strings("files", TEST_FILES), table.strings("public", ())
    for key, patterns in (("files", files), ("public", public)):
        for pattern in patterns:
            if not is_inside(pattern) or not pattern.endswith(".py"):
                zh, en = "应是实验文件夹里的 .py 文件", "must name .py files inside the lab's folder"
                table.bad(key, f"{zh}：{pattern!r}", f"{en}: {pattern!r}")
    path = table.text("path", "code")
    if path != "." and not is_inside(path):
        table.bad("path", "要写提交里的文件夹", "must be a folder inside the hand-in")
    return TestsCheck(
        weight=_weight(table),
        files=files,
        public=public,
        path=path,
        seconds=table.number("seconds", 5.0, 0.1, 3600),
        seconds_start=table.number("seconds_start", 30.0, 1, 600),
        seconds_total=table.number("seconds_total", 120.0, 1, 7200),
        hints_after=table.integer("hints_after", 3, 0, 1000),
        line=table.number("line", 0.6, 0, 1),
        peer=_peer(table),
    )


def _notebook(table: Table) -> NotebookCheck:
    master = table.text("master")
    file = table.text("file", master.rpartition("/")[2] or "notebook.ipynb")
    for key, path in (("master", master), ("file", file)):
        if path and (not is_inside(path) or not path.endswith(".ipynb")):
            table.bad(key, "应是 .ipynb 文件的相对路径", "must be the relative path of an .ipynb file")
    return NotebookCheck(
        weight=_weight(table),
        master=master,
        file=file,
        seconds=table.number("seconds", 30.0, 0.1, 3600),
        seconds_start=table.number("seconds_start", 60.0, 1, 600),
        seconds_total=table.number("seconds_total", 300.0, 1, 7200),
        hints_after=table.integer("hints_after", 3, 0, 1000),
        line=table.number("line", 0.6, 0, 1),
        peer=_peer(table),
    )


def _peer(table: Table) -> Peer:
    return Peer(
        resources=Resources(
            cpus=table.number("cpus", 1.0, 0.1, 256),
            memory=int(table.number("memory_mb", 1024, 64, 1 << 20) * MIB),
            gpus=table.integer("gpus", 0, 0, 64),
        ),
        processes=table.integer("processes", 64, 8, 4096),
        disk=int(table.number("disk_mb", 64, 1, 1 << 20) * MIB),
        inodes=table.integer("inodes", 4096, 64, 1_000_000),
        tmp=int(table.number("tmp_mb", 128, 1, 1 << 20) * MIB),
        output_total=int(table.number("print_mb", 16, 1, 1024) * MIB),
    )


def is_inside(path: str) -> bool:
    """Whether `path` is a relative path that stays where it begins."""
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts and "\\" not in path and bool(pure.parts)


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


_READERS: dict[str, Callable[[Table], Check]] = {
    "metric": _metric,
    "time": _time,
    "memory": _memory,
    "style": _style,
    "tests": _tests,
    "notebook": _notebook,
}
