"""C01 and C02: rosters as Excel and university systems write them."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka import roster
from qianka.errors import BadInput, TooLarge

PLAIN = "学号,姓名,班级\n2023001,张三,1\n"


def people(data: bytes, encoding: str | None = None) -> list[tuple[str, str, str]]:
    return [(row.student_number, row.name, row.section) for row in roster.read(data, encoding).rows]


def test_excel_csv_utf8() -> None:
    read = roster.read(b"\xef\xbb\xbf" + PLAIN.encode())
    assert read.summary.zh == "UTF-8 (BOM), 逗号, 1 行"
    assert read.rows == roster.read(PLAIN.encode()).rows
    assert read.columns == (("学号", "student_number"), ("姓名", "name"), ("班级", "section"))


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN + "\n\n",
        PLAIN + " , ,\r\n",
        PLAIN.replace("张三", '"张\n三"'),
        PLAIN.replace("张三", '" 张三 "'),
        PLAIN.rstrip("\n"),
        "sep=;\n" + PLAIN.replace(",", ";"),
        "2026 秋 人工智能 选课名单,,\n,,\n" + PLAIN,
        PLAIN.replace("2023001", "２０２３００１"),
        PLAIN.replace("2023001", '"=""2023001"""'),
        PLAIN.replace("2023001", "'2023001"),
        PLAIN.replace("2023001", "\t2023001 "),
        "Student ID,Name,Section\n2023001,张三,1\n",
        "序号,姓 名,学 号,班级名称,备注\n1,张三,2023001,1,\n",
        "学号*,学生姓名(必填),行政班级\n2023001,张三,1\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_way_to_write_the_same_row(text: str, encoding: str) -> None:
    assert people(text.encode(encoding)) == [("2023001", "张三", "1")]


@pytest.mark.parametrize(("encoding", "shown"), [("gb18030", "GB18030"), ("utf-16", "UTF-16"), ("utf-8", "UTF-8")])
def test_rare_characters_and_the_encoding_are_shown(encoding: str, shown: str) -> None:
    text = "学号,姓名,班级\n1,㼆明,1\n2,𠮷野,1\n3,John Smith,1\n4,王五,1\n"
    read = roster.read(text.encode(encoding))
    assert read.encoding == shown
    assert read.sample_names == ("㼆明", "𠮷野", "王五")


def test_one_stray_byte_on_row_57_leaves_the_others() -> None:
    lines = ["学号,姓名,班级", *(f"2023{i:03d},学生{i},一班" for i in range(2, 101))]
    data = "\n".join(lines).encode().split(b"\n")
    data[56] = data[56].replace("一班".encode(), b"\xff\xe7\x8f\xad")
    read = roster.read(b"\n".join(data))
    assert [problem.text.zh for problem in read.problems] == ["第 57 行第 3 列无法解码"]
    assert read.problems[0].student_number == "2023057"
    assert read.unreadable == 0
    assert len(read.rows) == 98
    assert read.encoding == "UTF-8"


def test_a_stray_byte_in_gb18030() -> None:
    lines = ["学号,姓名,班级", *(f"2023{i:03d},学生{i},一班" for i in range(2, 101))]
    data = "\n".join(lines).encode("gb18030").replace("学生57,".encode("gb18030"), b"\xff57,")
    read = roster.read(data)
    assert (read.encoding, len(read.rows), read.problems[0].line) == ("GB18030", 98, 57)
    assert (read.problems[0].column, read.problems[0].code) == (2, "undecodable")


def test_the_encoding_can_be_overridden() -> None:
    data = "學號,姓名,班級\nB10901001,陳功,甲\n".encode("big5")
    read = roster.read("学号,姓名\nB10901001,陳功\n".encode("gb18030"), "gbk")
    assert read.rows[0].name == "陳功"
    with pytest.raises(BadInput):
        roster.read(data)
    assert roster.read(b"id,name\n1," + "陳功".encode("big5") + b"\n", "big5").rows[0].name == "陳功"
    with pytest.raises(BadInput) as refusal:
        roster.read(data, "klingon")
    assert refusal.value.reason == "bad_encoding"


