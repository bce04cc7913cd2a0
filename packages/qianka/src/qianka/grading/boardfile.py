"""board.toml → BoardSpec. Every mistake names line and key, in both languages (docs/howto/boards.md)."""

from __future__ import annotations

import re
import sys
from datetime import date, datetime, time
from typing import Any

from qianka.errors import Refused, Text
from qianka.grading.boardmodel import BoardRules, BoardSpec
from qianka.grading.metrics import METRICS
from qianka.tomlfile.lines import line_of_error, scan
from qianka.tomlfile.reader import Notes, Problem, Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "board.toml"
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_ANY_DATE = ("2026-12-20 23:59", "2026-12-20")


class BoardError(Refused):
    """A board folder that cannot be used; `problems` holds all mistakes found."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        told = [problem.say() for problem in problems[:5]]
        more = len(problems) - len(told)
        super().__init__(
            Text(
                "；".join(one.zh for one in told) + (f"（另有 {more} 处）" if more else ""),
                "; ".join(one.en for one in told) + (f" (and {more} more)" if more else ""),
            ),
            Text("改好后再建；格式见 docs/howto/boards.md", "mend it and create it again; see docs/howto/boards.md"),
            reason="board",
            problems=[
                {"file": p.file, "line": p.line, "key": p.key, "zh": p.text.zh, "en": p.text.en} for p in problems
            ],
        )


def parse(data: bytes) -> BoardSpec:
    """The board that a board.toml declares. Raises BoardError with all mistakes."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BoardError([Problem(FILE, line, "", Text("不是 UTF-8 编码", "is not UTF-8"))]) from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = line_of_error(str(error), text)
        told = Text(f"不是合法的 TOML：{error}", f"is not TOML: {error}")
        raise BoardError([Problem(FILE, line, "", told)]) from error
    notes = Notes(scan(text), FILE)
    spec = spec_of(values, notes)
    if notes.problems:
        raise BoardError(sorted(notes.problems, key=lambda problem: problem.line))
    return spec


def spec_from(values: dict[str, Any]) -> BoardSpec:
    """The board of values that a program put together. Raises BoardError."""
    notes = Notes({}, FILE)
    spec = spec_of(values, notes)
    if notes.problems:
        raise BoardError(notes.problems)
    return spec


def spec_of(values: dict[str, Any], notes: Notes) -> BoardSpec:
    """The board of a TOML document; mistakes go to `notes`."""
    top = Table(values, (), notes)
    title = top.text("title")
    metric = top.text("metric", None, tuple(METRICS))
    spec = BoardSpec(
        title=title,
        title_en=top.text("title_en", title or "-"),
        metric=metric,
        digits=top.integer("digits", 4, 0, 8),
        lab=top.maybe_text("lab"),
        opens=_moment(top, "opens", time(0)),
        due=_moment(top, "due", time(23, 59)),
        reveal=_moment(top, "reveal", time(23, 59)),
        rules=_rules(top, METRICS[metric].column),
    )
    _check_order(top, spec)
    top.close()
    return spec


def _rules(top: Table, column: str) -> BoardRules:
    predictions, split, limits = top.table("predictions"), top.table("split"), top.table("limits")
    final, public, group = top.table("final"), top.table("public"), top.table("group")
    labels = predictions.strings("labels") if "labels" in predictions else None
    predictions.take("labels")
    reset = limits.text("reset", "00:00")
    if not _CLOCK.fullmatch(reset):
        limits.bad("reset", f"应是“时:分”，如 18:00，得到 {reset!r}", f"must be a time such as 18:00, got {reset!r}")
    rules = BoardRules(
        id_column=predictions.text("id", "id"),
        column=predictions.text("column", column),
        labels=labels,
        max_mb=predictions.number("max_mb", 16, 0.01, 1024),
        split="usage" if split.text("with", "hash", ("hash", "usage")) == "usage" else "hash",
        public_share=split.number("public", 0.3, 0.01, 0.99),
        split_by=split.maybe_text("by"),
        a_day=limits.integer("a_day", 5, 1, 1000),
        a_week=limits.integer("a_week", None, 1, 10_000) if "a_week" in limits else None,
        total=limits.integer("total", None, 1, 100_000) if "total" in limits else None,
        reset=reset,
        selections=final.integer("selections", 2, 1, 20),
        bonus=final.number("bonus", 0.10, 0, 1),
        ladder=public.boolean("ladder", True),
        group=group.integer("size", 1, 1, 20),
    )
    for key in ("a_week", "total"):
        limits.take(key)
    for table in (predictions, split, limits, final, public, group):
        table.close()
    return rules


def _moment(top: Table, key: str, clock: time) -> datetime | None:
    """A local date and time; a date alone is its beginning (opens) or its last minute."""
    value = top.take(key)
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value) if len(value) > 10 else date.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return value
    elif isinstance(value, date):
        return datetime.combine(value, clock)
    first, second = _ANY_DATE
    top.bad(
        key, f"写当地时间，如 “{first}” 或 “{second}”，不带时区", f'a local time such as "{first}", without an offset'
    )
    return None


def _check_order(top: Table, spec: BoardSpec) -> None:
    if spec.opens is not None and spec.due is not None and spec.opens >= spec.due:
        top.bad("due", "截止要晚于开放", "the deadline must come after the opening")
    if spec.reveal is not None and spec.due is None:
        top.bad("reveal", "有 reveal 就要有 due", "reveal needs a deadline (due)")
    if spec.reveal is not None and spec.due is not None and spec.reveal < spec.due:
        top.bad("reveal", "公布不能早于截止", "the private ranking cannot be shown before the deadline")
