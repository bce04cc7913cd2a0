"""C08: refused before anything is written outside or beyond the caps, with the rule named, nothing left behind."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from qianka import intake
from qianka.errors import Refused
from qianka.intake import Rules


def everything(folder: Path) -> set[str]:
    return {os.path.relpath(os.path.join(base, name), folder) for base, _, names in os.walk(folder) for name in names}


def test_refused_by_its_rule_and_nothing_is_left(hostile: tuple[Path, str], tmp_path: Path) -> None:
    archive, reason = hostile
    before = everything(tmp_path)
    with pytest.raises(Refused) as refusal:
        intake.take(archive, tmp_path / "trees")
    assert refusal.value.reason == reason, refusal.value
    assert refusal.value.message.zh
    assert refusal.value.hint is not None
    assert everything(tmp_path) == before
    assert list((tmp_path / "trees").iterdir()) == []


def test_a_bomb_costs_neither_memory_nor_disk(bomb: Path, tmp_path: Path) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Refused) as refusal:
        intake.take(bomb, tmp_path / "trees")
    assert refusal.value.reason == "too_big"
    assert list((tmp_path / "trees").iterdir()) == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 64 * 1024


def test_a_bomb_that_claims_to_be_small_stops_at_the_cap(bomb: Path, tmp_path: Path) -> None:
    data = bytearray(bomb.read_bytes())
    at = data.rfind(b"PK\1\2")
    data[at + 24 : at + 28] = (1000).to_bytes(4, "little")
    lying = tmp_path / "lying.zip"
    lying.write_bytes(data)
    with pytest.raises(Refused) as refusal:
        intake.take(lying, tmp_path / "trees")
    assert refusal.value.reason == "damaged"


@pytest.mark.parametrize("claim", [0xFFFF, 3])
def test_two_hundred_thousand_entries_are_refused_before_they_are_read(tmp_path: Path, make_zip, claim: int) -> None:
    archive = tmp_path / "hw.zip"
    archive.write_bytes(make_zip(((b"f%d" % i, b"") for i in range(200_000)), method=0, claim=claim))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Refused) as refusal:
        intake.take(archive, tmp_path / "trees", Rules(max_archive=1 << 30))
    assert refusal.value.reason == "too_many_files"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 32 * 1024


def test_a_directory_that_claims_fewer_entries_is_refused_too(tmp_path: Path, make_zip) -> None:
    archive = tmp_path / "hw.zip"
    archive.write_bytes(make_zip([(b"a.py", b"1"), (b"b.py", b"2")], claim=1))
    with pytest.raises(Refused, match="damaged"):
        intake.take(archive, tmp_path / "trees")


def test_every_cut_of_a_zip_is_a_refusal(pack, fair, tmp_path: Path) -> None:
    whole = pack(fair).read_bytes()
    for length in range(len(whole)):
        cut = pack(whole[:length], "cut.zip")
        with pytest.raises(Refused):
            intake.take(cut, tmp_path / "trees")
    assert list((tmp_path / "trees").iterdir()) == []


@pytest.mark.parametrize("kind", ["symlink", "fifo", "escape"])
def test_a_folder_with_something_else_in_it_is_refused(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "hw"
    folder.mkdir()
    (folder / "train.py").write_text("x")
    if kind == "symlink":
        (folder / "data").symlink_to("/etc/passwd")
    elif kind == "escape":
        (folder / "up").symlink_to("..")
    else:
        os.mkfifo(folder / "pipe")
    with pytest.raises(Refused) as refusal:
        intake.take(folder, tmp_path / "trees")
    assert refusal.value.reason == "not_a_file"


def test_rar_and_7z_are_named_in_chinese(pack, tmp_path: Path) -> None:
    for magic, words in ((b"Rar!\x1a\x07\x00", "这是 RAR 文件"), (b"7z\xbc\xaf\x27\x1c", "这是 7z 文件")):
        with pytest.raises(Refused) as refusal:
            intake.take(pack(magic + bytes(64)), tmp_path / "trees")
        assert words in refusal.value.message.zh
