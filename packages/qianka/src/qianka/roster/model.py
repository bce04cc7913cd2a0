"""A roster as it was read: its rows, its problems, and how it was understood."""

from __future__ import annotations

from dataclasses import dataclass, field

from qianka.errors import BadInput, Text


@dataclass(frozen=True, kw_only=True)
class Row:
    """One student; `line` is the row as a spreadsheet counts it, the head being row 1."""

    line: int
    student_number: str
    name: str
    section: str = ""
    login: str = ""
    """as asked for by a column of the file; empty: the student number in lower case"""
    email: str = ""

    @property
    def wanted_login(self) -> str:
        """The login this student gets."""
        return self.login or self.student_number.lower()


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why one row is left out; `column` counts from 1, None when the whole row is meant."""

    line: int
    column: int | None
    code: str
    text: Text
    student_number: str | None = None
    """whom the row is about, where that much can be read"""


@dataclass(frozen=True, kw_only=True)
class Roster:
    """What was read of a file. Rows with a problem are not among `rows`; the others are unharmed."""

    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]
    encoding: str
    """as shown to people, such as `UTF-8 (BOM)`"""
    delimiter: str
    """what divides its columns: a delimiter, or `xlsx`, `html`"""
    columns: tuple[tuple[str, str | None], ...]
    """each column of the file with the field it was taken for; None: ignored"""
    notes: tuple[Text, ...] = ()

    @property
    def summary(self) -> Text:
        """One line such as `UTF-8 (BOM), 逗号, 1 行`."""
        zh, en = KINDS[self.delimiter]
        return Text(
            f"{self.encoding}, {zh}, {len(self.rows)} 行", f"{self.encoding}, {en}, {_count(len(self.rows), 'row')}"
        )

    @property
    def sample_names(self) -> tuple[str, ...]:
        """Three names that show whether the encoding was understood: Chinese ones first."""
        names = list(dict.fromkeys(row.name for row in self.rows))
        return tuple(sorted(names, key=str.isascii)[:3])

    @property
    def unreadable(self) -> int:
        """How many left-out rows do not even say whom they are about."""
        return sum(problem.student_number is None for problem in self.problems)


DELIMITERS = {",": ("逗号", "comma"), ";": ("分号", "semicolon"), "\t": ("制表符", "tab")}
KINDS = {**DELIMITERS, "xlsx": ("工作簿", "workbook"), "html": ("网页表格", "table of a web page")}
MAX_ROWS = 20_000
LOOK_FOR_HEAD = 12
"""rows in which the names of the columns may stand: registrars put titles above"""
MAX_GRID = MAX_ROWS + LOOK_FOR_HEAD
FIELDS = {
    "student_number": Text("学号", "student number"),
    "name": Text("姓名", "name"),
    "section": Text("班级", "section"),
    "login": Text("登录名", "login"),
    "email": Text("邮箱", "e-mail"),
}


@dataclass(frozen=True, kw_only=True)
class Known:
    """Somebody who is in the cohort now."""

    student_number: str | None
    login: str
    name: str
    section: str
    email: str
    is_active: bool
    is_kept: bool
    """staff, or added by hand: no roster drops or changes them"""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A student who is known, with what differs: field → (old, new)."""

    known: Known
    row: Row
    fields: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Diff:
    """What applying a roster would do; `is_partial`: so many are missing that it may be only a part."""

    added: tuple[Row, ...] = ()
    dropped: tuple[Known, ...] = ()
    returned: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    unchanged: int = 0
    kept: tuple[Known, ...] = ()
    """not in the file, and stays"""
    is_partial: bool = False
    missing_share: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether applying it changes nothing."""
        return not (self.added or self.dropped or self.returned or self.changed)

    @property
    def summary(self) -> Text:
        """One line such as `+10 −15 ↩2 ✎1`."""
        marks = f"+{len(self.added)} −{len(self.dropped)} ↩{len(self.returned)} ✎{len(self.changed)}"
        return Text(f"{marks}，{self.unchanged} 人不变", f"{marks}, {self.unchanged} unchanged")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def too_many_rows() -> BadInput:
    """The refusal of a file that is no list of one class."""
    return BadInput(
        Text(f"名单超过 {MAX_ROWS} 行", f"the roster has more than {MAX_ROWS} rows"),
        Text("只留这个班的行", "keep the rows of this class"),
        reason="too_many_rows",
    )
