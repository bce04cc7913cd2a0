"""Which column is which: Chinese and English headings, the head row, the delimiter."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from qianka.errors import BadInput, Text
from qianka.roster.cells import heading
from qianka.roster.model import DELIMITERS, FIELDS

_HEADINGS = {
    "student_number": "学号 学生学号 学籍号 学生编号 学员编号 学工号 studentnumber studentid studentno sid number id",
    "name": "姓名 学生姓名 名字 中文姓名 name fullname studentname displayname",
    "section": "班级 班 行政班 行政班级 教学班 教学班级 班级名称 section class classname group 组",
    "login": "登录名 用户名 账号 帐号 登录账号 login username user account netid",
    "email": "邮箱 电子邮箱 电子邮件 邮件 email mail emailaddress",
}
_PARTS = {"student_number": "学号", "name": "姓名", "section": "班级"}
MAX_ROWS = 20_000
MAX_CELL = 2000
_LOOK_FOR_HEAD = 6
_END = "\x1eend"


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


def read_table(text: str) -> Table:
    """Split the text into cells and find head and delimiter. Raises BadInput naming what was found."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    told = _told_delimiter(text)
    if told is not None:
        text = text.split("\n", 1)[-1]
    best: Table | None = None
    for delimiter in [told] if told else list(DELIMITERS):
        for table in _candidates(text, delimiter):
            if best is None or len(table.fields) > len(best.fields):
                best = table
    if best is None or "student_number" not in best.fields or "name" not in best.fields:
        raise _no_head(text, best)
    return best


def _candidates(text: str, delimiter: str) -> Iterator[Table]:
    rows, is_open = _split(text, delimiter)
    for at in range(min(_LOOK_FOR_HEAD, len(rows))):
        fields = map_columns(rows[at])
        if fields:
            shift = 1 + at + 1
            yield Table(rows[at], rows[at + 1 :], shift, delimiter, fields, at, is_open)


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


def _split(text: str, delimiter: str) -> tuple[list[list[str]], bool]:
    rows: list[list[str]] = []
    # A quote that is never closed swallows the rest of the file, and with it the mark put at the end here.
    reader = csv.reader(io.StringIO(f"{text}\n{_END}\n", newline=""), delimiter=delimiter)
    try:
        for row in reader:
            rows.append(row)
            if len(rows) > MAX_ROWS + _LOOK_FOR_HEAD:
                raise BadInput(
                    Text(f"名单超过 {MAX_ROWS} 行", f"the roster has more than {MAX_ROWS} rows"), reason="too_many_rows"
                )
    except csv.Error as error:
        raise BadInput(
            Text(f"第 {len(rows) + 1} 行读不了：{error}", f"row {len(rows) + 1} cannot be read: {error}"),
            Text("检查这一行的引号是否成对", "see whether the quotes of that row are paired"),
            reason="bad_row",
        ) from error
    is_open = rows[-1:] != [[_END]]
    return (rows if is_open else rows[:-1]), is_open


def _told_delimiter(text: str) -> str | None:
    """Excel's own first line `sep=;`."""
    first = text.split("\n", 1)[0].strip().strip('"').lower()
    if first.startswith("sep=") and len(first) == 5 and first[4] in DELIMITERS:
        return first[4]
    return "\t" if first == "sep=" else None


def _no_head(text: str, best: Table | None) -> BadInput:
    first = next((line for line in text.split("\n") if line.strip()), "")
    if "，" in first and not any(delimiter in first for delimiter in DELIMITERS):
        return BadInput(
            Text("列之间用的是中文逗号“，”", "the columns are separated by the full-width comma “，”"),
            Text("全部替换成英文逗号“,”", "replace them by plain commas"),
            reason="full_width_comma",
        )
    missing = [field for field in ("student_number", "name") if best is None or field not in best.fields]
    columns = [
        cell.strip() for cell in (best.head if best else _split(first, ",")[0][0] if first else []) if cell.strip()
    ]
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