@pytest.mark.parametrize(
    ("cell", "code", "words"),
    [
        ("2.02E+09", "scientific", "文本"),
        ("2.02301E+11", "scientific", "科学计数法"),
        ("2023001.0", "decimal", "文本"),
        ("", "no_number", "没有学号"),
        ("2023 001;drop", "bad_number", "学号"),
        ("1" * 40, "bad_number", "32"),
    ],
)
def test_student_numbers_that_cannot_be_right(cell: str, code: str, words: str) -> None:
    read = roster.read(f"学号,姓名,班级\n{cell},张三,1\n2023002,李四,1\n".encode())
    assert [(problem.line, problem.column, problem.code) for problem in read.problems] == [(2, 1, code)]
    assert words in read.problems[0].text.zh
    assert [row.student_number for row in read.rows] == ["2023002"]


def test_student_numbers_stay_text() -> None:
    assert [n for n, _, _ in people("学号,姓名\n007,詹姆\n000123456789012345678,王五\nA-12_x,赵六\n".encode())] == [
        "007",
        "000123456789012345678",
        "A-12_x",
    ]


def test_duplicates_are_named() -> None:
    read = roster.read("学号,姓名\n1,甲\n2,乙\n1,甲\n2,丙\n3,丁\n".encode())
    assert [(row.student_number, row.name) for row in read.rows] == [("1", "甲"), ("3", "丁")]
    assert [(problem.line, problem.code) for problem in read.problems] == [
        (4, "duplicate_number"),
        (5, "duplicate_number"),
    ]
    assert "第 3 行" in read.problems[1].text.zh
    read = roster.read("学号,姓名,登录名\n1,甲,same\n2,乙,SAME\n".encode())
    assert [row.student_number for row in read.rows] == ["1"]
    assert read.problems[0].code == "duplicate_login"


@pytest.mark.parametrize("name", ["锟斤拷", "\u202e\u200b", ""])
def test_names_that_cannot_be_right(name: str) -> None:
    read = roster.read(f"学号,姓名\n1,{name}\n2,李四\n".encode())
    assert [problem.column for problem in read.problems] == [2]
    assert len(read.rows) == 1


def test_an_unpaired_quote_never_hides_rows_silently() -> None:
    read = roster.read('学号,姓名\n1,甲\n2,"乙\n3,丙\n4,丁\n'.encode())
    assert [row.student_number for row in read.rows] == ["1"]
    assert read.problems[0].code == "open_quote"
    assert read.unreadable == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf\r\n", "empty"),
        ("学号,姓名\n".encode(), "empty"),
        (b"PK\x03\x04" + bytes(50), "workbook"),
        (b"\xd0\xcf\x11\xe0" + bytes(50), "workbook"),
        (b"<html><table><tr><td>1", "no_head"),
        (b"<html><p>please sign in", "empty"),
        ("学号，姓名，班级\n1，张三，1\n".encode(), "full_width_comma"),
        ("2023001,张三,1\n".encode(), "no_head"),
        ("学号,电话\n1,2\n".encode(), "no_head"),
    ],
)
def test_files_that_are_no_roster(data: bytes, reason: str) -> None:
    with pytest.raises(BadInput) as refusal:
        roster.read(data)
    assert refusal.value.reason == reason
    assert refusal.value.message.zh


def test_huge_files_are_refused() -> None:
    with pytest.raises(TooLarge):
        roster.read(b"x" * (6 << 20))
    with pytest.raises(BadInput) as refusal:
        roster.read("学号,姓名\n".encode() + b"".join(b"%d,a\n" % i for i in range(25_000)))
    assert refusal.value.reason == "too_many_rows"


@given(st.binary(max_size=600))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for start in (b"", "学号,姓名\n".encode(), "学号,姓名\n".encode("gbk")):
        try:
            read = roster.read(start + data)
        except BadInput:
            continue
        assert all(row.student_number and row.name for row in read.rows)


_NAME = st.text(alphabet="张王李赵㼆𠮷欧阳娜·ABCdef", min_size=1, max_size=8).filter(lambda name: name.strip() == name)
_NUMBER = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,15}", fullmatch=True).filter(
    lambda number: "e" not in number.lower()
)


@given(
    st.dictionaries(_NUMBER, _NAME, min_size=1, max_size=12),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_was_written_is_read(names: dict[str, str], encoding: str, delimiter: str, end: str) -> None:
    if len({number.lower() for number in names}) < len(names):
        return
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(["学号", "姓名"])
    writer.writerows(names.items())
    read = roster.read(out.getvalue().encode(encoding))
    assert {row.student_number: row.name for row in read.rows} == names
    assert not read.problems
