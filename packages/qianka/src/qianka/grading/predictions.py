"""Reads a CSV of predictions at the door: every row as it should be, or what is wrong, with the first offenders."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import eq
from typing import IO, Any

FIRST = 5
QUOTED = 40
"""characters of an offender that are repeated"""
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII).fullmatch
_NUMERIC = re.compile(r"[0-9.eE+-]*", re.ASCII).fullmatch
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})
_MAGIC = (
    (b"\x1f\x8b", "compressed"),
    (b"PK\x03\x04", "compressed"),
    (b"BZh", "compressed"),
    (b"\xfd7zXZ", "compressed"),
    (b"\x28\xb5\x2f\xfd", "compressed"),
    (b"\x93NUMPY", "not_csv"),
    (b"PAR1", "not_csv"),
    (b"\xd0\xcf\x11\xe0", "not_csv"),
    (b"\xef\xbb\xbf", "byte_order_mark"),
    (b"\xff\xfe", "encoding"),
    (b"\xfe\xff", "encoding"),
)
_OTHER_NAMES = {
    **dict.fromkeys((".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz"), "compressed"),
    **dict.fromkeys((".xlsx", ".xls", ".npy", ".npz", ".parquet", ".pkl", ".json", ".ipynb"), "not_csv"),
}


@dataclass(frozen=True)
class Offender:
    """Where a mistake is: the line of the file (1 is the header), the id, what stood there."""

    line: int | None = None
    id: str | None = None
    value: str | None = None


@dataclass
class Problem:
    """One kind of mistake: how often, and the first of them."""

    code: str
    count: int = 0
    first: list[Offender] = field(default_factory=list)


class Problems:
    """All kinds of mistakes in one file, in the order in which they were met."""

    def __init__(self) -> None:
        self.found: dict[str, Problem] = {}

    def add(self, code: str, line: int | None = None, id: str | None = None, value: str | None = None) -> None:
        """Count one offender of kind `code`."""
        problem = self.found.setdefault(code, Problem(code))
        problem.count += 1
        if len(problem.first) < FIRST:
            problem.first.append(Offender(line, _short(id), _short(value)))


class BadPredictions(Exception):
    """The file is not what it should be."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(", ".join(problems.found))
        self.problems = list(problems.found.values())


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What a file of predictions holds: two columns, labels (of these) or numbers (within these bounds)."""

    id: str
    column: str
    labels: frozenset[str] | None
    low: float | None = None
    high: float | None = None


def problem_of_name(filename: str) -> str | None:
    """The code of what a file of that name is instead of a CSV; told before a byte of it is read."""
    name = filename.lower()
    return next((code for suffix, code in _OTHER_NAMES.items() if name.endswith(suffix)), None)


def read(file: IO[bytes], columns: Columns, rows: Mapping[str, int]) -> list[Any]:
    """The predictions (labels as text, else numbers), each at the place that `rows` gives its id.

    The file is read as a stream; whoever calls has limited its size. Raises BadPredictions.
    """
    problems = Problems()
    head = file.read(8)
    code = next((code for magic, code in _MAGIC if head.startswith(magic)), None if head.strip() else _blank(file))
    if code is not None:
        problems.add(code)
        raise BadPredictions(problems)
    file.seek(0)
    with io.TextIOWrapper(file, "utf-8", newline="") as text:
        reader = csv.reader(text, strict=True)
        try:
            header = next(reader, [])
            problem = _header_problem(header, columns, rows)
            if problem is not None:
                problems.add(problem, 1, value=",".join(header))
                raise BadPredictions(problems)
            begun = list(islice(reader, len(rows) + 1))  # never more rows in memory than there are answers
            found = _all_sound(begun, columns, rows)
            if found is None:
                text.seek(0)
                reader = csv.reader(text, strict=True)
                next(reader)
                found = _take_rows(reader, columns, rows, problems)
        except UnicodeDecodeError:
            problems.add("encoding", reader.line_num + 1)
            raise BadPredictions(problems) from None
        except csv.Error:
            problems.add("malformed", reader.line_num)
            raise BadPredictions(problems) from None
    if None in found:
        for id, place in rows.items():
            if found[place] is None:
                problems.add("missing_id", id=id)
    if problems.found:
        raise BadPredictions(problems)
    return found


def _all_sound(begun: list[list[str]], columns: Columns, rows: Mapping[str, int]) -> list[Any] | None:
    """The predictions of a file in which nothing is wrong, looked at column by column; None for any other."""
    if len(begun) != len(rows) or set(map(len, begun)) != {2}:
        return None
    ids, values = zip(*begun, strict=True)
    if rows.keys() != set(ids):
        return None
    found: Sequence[Any] = values
    if columns.labels is not None:
        if not columns.labels.issuperset(values):
            return None
    else:
        if not _NUMERIC("".join(values)):
            return None  # what else Python reads as a number is none here: 1_000, blanks, full-width digits
        try:
            found = list(map(float, values))
        except ValueError:
            return None
        if not all(map(math.isfinite, found)):
            return None
        if (columns.low is not None and min(found) < columns.low) or (
            columns.high is not None and max(found) > columns.high
        ):
            return None
    if all(map(eq, ids, rows)):
        return list(found)
    placed: list[Any] = [None] * len(rows)
    for id, value in zip(ids, found, strict=True):
        placed[rows[id]] = value
    return placed


def _take_rows(reader: Iterable[list[str]], columns: Columns, rows: Mapping[str, int], problems: Problems) -> list[Any]:
    found: list[Any] = [None] * len(rows)
    line_of: Any = reader
    labels, place_of = columns.labels, rows.get
    bounded = columns.low is not None or columns.high is not None
    for row in reader:
        if len(row) != 2:
            if row:
                problems.add("columns_in_row", line_of.line_num, row[0], ",".join(row[1:]))
            continue
        id, value = row
        place = place_of(id)
        if place is None:
            problems.add(_unknown(id, rows), line_of.line_num, id)
        elif found[place] is not None:
            problems.add("duplicate_id", line_of.line_num, id, value)
        elif labels is not None:
            found[place] = value
            if value not in labels:
                problems.add(_not_label(value), line_of.line_num, id, value)
        else:
            number = float(value) if NUMBER(value) else math.nan
            found[place] = number
            if not math.isfinite(number):
                problems.add(_not_number(value), line_of.line_num, id, value)
            elif bounded and not _within(number, columns):
                problems.add("out_of_bounds", line_of.line_num, id, value)
    return found


def _blank(file: IO[bytes]) -> str | None:
    file.seek(0)
    return None if any(line.strip() for line in file) else "empty_file"


def _header_problem(header: list[str], columns: Columns, rows: Mapping[str, int]) -> str | None:
    if header == [columns.id, columns.column]:
        return None
    if len(header) == 2 and header[0] in rows:
        return "no_header"
    if len(header) == 3 and header[1:] == [columns.id, columns.column]:
        return "index_column"
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        return "separator"
    return "columns"


def _unknown(id: str, rows: Mapping[str, int]) -> str:
    if id.endswith(".0") and id[:-2] in rows:
        return "float_id"
    return "blank_in_id" if id.strip() in rows else "unknown_id"


def _not_label(value: str) -> str:
    if not value.strip():
        return "empty_value"
    return "not_finite" if value.strip().lower().lstrip("+-") in _NOT_FINITE else "unknown_label"


def _not_number(value: str) -> str:
    if not value.strip():
        return "empty_value"
    if NUMBER(value) or value.strip().lower().lstrip("+-") in _NOT_FINITE:
        return "not_finite"
    return "decimal_comma" if NUMBER(value.replace(",", ".", 1)) else "not_number"


def _within(number: float, columns: Columns) -> bool:
    return (columns.low is None or number >= columns.low) and (columns.high is None or number <= columns.high)


def _short(text: str | None) -> str | None:
    return None if text is None else text[:QUOTED]
