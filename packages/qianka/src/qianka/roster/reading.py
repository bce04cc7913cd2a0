"""A roster file → rows and problems: one bad row never spoils the others."""

from __future__ import annotations

from collections.abc import Callable

from qianka.errors import BadInput, Text, TooLarge
from qianka.roster import cells
from qianka.roster.columns import MAX_CELL, Table, find_table
from qianka.roster.grids import open_source
from qianka.roster.model import FIELDS, Problem, Roster, Row

MAX_BYTES = 5 << 20
_CLEAN: dict[str, Callable[[str], str]] = {
    "student_number": cells.student_number,
    "name": cells.name,
    "section": cells.section,
    "login": cells.login,
    "email": cells.email,
}


def read(data: bytes, encoding: str | None = None) -> Roster:
    """Read a roster (CSV, XLSX, or a web page as .xls); `encoding` overrides the guess.

    Raises TooLarge, or BadInput when the file as a whole cannot be understood; single bad rows are
    Problems of the result.
    """
    if len(data) > MAX_BYTES:
        raise TooLarge(
            Text("名单文件超过 5 MB", "the roster is larger than 5 MB"),
            Text("只留学号、姓名、班级几列", "keep the columns for number, name and section"),
        )
    source = open_source(data, encoding)
    table = find_table(source.grids)
    rows: list[Row] = []
    problems: list[Problem] = []
    last = table.first + len(table.rows) - 1
    for line, values in enumerate(table.rows, start=table.first):
        if not any(value.strip() for value in values):
            continue
        found = _open_quote(line) if table.is_open and line == last else _row(line, values, table)
        if isinstance(found, Row):
            rows.append(found)
        else:
            problems.append(found)
    rows, twins = _without_twins(rows)
    problems = sorted([*problems, *twins], key=lambda problem: problem.line)
    if not rows and not problems:
        raise BadInput(Text("名单里没有学生", "there is no student in the roster"), reason="empty")
    fields = {column: field for field, column in table.fields.items()}
    return Roster(
        rows=tuple(rows),
        problems=tuple(problems),
        encoding=source.encoding,
        delimiter=table.delimiter,
        columns=tuple((cell.strip(), fields.get(column)) for column, cell in enumerate(table.head)),
        notes=tuple(_notes(table, rows)),
    )


def _row(line: int, values: list[str], table: Table) -> Row | Problem:
    found: dict[str, str] = {}
    first: Problem | None = None
    for field, column in table.fields.items():
        value = values[column] if column < len(values) else ""
        try:
            if cells.is_broken(value):
                raise cells.CellError("undecodable", "无法解码", "cannot be decoded")
            if len(value) > MAX_CELL:
                raise cells.CellError("long_cell", "太长（引号没有成对？）", "is too long (an unpaired quote?)")
            found[field] = _CLEAN[field](value)
        except cells.CellError as error:
            first = first or _problem(line, column + 1, error)
    if first is None:
        broken = next((i for i, value in enumerate(values) if cells.is_broken(value)), None)
        if broken is not None:
            # A column that is not used says all the same that the row is damaged.
            first = _problem(line, broken + 1, cells.CellError("undecodable", "无法解码", "cannot be decoded"))
    if first is not None:
        return _about(first, found.get("student_number"))
    return Row(
        line=line,
        student_number=found["student_number"],
        name=found["name"],
        section=found.get("section", ""),
        login=found.get("login", ""),
        email=found.get("email", ""),
    )


def _open_quote(line: int) -> Problem:
    return Problem(
        line=line,
        column=None,
        code="open_quote",
        text=Text(
            f"第 {line} 行有一个没有成对的引号，它后面的行都没有读到",
            f"row {line} has an unpaired quote; the rows after it were not read",
        ),
    )


def _problem(line: int, column: int, error: cells.CellError) -> Problem:
    return Problem(
        line=line,
        column=column,
        code=error.code,
        text=Text(
            f"第 {line} 行第 {column} 列{'' if error.code in ('undecodable', 'long_cell') else '：'}{error.text.zh}",
            f"row {line}, column {column}{' ' if error.code in ('undecodable', 'long_cell') else ': '}{error.text.en}",
        ),
    )


def _about(problem: Problem, student_number: str | None) -> Problem:
    return Problem(
        line=problem.line,
        column=problem.column,
        code=problem.code,
        text=problem.text,
        student_number=student_number,
    )


def _without_twins(rows: list[Row]) -> tuple[list[Row], list[Problem]]:
    """Rows whose number or login another row has: equal ones count once, differing ones not at all."""
    kept: dict[str, Row] = {}
    refused: set[str] = set()
    problems: list[Problem] = []
    for row in rows:
        key = row.student_number.lower()
        first = kept.setdefault(key, row)
        if first is row:
            continue
        same = (first.name, first.wanted_login) == (row.name, row.wanted_login)
        if not same:
            refused.add(key)
        zh = f"第 {row.line} 行学号 {row.student_number} 和第 {first.line} 行重复" + (
            "，只算一次" if same else "，两行都没有采用"
        )
        en = f"row {row.line} has the student number {row.student_number} of row {first.line}" + (
            ": counted once" if same else ": neither is taken"
        )
        problems.append(
            Problem(
                line=row.line,
                column=None,
                code="duplicate_number",
                text=Text(zh, en),
                student_number=first.student_number,
            )
        )
    logins: dict[str, Row] = {}
    for key, row in kept.items():
        first = logins.setdefault(row.wanted_login, row)
        if first is not row and key not in refused:
            refused.add(key)
            zh = f"第 {row.line} 行登录名 {row.wanted_login} 和第 {first.line} 行重复"
            en = f"row {row.line} has the login {row.wanted_login} of row {first.line}"
            problems.append(
                Problem(
                    line=row.line,
                    column=None,
                    code="duplicate_login",
                    text=Text(zh, en),
                    student_number=row.student_number,
                )
            )
    return [row for key, row in kept.items() if key not in refused], problems


def _notes(table: Table, rows: list[Row]) -> list[Text]:
    notes = []
    if table.sheet:
        notes.append(Text(f"读的是工作表“{table.sheet[:40]}”", f"read from the sheet “{table.sheet[:40]}”"))
    if table.skipped:
        notes.append(
            Text(f"跳过了表头上面的 {table.skipped} 行", f"skipped {table.skipped} rows above the head of the table")
        )
    ignored = [cell.strip() for i, cell in enumerate(table.head) if cell.strip() and i not in table.fields.values()]
    if ignored:
        notes.append(Text(f"没有用到的列：{'、'.join(ignored[:8])}", f"columns not used: {', '.join(ignored[:8])}"))
    used = "、".join(f"{table.head[i].strip()}→{FIELDS[field].zh}" for field, i in table.fields.items())
    notes.append(Text(f"列的对应：{used}", f"columns: {used}"))
    long = [row for row in rows if len(row.student_number) > 15 and row.student_number.isdigit()]
    if len(long) > 1 and all(row.student_number.endswith("0") for row in long):
        notes.append(
            Text(
                "所有超过 15 位的学号都以 0 结尾：多半被 Excel 截断了，请核对",
                "every student number of more than 15 digits ends in 0: Excel has probably cut them, please check",
            )
        )
    return notes
