"""XLSX → cells as text, bounded before anything is unpacked."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any, NamedTuple

from qianka.errors import BadInput, Text, TooLarge
from qianka.roster.model import MAX_GRID, too_many_rows

MAX_UNPACKED = 60 << 20
"""bytes of all parts together; a class of 20 000 rows has some 10 MB"""
MAX_PARTS = 500
MAX_COLUMNS = 60
MAX_SHEETS = 8
_LOST = 10**15
"""a number from here on has lost digits: a spreadsheet keeps fifteen"""
_ZEROS = re.compile(r"0{2,32}")

# What openpyxl lets through when a part of the file is not what it should be.
_BROKEN = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    SyntaxError,
    AssertionError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


class Sheet(NamedTuple):
    """One sheet; rows as a spreadsheet counts them, from the first."""

    name: str
    rows: list[list[str]]


def sheets(data: bytes) -> Iterator[Sheet]:
    """The sheets that a workbook shows, one after the other.

    Raises BadInput for a damaged file or one of another kind, TooLarge for one that unpacks to too much.
    """
    # defusedxml must be there before openpyxl looks for it: without, an entity may grow without end.
    import defusedxml  # noqa: F401
    from openpyxl import load_workbook

    _check_parts(data)
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        try:
            shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            for sheet in shown[:MAX_SHEETS]:
                yield Sheet(str(sheet.title), _rows(sheet))
        finally:
            book.close()
    except _BROKEN as error:
        raise _broken() from error


def _rows(sheet: Any) -> list[list[str]]:
    # The file says how large it is; what it says may be wrong, and a million empty rows are none.
    sheet.reset_dimensions()
    rows: list[list[str]] = []
    filled = 0
    for cells in sheet.iter_rows(max_row=MAX_GRID + 1, max_col=MAX_COLUMNS):
        row = [_text(cell) for cell in cells]
        while row and not row[-1]:
            row.pop()
        rows.append(row)
        if row:
            filled = len(rows)
    if filled > MAX_GRID:
        raise too_many_rows()
    return rows[:filled]


def _text(cell: Any) -> str:
    """What stands in a cell; a number keeps its zeros and never becomes one that it was not."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value, str(cell.number_format or ""))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _number(value: float, shown_as: str) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return ""
    if abs(value) >= _LOST:
        return f"{value:.5E}"  # as a spreadsheet shows it; a student number of this kind is refused as lost
    if value != int(value):
        return repr(value)
    text = str(int(value))
    return text.zfill(len(shown_as)) if _ZEROS.fullmatch(shown_as) else text


def _check_parts(data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise _broken() from error
    names = {part.filename for part in parts}
    if "xl/workbook.xml" not in names and not any(name.endswith("workbook.xml") for name in names):
        is_document = "content.xml" in names
        raise BadInput(
            Text(
                "这是 OpenDocument 表格（.ods）" if is_document else "这是压缩包，不是 Excel 工作簿",
                "this is an OpenDocument table (.ods)" if is_document else "this is an archive, no Excel workbook",
            ),
            Text("另存为 .xlsx 或“CSV UTF-8”再导入", "save it as .xlsx or “CSV UTF-8”, then import it"),
            reason="workbook",
        )
    # zipfile gives no more bytes of a part than its entry declares, so the sum is a bound.
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise TooLarge(
            Text(
                f"工作簿解压后超过 {MAX_UNPACKED >> 20} MB 或部件太多",
                f"the workbook unpacks to more than {MAX_UNPACKED >> 20} MB, or has too many parts",
            ),
            Text("只留学号、姓名、班级几列，另存一份", "keep the columns for number, name and section in a new file"),
            reason="workbook_too_large",
        )


def _broken() -> BadInput:
    return BadInput(
        Text("这个工作簿读不了，文件可能已损坏", "this workbook cannot be read; the file may be damaged"),
        Text(
            "在 Excel 里打开并另存为 .xlsx 或“CSV UTF-8”",
            "open it in Excel and save it as .xlsx or “CSV UTF-8”",
        ),
        reason="workbook",
    )
