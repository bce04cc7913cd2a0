"""Which column is which: Chinese and English headings, and the row in which they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from qianka.errors import BadInput, Text
from qianka.roster.cells import heading
from qianka.roster.grids import Grid
from qianka.roster.model import DELIMITERS, FIELDS, LOOK_FOR_HEAD

_HEADINGS = {
    "student_number": "学号 学生学号 学籍号 学生编号 学员编号 学工号 studentnumber studentid studentno sid number id",
    "name": "姓名 学生姓名 名字 中文姓名 name fullname studentname displayname",
    "section": "班级 班 行政班 行政班级 教学班 教学班级 班级名称 section class classname group 组",
    "login": "登录名 用户名 账号 帐号 登录账号 login username user account netid",
    "email": "邮箱 电子邮箱 电子邮件 邮件 email mail emailaddress",
}
_PARTS = {"student_number": "学号", "name": "姓名", "section": "班级"}
MAX_CELL = 2000


class Table(NamedTuple):
    """The cells of a file below its head; `first` is the row number of the first of them."""

    head: list[str]
    rows: list[list[str]]
    first: int
    delimiter: str
    fields: dict[str, int]
    """field → column, from 0"""
    skipped: int
    """rows above the head"""
    is_open: bool
    """whether the last row ends inside a quote, with who knows how many rows swallowed"""
    sheet: str = ""


def find_table(grids: Iterable[Grid]) -> Table:
    """The table with a number and a name, of all that a file holds. Raises BadInput naming what was found."""
    best: Table | None = None
    seen: list[Grid] = []
    for grid in grids:
        seen.append(grid)
        for table in _candidates(grid):
            if best is None or len(table.fields) > len(best.fields):
                best = table
        if grid.kind == "xlsx" and best is not None and {"student_number", "name"} <= set(best.fields):
            break  # later sheets are other classes, or notes
    if best is None or "student_number" not in best.fields or "name" not in best.fields:
        raise _no_head(seen, best)
    return best


def _candidates(grid: Grid) -> Iterator[Table]:
    for at in range(min(LOOK_FOR_HEAD, len(grid.rows))):
        fields = map_columns(grid.rows[at])
        if fields:
            skipped = sum(any(cell.strip() for cell in row) for row in grid.rows[:at])
            first = 1 + at + 1
            yield Table(grid.rows[at], grid.rows[at + 1 :], first, grid.kind, fields, skipped, grid.is_open, grid.name)


def map_columns(head: list[str]) -> dict[str, int]:
    """Field → column for a head row; the plainest heading wins where two would do."""
    plain = [heading(cell) for cell in head]
    found: dict[str, int] = {}
    for name, known in _HEADINGS.items():
        for word in known.split():
            if word in plain and plain.index(word) not in found.values():
                found[name] = plain.index(word)
                break
    for name, part in _PARTS.items():
        near = [i for i, word in enumerate(plain) if part in word and i not in found.values()]
        if name not in found and near:
            found[name] = near[0]
    return found


def _no_head(grids: list[Grid], best: Table | None) -> BadInput:
    rows = [row for grid in grids[:1] for row in grid.rows if any(cell.strip() for cell in row)]
    first = rows[0] if rows else []
    if not rows and grids:
        return BadInput(Text("名单是空的", "the roster is empty"), reason="empty")
    if len(first) == 1 and "，" in first[0] and not any(delimiter in first[0] for delimiter in DELIMITERS):
        return BadInput(
            Text("列之间用的是中文逗号“，”", "the columns are separated by the full-width comma “，”"),
            Text("全部替换成英文逗号“,”", "replace them by plain commas"),
            reason="full_width_comma",
        )
    missing = [field for field in ("student_number", "name") if best is None or field not in best.fields]
    columns = [cell.strip()[:40] for cell in (best.head if best else first) if cell.strip()]
    zh = "、".join(FIELDS[field].zh for field in missing)
    en = ", ".join(FIELDS[field].en for field in missing)
    seen = "、".join(columns[:8])
    return BadInput(
        Text(f"找不到{zh}列；看到的列是：{seen}", f"there is no column for {en}; the columns are: {seen}"),
        Text(
            "第一行写列名，至少要有“学号”和“姓名”",
            "the first row names the columns, among them 学号 (student id) and 姓名 (name)",
        ),
        reason="no_head",
        columns=columns[:20],
    )
