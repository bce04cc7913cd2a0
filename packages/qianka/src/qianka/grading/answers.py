"""The hidden answers of a board: read once, split into public and private rows, checked against the metric."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qianka.errors import Text
from qianka.grading import scoring
from qianka.grading.boardfile import BoardError
from qianka.grading.boardmodel import BoardRules
from qianka.grading.metrics import METRICS
from qianka.grading.predictions import NUMBER, Columns
from qianka.grading.splitting import is_public
from qianka.tomlfile.reader import Problem

FILE = "answers.csv"
USAGE = "Usage"
_IGNORED = "ignored"


@dataclass(frozen=True)
class Answers:
    """`rows`: the place of each id; `truth` by place; `public` and `private`: the places that are scored."""

    rows: dict[str, int]
    truth: list[Any]
    public: list[int]
    private: list[int]
    columns: Columns

    def part(self, values: Sequence[Any], places: Sequence[int]) -> list[Any]:
        """The values at these places."""
        return [values[place] for place in places]


def read(data: bytes, rules: BoardRules, metric: str, secret: str) -> Answers:
    """The answers in the bytes of a CSV. Raises BoardError naming lines and ids."""
    table = _table(data)
    fields = table[0]
    needed = [rules.id_column, rules.column]
    needed += [USAGE] if rules.split == "usage" else []
    needed += [rules.split_by] if rules.split_by and rules.split == "hash" else []
    missing = [name for name in needed if name not in fields]
    if missing:
        listed = ", ".join(missing)
        raise _error(
            1, f"缺少列 {listed}（有 {', '.join(fields)}）", f"no column {listed} (there are {', '.join(fields)})"
        )
    at = {name: fields.index(name) for name in needed}
    found = Answers({}, [], [], [], _columns(rules, metric, [row[at[rules.column]] for row in table[1:]]))
    for line, row in enumerate(table[1:], 2):
        id, value = row[at[rules.id_column]], row[at[rules.column]]
        if not id or id in found.rows:
            raise _error(line, f"编号 {id!r} 为空或重复", f"the id {id!r} is empty or occurs twice")
        place = found.rows[id] = len(found.truth)
        usage = row[at[USAGE]].strip().lower() if rules.split == "usage" else None
        if usage == _IGNORED:
            found.truth.append(None)
            continue
        found.truth.append(_truth(line, id, value, found.columns))
        if usage is None:
            key = row[at[rules.split_by]] if rules.split_by else id
            usage = "public" if is_public(secret, key, rules.public_share) else "private"
        if usage not in ("public", "private"):
            raise _error(
                line,
                f"Usage 应是 Public、Private 或 Ignored，得到 {usage!r}",
                f"Usage is Public, Private or Ignored, got {usage!r}",
            )
        (found.public if usage == "public" else found.private).append(place)
    return found


def check(answers: Answers, metric: str) -> None:
    """Raises Undefined when a part of the answers has no score by `metric`: one class only, no rows."""
    for places in (answers.public, answers.private):
        scoring.check_answers(metric, answers.part(answers.truth, places))


def is_splittable(data: bytes, rules: BoardRules, metric: str, secret: str) -> bool:
    """Whether both parts have a score; with another secret they may."""
    try:
        check(read(data, rules, metric, secret), metric)
    except scoring.Undefined:
        return False
    return True


def _table(data: bytes) -> list[list[str]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _error(data[: error.start].count(b"\n") + 1, "不是 UTF-8 编码", "is not UTF-8") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if not row:
                continue
            if rows and len(row) != len(rows[0]):
                raise _error(
                    reader.line_num,
                    f"有 {len(row)} 列，表头有 {len(rows[0])} 列",
                    f"{len(row)} columns, the header has {len(rows[0])}",
                )
            rows.append(row)
    except csv.Error as error:
        raise _error(reader.line_num, f"CSV 格式有误：{error}", f"malformed CSV: {error}") from error
    if len(rows) < 2:
        raise _error(1, "没有答案", "there are no answers")
    return rows


def _columns(rules: BoardRules, metric: str, values: list[str]) -> Columns:
    is_label = METRICS[metric].column == "label"
    is_chance = metric == "log_loss"
    labels = frozenset(rules.labels if rules.labels is not None else values) if is_label else None
    return Columns(
        id=rules.id_column,
        column=rules.column,
        labels=labels,
        low=0.0 if is_chance else None,
        high=1.0 if is_chance else None,
    )


def _truth(line: int, id: str, value: str, columns: Columns) -> str | float:
    if columns.labels is not None:
        if not value.strip() or value not in columns.labels:
            raise _error(
                line, f"{id} 的答案 {value!r} 不在 labels 里", f"the answer {value!r} of {id} is none of the labels"
            )
        return value
    number = float(value) if NUMBER(value) else math.nan
    if not math.isfinite(number):
        raise _error(line, f"{id} 的答案 {value!r} 不是数字", f"the answer {value!r} of {id} is no number")
    return number


def _error(line: int, zh: str, en: str) -> BoardError:
    return BoardError([Problem(FILE, line, "", Text(zh, en))])
