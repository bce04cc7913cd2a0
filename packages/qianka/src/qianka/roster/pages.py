"""Tables of web pages (and of XML spreadsheets) that registrars export as .xls → cells."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from qianka.roster.decoding import BAD, CHOICES, Decoded, decode
from qianka.roster.model import MAX_GRID, too_many_rows

_START = re.compile(
    r"\s*(<\?xml[^>]{0,200}\?>\s*)?(<\?mso-application[^>]{0,200}\?>\s*)?(<!--|<!doctype html|<html|<head|<meta"
    r"|<body|<style|<table|<div|<workbook)",
    re.IGNORECASE,
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{2,20})", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"\d{1,15}")
_ROW, _CELL, _UNSEEN = {"tr", "row"}, {"td", "th", "cell"}, {"style", "script", "title"}
MAX_SPAN = 200


def is_page(text: str) -> bool:
    """Whether a file that calls itself a spreadsheet is a web page."""
    return _START.match(text.removeprefix("\ufeff")) is not None


def as_it_says(data: bytes, guessed: Decoded, encoding: str | None) -> Decoded:
    """The page decoded as it says itself, where nobody said otherwise and the guess left something unread."""
    told = _CHARSET.search(guessed.text[:4000])
    if encoding is not None or BAD not in guessed.text or told is None or told[1].lower() not in CHOICES:
        return guessed
    return decode(data, told[1])


def rows(text: str) -> list[list[str]]:
    """All rows of all tables of the page, one after the other, as a spreadsheet shows them. Raises BadInput."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_row()
    return reader.rows


class _Reader(HTMLParser):
    """Collects cells; one that spans several columns or rows stands in the first, and below in each row."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._spans = (1, 1)
        self._whole: str | None = None
        self._below: dict[int, tuple[int, str]] = {}
        """column → (rows still to fill, with what)"""
        self._unseen = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen = tag
        elif tag in _ROW:
            self.end_row()
            given = dict(attrs)
            while len(self.rows) + 1 < min(_count(given.get("ss:index"), MAX_GRID), MAX_GRID):
                self.rows.append([])
            self._row = []
        elif tag in _CELL:
            self._end_cell()
            given = dict(attrs)
            self._row = [] if self._row is None else self._row
            self._fill_from_above()
            while len(self._row) + 1 < _count(given.get("ss:index"), MAX_SPAN):
                self._row.append("")
            self._cell = []
            self._spans = (_count(given.get("colspan"), MAX_SPAN), _count(given.get("rowspan"), MAX_GRID))
            # Excel keeps the whole number here when it shows a shortened one.
            whole = (given.get("x:num") or "").strip()
            self._whole = whole if _PLAIN_NUMBER.fullmatch(whole) else None
        elif tag == "br" and self._cell is not None:
            self._cell.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._unseen:
            self._unseen = ""
        elif tag in _CELL:
            self._end_cell()
        elif tag in _ROW or tag == "table":
            self.end_row()
            if tag == "table":
                self._below.clear()

    def handle_data(self, data: str) -> None:
        if self._cell is not None and not self._unseen:
            self._cell.append(data)

    def end_row(self) -> None:
        """Close what is open: pages leave end tags out."""
        self._end_cell()
        if self._row is None:
            return
        self._fill_from_above()
        self.rows.append(self._row)
        self._row = None
        if len(self.rows) > MAX_GRID:
            raise too_many_rows()

    def _end_cell(self) -> None:
        if self._cell is None or self._row is None:
            return
        text = self._whole or "".join(self._cell).strip()
        columns, rows = self._spans
        if rows > 1:
            self._below[len(self._row)] = (rows - 1, text)
        self._row += [text, *[""] * (columns - 1)]
        self._cell = None

    def _fill_from_above(self) -> None:
        if self._row is None:
            return
        while len(self._row) in self._below:
            left, text = self._below.pop(len(self._row))
            if left > 1:
                self._below[len(self._row)] = (left - 1, text)
            self._row.append(text)


def _count(text: str | None, most: int) -> int:
    return max(1, min(int(text), most)) if text and text.strip().isascii() and text.strip().isdigit() else 1
