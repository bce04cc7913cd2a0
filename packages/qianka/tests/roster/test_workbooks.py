"""Rosters as workbooks (.xlsx) and as web pages that registrars call .xls."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from qianka import roster
from qianka.errors import BadInput, TooLarge

ROWS: list[list[Any]] = [["学号", "姓名", "班级"], ["2023001", "张三", "1"], ["2023002", "𠮷野", "1"]]


def book(rows: list[list[Any]] = ROWS, *, sheet: str = "名单", formats: dict[str, str] | None = None) -> bytes:
    made = Workbook()
    table = made.active
    assert table is not None
    table.title = sheet
    for row in rows:
        table.append(row)
    for place, shown_as in (formats or {}).items():
        table[place].number_format = shown_as
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def changed(data: bytes, part: str, change: Any) -> bytes:
    """The workbook with one part of it replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry)
            new.writestr(entry.filename, change(content) if entry.filename == part else content)
    return out.getvalue()


def people(data: bytes) -> list[tuple[str, str]]:
    return [(row.student_number, row.name) for row in roster.read(data).rows]


def test_a_workbook_is_read_like_the_same_csv() -> None:
    read = roster.read(book())
    assert read.rows == roster.read("\n".join(",".join(row) for row in ROWS).encode()).rows
    assert read.summary.zh == "XLSX, 工作簿, 2 行"
    assert read.columns == (("学号", "student_number"), ("姓名", "name"), ("班级", "section"))
    assert "名单" in read.notes[0].zh


def test_numbers_of_a_workbook_stay_what_people_see() -> None:
    rows = [*ROWS[:1], [2023001, "甲"], [7, "乙"], [2023003.0, "丙"], [True, "丁"], ["=1+1", "戊"]]
    read = roster.read(book(rows, formats={"A3": "0000000"}))
    assert [row.student_number for row in read.rows] == ["2023001", "0000007", "2023003", "TRUE"]
    assert [problem.code for problem in read.problems] == ["no_number"]  # a formula that nobody calculated


@pytest.mark.parametrize(("value", "code"), [(202300112345678901, "scientific"), (2023.5, "decimal")])
def test_a_number_that_excel_has_cut_is_refused(value: float, code: str) -> None:
    read = roster.read(book([*ROWS, [value, "王五", "1"]]))
    assert [(problem.line, problem.code) for problem in read.problems] == [(4, code)]
    assert len(read.rows) == 2


def test_titles_above_and_hidden_sheets_are_passed_over() -> None:
    made = Workbook()
    hidden = made.active
    assert hidden is not None
    hidden.append(["学号", "姓名"])
    hidden.append(["1", "旧名单"])
    hidden.sheet_state = "hidden"
    notes = made.create_sheet("说明")
    notes.append(["请勿修改本表"])
    table = made.create_sheet("选课")
    for row in [["XX大学 2026 秋 选课学生名单"], [], ["课程：人工智能", "教师：李老师"], *ROWS]:
        table.append(row)
    out = io.BytesIO()
    made.save(out)
    read = roster.read(out.getvalue())
    assert [row.line for row in read.rows] == [5, 6]
    assert "选课" in read.notes[0].zh


def test_a_sheet_that_lies_about_its_size_costs_nothing() -> None:
    liar = changed(
        book(),
        "xl/worksheets/sheet1.xml",
        lambda xml: xml.replace(b'ref="A1:C3"', b'ref="A1:XFD1048576"').replace(
            b"</sheetData>", b'<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c></row></sheetData>'
        ),
    )
    assert people(liar) == [("2023001", "张三"), ("2023002", "𠮷野")]


def test_bombs_are_refused_before_they_are_unpacked() -> None:
    large = changed(book(), "xl/worksheets/sheet1.xml", lambda xml: xml + b" " * (70 << 20))
    with pytest.raises(TooLarge):
        roster.read(large)
    entities = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    growing = changed(book(), "xl/worksheets/sheet1.xml", lambda xml: entities + xml.replace("张三".encode(), b"&b;"))
    with pytest.raises(BadInput) as refusal:
        roster.read(growing)
    assert refusal.value.reason == "workbook"


def test_texts_that_excel_keeps_in_a_part_of_their_own() -> None:
    strings = ["学号", "姓名", "2023001", "张三"]
    cells = "".join(f'<c r="{place}" t="s"><v>{at}</v></c>' for at, place in enumerate(["A1", "B1"]))
    below = "".join(f'<c r="{place}" t="s"><v>{at}</v></c>' for at, place in enumerate(["A2", "B2"], 2))
    data = changed(
        book(),
        "xl/worksheets/sheet1.xml",
        lambda xml: (
            xml[: xml.index(b"<sheetData>")]
            + f'<sheetData><row r="1">{cells}</row><row r="2">{below}</row></sheetData></worksheet>'.encode()
        ),
    )
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    named = b'<Override PartName="/xl/sharedStrings.xml" ContentType="' + kind + b'"/></Types>'
    data = changed(data, "[Content_Types].xml", lambda xml: xml.replace(b"</Types>", named))
    with io.BytesIO(data) as out, zipfile.ZipFile(out, "a") as archive:
        parts = "".join(f"<si><t>{text}</t></si>" for text in strings)
        space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{space}">{parts}</sst>')
        archive.close()
        assert people(out.getvalue()) == [("2023001", "张三")]


