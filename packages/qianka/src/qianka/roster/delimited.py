"""Delimited text → cells."""

from __future__ import annotations

import csv
import io

from qianka.errors import BadInput, Text
from qianka.roster.model import DELIMITERS, MAX_GRID, too_many_rows

_END = "\x1eend"


def split(text: str, delimiter: str) -> tuple[list[list[str]], bool]:
    """The cells, and whether a quote was still open at the end. Raises BadInput."""
    rows: list[list[str]] = []
    # A quote that is never closed swallows the rest of the file, and with it the mark put at the end here.
    reader = csv.reader(io.StringIO(f"{text}\n{_END}\n", newline=""), delimiter=delimiter)
    try:
        for row in reader:
            rows.append(row)
            if len(rows) > MAX_GRID:
                raise too_many_rows()
    except csv.Error as error:
        raise BadInput(
            Text(f"第 {len(rows) + 1} 行读不了：{error}", f"row {len(rows) + 1} cannot be read: {error}"),
            Text("检查这一行的引号是否成对", "see whether the quotes of that row are paired"),
            reason="bad_row",
        ) from error
    is_open = rows[-1:] != [[_END]]
    return (rows if is_open else rows[:-1]), is_open


def told_delimiter(text: str) -> str | None:
    """Excel's own first line `sep=;`."""
    first = text.split("\n", 1)[0].strip().strip('"').lower()
    if first.startswith("sep=") and len(first) == 5 and first[4] in DELIMITERS:
        return first[4]
    return "\t" if first == "sep=" else None
