"""C09: source that is not UTF-8 is named with its line, its probable encoding, and what to do."""

from __future__ import annotations

from importlib.util import decode_source
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.intake.encoding import check, check_file

SOURCE = "import os\n" * 11 + "# 这一行有中文注释\nprint('训练')\n"


def test_gbk_without_a_declaration_is_named_with_its_line() -> None:
    problem = check_file("train.py", SOURCE.encode("gbk"))
    assert problem is not None
    assert problem.text.zh == "train.py 第 12 行不是 UTF-8（看起来是 GBK）"
    assert problem.line == 12
    assert problem.is_fatal
    assert "iconv -f GB18030 -t UTF-8" in problem.hint.zh


@pytest.mark.parametrize(
    "data",
    [
        SOURCE.encode(),
        b"\xef\xbb\xbf" + SOURCE.encode(),
        b"# -*- coding: gbk -*-\n" + SOURCE.encode("gbk"),
        b"#!/usr/bin/python\n# vim: set fileencoding=gb2312 :\n" + SOURCE.encode("gb2312"),
        b"# coding: latin-1\nx = '\xb1'\n",
        b"\xef\xbb\xbf# -*- coding: utf-8 -*-\nx = 1\n",
        SOURCE.replace("\n", "\r\n").encode(),
        b"",
    ],
)
def test_what_python_reads_is_no_problem(data: bytes) -> None:
    compile(data, "train.py", "exec")
    assert check_file("train.py", data) is None


@pytest.mark.parametrize(
    ("data", "code", "line", "guess"),
    [
        (b"x = 1\n# a \xb1 b\n", "not_utf8", 2, "Latin-1"),
        (b"# caf\xe9 \xe0 la carte\n", "not_utf8", 1, "Latin-1"),
        (b"x = 1\ny = '\0'\n", "nul", 2, None),
        ("x = 1\n".encode("utf-16"), "utf16", 1, "UTF-16"),
        (b"# coding: klingon\nx = 1\n", "bad_cookie", 1, None),
        (b"# coding: rot13\nx = 1\n", "bad_cookie", 1, None),
        (b"# coding: ascii\n" + "# 中文\n".encode(), "not_as_declared", 2, None),
        (b"\xef\xbb\xbf# coding: gbk\nx = 1\n", "not_as_declared", 1, "UTF-8"),
        (b"# coding: utf-8\n" + "# 中文\n".encode("gbk"), "not_utf8", 2, "GBK"),
    ],
)
def test_what_python_does_not_read(data: bytes, code: str, line: int, guess: str | None) -> None:
    with pytest.raises((SyntaxError, ValueError, LookupError)):
        compile(decode_source(data), "train.py", "exec")
    problem = check_file("train.py", data)
    assert problem is not None
    assert (problem.code, problem.line) == (code, line)
    assert problem.is_fatal
    if guess is not None:
        assert problem.guess == guess


def test_a_script_with_windows_line_ends_is_explained() -> None:
    problem = check_file("run.sh", b"#!/bin/sh\r\necho 1\r\n")
    assert problem is not None
    assert not problem.is_fatal
    assert "CRLF" in problem.text.zh
    assert check_file("run.sh", b"#!/bin/sh\necho 1\n") is None
    assert check_file("run.sh", b"\xef\xbb\xbf#!/bin/sh\necho 1\n") is not None


def test_a_readme_in_gbk_is_told_but_not_fatal() -> None:
    problem = check_file("README.md", "# 实验报告说明".encode("gbk"))
    assert problem is not None
    assert problem.guess == "GBK"
    assert not problem.is_fatal


def test_a_tree_is_checked_fatal_ones_first(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "README.md").write_bytes("说明文字".encode("gbk"))
    (tmp_path / "code" / "train.py").write_bytes(SOURCE.encode("gbk"))
    (tmp_path / "code" / "fine.py").write_bytes(SOURCE.encode())
    (tmp_path / "data.bin").write_bytes(bytes(100))
    assert [problem.file for problem in check(tmp_path)] == ["code/train.py", "README.md"]


@given(st.binary(max_size=400))
def test_any_bytes_are_judged_as_python_judges_them(data: bytes) -> None:
    problem = check_file("x.py", data)
    if problem is None:
        assert b"\0" not in data
    elif problem.code == "not_utf8":
        with pytest.raises(UnicodeDecodeError):
            data.decode("utf-8")