def archive(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name in names:
            made.writestr(name, "x")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (archive("homework.py"), "压缩包"),
        (archive("mimetype", "content.xml"), ".ods"),
        (archive("xl/workbook.xml"), "读不了"),
        (b"PK\x03\x04" + bytes(50), "读不了"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "旧式 .xls"),
    ],
)
def test_what_is_no_workbook_is_named(data: bytes, words: str) -> None:
    with pytest.raises(BadInput) as refusal:
        roster.read(data)
    assert words in refusal.value.message.zh
    assert refusal.value.hint is not None


@pytest.mark.filterwarnings("ignore::UserWarning")  # openpyxl warns of what it leaves out
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=40))
def test_a_damaged_workbook_is_read_or_refused(place: int, junk: bytes) -> None:
    def damage(xml: bytes) -> bytes:
        at = place % len(xml)
        return xml[:at] + junk + xml[at + len(junk) :]

    for part in ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "[Content_Types].xml", "xl/styles.xml"):
        try:
            roster.read(changed(book(), part, damage))
        except (BadInput, TooLarge):
            continue


PAGE = """<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head>
<meta http-equiv="Content-Type" content="text/html; charset={charset}">
<style>td {{mso-number-format:"\\@"}}</style></head>
<body><table border=1><tr><td colspan=4 align=center>XX大学 2026 秋 选课名单</td></tr>
<tr><th>序号<th>班 级<th>学 号<th>姓&nbsp;名</tr>
<tr><td>1</td><td rowspan=2>计科1班</td><td>2023001</td><td>张三</td></tr>
<tr><td>2</td><td x:num="2023002">2.02E+06</td><td>欧阳<br>娜娜</td></tr>
<tr><td>3<td>计科2班<td>2023003<td>𠮷 &amp; 㼆
</table></body></html>"""


@pytest.mark.parametrize(
    ("encoding", "charset", "shown"),
    [("gb18030", "gb2312", "GB18030"), ("utf-8", "utf-8", "UTF-8"), ("utf-8-sig", "utf-8", "UTF-8 (BOM)")],
)
def test_a_page_that_calls_itself_xls(encoding: str, charset: str, shown: str) -> None:
    read = roster.read(PAGE.format(charset=charset).encode(encoding))
    assert [(row.line, row.student_number, row.name, row.section) for row in read.rows] == [
        (3, "2023001", "张三", "计科1班"),
        (4, "2023002", "欧阳娜娜", "计科1班"),
        (5, "2023003", "𠮷 & 㼆", "计科2班"),
    ]
    assert read.summary.zh == f"{shown}, 网页表格, 3 行"
    assert ("序号", None) in read.columns


def test_an_xml_spreadsheet() -> None:
    text = """<?xml version="1.0" encoding="UTF-8"?><?mso-application progid="Excel.Sheet"?>
    <Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"
    xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
    <Worksheet ss:Name="名单"><Table><Row><Cell><Data ss:Type="String">学号</Data></Cell>
    <Cell ss:Index="3"><Data ss:Type="String">姓名</Data></Cell></Row>
    <Row ss:Index="4"><Cell><Data ss:Type="String">007</Data></Cell>
    <Cell ss:Index="3"><Data ss:Type="String">詹姆</Data>
    </Cell></Row></Table></Worksheet></Workbook>"""
    read = roster.read(text.encode())
    assert [(row.line, row.student_number, row.name) for row in read.rows] == [(4, "007", "詹姆")]


def test_a_page_with_scientific_notation_is_no_guess() -> None:
    read = roster.read("<table><tr><td>学号<td>姓名<tr><td>2.02E+09<td>张三<tr><td>1<td>李四</table>".encode())
    assert [problem.code for problem in read.problems] == ["scientific"]
    assert [row.name for row in read.rows] == ["李四"]


@pytest.mark.parametrize("kind", ["csv", "xlsx", "html", "gbk"])
def test_lists_that_are_no_roster_are_read_in_the_same_ways(kind: str) -> None:
    rows: list[list[Any]] = [["小组", "学号"], ["甲", "1"]]
    text = "小组;学号\n甲;1\n"
    data = {
        "csv": text.encode("utf-8-sig"),
        "gbk": text.encode("gbk"),
        "xlsx": book(rows),
        "html": "<table><tr><td>小组<td>学号<tr><td>甲<td>1</table>".encode(),
    }[kind]
    assert [row for row in roster.first_rows(data) if any(row)] == rows
