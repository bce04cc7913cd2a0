"""Any file of a table → its cells: CSV in any encoding, XLSX, and web pages that call themselves .xls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from qianka.errors import BadInput, Text
from qianka.roster import pages, workbooks
from qianka.roster.decoding import decode
from qianka.roster.delimited import split, told_delimiter
from qianka.roster.model import DELIMITERS

_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


class Grid(NamedTuple):
    """The cells of one table, the first row being row 1."""

    rows: list[list[str]]
    kind: str
    """a delimiter, `xlsx` or `html`"""
    name: str = ""
    """of the sheet, where there are several"""
    is_open: bool = False
    """whether the last row ends inside a quote, with who knows how many rows swallowed"""


class Source(NamedTuple):
    """The tables that a file may hold, and how its letters were read, as shown to people."""

    grids: Iterator[Grid]
    encoding: str


def open_source(data: bytes, encoding: str | None = None) -> Source:
    """The tables of a file, whatever its name says; `encoding` overrides the guess where letters are bytes.

    Raises BadInput for what is no table, naming what it is and what to do.
    """
    if data.startswith(_ZIP):
        return Source((Grid(sheet.rows, "xlsx", sheet.name) for sheet in workbooks.sheets(data)), "XLSX")
    if data.startswith(_OLE):
        raise BadInput(
            Text(
                "这是旧式 .xls 或加了密码的工作簿，读不了",
                "this is a workbook of the old .xls format, or one with a password",
            ),
            Text(
                "在 Excel 里打开，另存为“Excel 工作簿 (.xlsx)”或“CSV UTF-8”，不设密码",
                "open it in Excel and save it as .xlsx or “CSV UTF-8”, without a password",
            ),
            reason="workbook",
        )
    decoded = decode(data, encoding)
    if pages.is_page(decoded.text):
        decoded = pages.as_it_says(data, decoded, encoding)
        return Source(iter([Grid(pages.rows(decoded.text), "html")]), decoded.encoding)
    return Source(_delimited(decoded.text), decoded.encoding)


def first_rows(data: bytes, encoding: str | None = None) -> list[list[str]]:
    """The cells of the first table of a file, for lists that are no roster. Raises BadInput."""
    grids = list(open_source(data, encoding).grids)
    # Of the delimiters that may be meant, the one that divides the head.
    best = max(grids, key=lambda grid: max((len(row) for row in grid.rows[:1]), default=0), default=None)
    if best is None or best.is_open:
        raise BadInput(
            Text("引号没有成对，读不下去", "an unpaired quote: it cannot be read to its end"),
            Text("在表格软件里另存为“CSV UTF-8”再导入", "save it as CSV UTF-8 in the spreadsheet, then import it"),
            reason="csv",
        )
    return best.rows


def _delimited(text: str) -> Iterator[Grid]:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    told = told_delimiter(text)
    if told is not None:
        text = text.split("\n", 1)[-1]
    for delimiter in [told] if told else list(DELIMITERS):
        rows, is_open = split(text, delimiter)
        yield Grid(rows, delimiter, is_open=is_open)
