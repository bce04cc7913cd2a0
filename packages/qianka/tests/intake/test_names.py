"""C06: names decoded entry by entry, the guess shown; and paths that stay inside."""

from __future__ import annotations

import io
import os
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qianka import intake
from qianka.errors import Refused
from qianka.intake import Rules
from qianka.intake.names import clean, decode, twin_key


def test_gbk_names_without_the_flag(pack, make_zip, tmp_path: Path) -> None:
    archive = pack(make_zip([("作业1/训练.py".encode("gbk"), b"x = 1\n"), ("作业1/说明.md".encode("gbk"), b"#")]))
    tree = intake.take(archive, tmp_path / "trees", Rules(required=("训练.py",)))
    assert [file.path for file in tree.files] == sorted(["训练.py", "说明.md"])
    assert any("GB18030" in note.zh and "作业1/训练.py" in note.zh for note in tree.notes)


@pytest.mark.parametrize("raw", ["許功".encode("big5"), "誠\\".encode("gbk")[:-1], b"\x85\x5c", "乗乗".encode("gbk")])
def test_a_backslash_byte_inside_a_character_is_no_separator(pack, make_zip, tmp_path: Path, raw: bytes) -> None:
    tree = intake.take(pack(make_zip([(b"code/" + raw + b".py", b"x")])), tmp_path / "trees")
    assert len(tree.files) == 1
    assert tree.files[0].path == "code/" + unicodedata.normalize("NFC", raw.decode("gb18030")) + ".py"


def test_a_mixed_archive_is_decoded_entry_by_entry(pack, make_zip, tmp_path: Path) -> None:
    entries = [("训练.py".encode(), b"1"), ("预测.py".encode("gbk"), b"2"), (b"README.md", b"3")]
    tree = intake.take(pack(make_zip(entries)), tmp_path / "trees")
    assert {file.path for file in tree.files} == {"训练.py", "预测.py", "README.md"}


def test_a_flag_that_lies_spoils_nothing(pack, make_zip, tmp_path: Path) -> None:
    tree = intake.take(pack(make_zip([("训练.py".encode("gbk"), b"1")], utf8=True)), tmp_path / "trees")
    assert tree.files[0].path == "训练.py"


def test_names_from_pythons_own_zipfile(pack, tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("作业/训练.py", b"1")
        made.writestr("作业/cafe\u0301.md", b"2")
    tree = intake.take(pack(out.getvalue()), tmp_path / "trees")
    assert {file.path for file in tree.files} == {"作业/训练.py", "作业/café.md"}
    assert tree.notes == ()


def test_what_is_neither_is_read_as_cp437() -> None:
    assert decode(b"caf\x82\xff.py").guess == "CP437"
    assert decode(b"caf\x82\xff.py").text == "café\u00a0.py"


RULES = Rules()


@given(st.binary(max_size=300))
def test_any_bytes_become_some_name_or_a_refusal(raw: bytes) -> None:
    try:
        parts = clean(decode(raw).text, RULES)
    except Refused:
        return
    path = os.path.normpath(os.path.join("/tree", *parts)) if parts else "/tree"
    assert path == "/tree" or path.startswith("/tree/")
    assert path.count("/") == 1 + len(parts)
    assert all(unicodedata.is_normalized("NFC", part) for part in parts)
    assert clean("/".join(parts), RULES) == parts


@given(st.lists(st.sampled_from(["a", "B", "/", ".", "..", "\\", ":", "训", "\u0301", " "]), max_size=40))
def test_no_text_leads_outside(pieces: list[str]) -> None:
    try:
        parts = clean("".join(pieces), RULES)
    except Refused:
        return
    assert ".." not in parts
    assert not any("\\" in part or "/" in part for part in parts)


@given(st.text(alphabet="训练预测作业说明测试数据集模型", min_size=1, max_size=20))
def test_chinese_names_survive_either_encoding(name: str) -> None:
    assert decode(name.encode("gb18030")).text in (name, decode(name.encode("gb18030")).text)
    assert decode(name.encode("utf-8")).text == name
    assert twin_key((name,)) == twin_key((unicodedata.normalize("NFD", name),))


_NAMES = st.lists(st.text(alphabet="abcxyz_训练0123456789", min_size=1, max_size=8), min_size=1, max_size=3).map(
    "/".join
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(_NAMES, st.binary(max_size=3000), min_size=1, max_size=8))
def test_our_reader_gives_what_python_packed(files: dict[str, bytes]) -> None:
    names = list(files)
    if any(a != b and b.startswith(a + "/") for a in names for b in names):
        return  # a file that is also a folder is refused, see the hostile ones
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "hw.zip"
        archive.write_bytes(out.getvalue())
        tree = intake.take(archive, Path(folder) / "trees")
        assert {file.path: (tree.folder / file.path).read_bytes() for file in tree.files} == files
        intake.remove(tree.folder)
