"""Fair hand-ins: C05 (macOS), formats, shapes, content addressing, and what two of them at once do."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from qianka import intake
from qianka.errors import Refused, Unavailable
from qianka.intake import Rules

RULES = Rules(required=("code/train.py", "code/predict.py", "README.md"))


def zh(tree: intake.Tree) -> str:
    return "\n".join(note.zh for note in tree.notes)


def test_macos_zip_is_taken_and_what_was_ignored_is_told(pack, fair, tmp_path: Path) -> None:
    files = {f"hw1/{path}": data for path, data in fair.items()}
    archive = pack({**files, "__MACOSX/hw1/code/._train.py": b"x", ".DS_Store": b"x", "hw1/.DS_Store": b"x"})
    tree = intake.take(archive, tmp_path / "trees", RULES)
    assert [file.path for file in tree.files] == sorted(fair)
    assert {path.name for path in tree.folder.iterdir()} == {"code", "README.md"}
    assert "去掉了最外层文件夹 hw1/" in zh(tree)
    assert "忽略了 3 个" in zh(tree)
    assert ".DS_Store" in zh(tree)


@pytest.mark.parametrize(
    ("name", "wrap"),
    [("hw.tar", bytes), ("hw.tar.gz", gzip.compress), ("hw.tar.bz2", bz2.compress), ("hw.tar.xz", lzma.compress)],
)
@pytest.mark.parametrize("pax", [True, False])
def test_tars_of_every_packing(pack, fair, make_tar, tmp_path: Path, name: str, wrap, pax: bool) -> None:
    fair["code/" + "很长的名字" * 12 + ".py"] = b"x = 1\n"
    fair["code/big.py"] = os.urandom(300_000)
    tree = intake.take(pack(wrap(make_tar(fair, pax=pax)), name), tmp_path / "trees", RULES)
    assert {path: (tree.folder / path).read_bytes() for path in fair} == fair


def test_folder_zip_and_tar_of_the_same_files_are_one_tree(pack, fair, make_tar, tmp_path: Path) -> None:
    folder = tmp_path / "hw"
    for path, data in fair.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref")
    trees = [
        intake.take(source, tmp_path / "trees", RULES)
        for source in (folder, pack(fair), pack(make_tar(fair), "hw.tar"))
    ]
    assert len({tree.digest for tree in trees}) == 1
    assert [path.name for path in (tmp_path / "trees").iterdir()] == [trees[0].digest]
    assert intake.digest_of(intake.measure(trees[0].folder)) == trees[0].digest


def test_the_tree_is_read_only_and_can_be_removed(pack, fair, tmp_path: Path) -> None:
    tree = intake.take(pack(fair), tmp_path / "trees", RULES)
    assert stat.S_IMODE(tree.folder.stat().st_mode) == 0o555
    assert stat.S_IMODE((tree.folder / "code" / "train.py").stat().st_mode) == 0o444
    intake.remove(tree.folder)
    assert not tree.folder.exists()


def test_hand_ins_at_once_make_one_tree(pack, fair, tmp_path: Path) -> None:
    archive = pack(fair)
    barrier = threading.Barrier(8)
    found: list[intake.Tree] = []

    def hand_in() -> None:
        barrier.wait()
        found.append(intake.take(archive, tmp_path / "trees", RULES))

    threads = [threading.Thread(target=hand_in) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert [path.name for path in (tmp_path / "trees").iterdir()] == [found[0].digest]


def test_two_top_folders_are_refused_naming_both(pack, fair, tmp_path: Path) -> None:
    archive = pack({f"{top}/{path}": data for top in ("hw1", "作业2") for path, data in fair.items()})
    with pytest.raises(Refused) as refusal:
        intake.take(archive, tmp_path / "trees", RULES)
    assert refusal.value.reason == "two_folders"
    assert "hw1/" in refusal.value.message.zh
    assert "作业2/" in refusal.value.message.zh


@pytest.mark.parametrize(
    ("change", "missing", "near"),
    [
        (("README.md", "README.MD"), "README.md", "README.MD"),
        (("README.md", "readme.md.txt"), "README.md", "readme.md.txt"),
        (("README.md", "README"), "README.md", "README"),
        (("README.md", "REDME.md"), "README.md", "REDME.md"),
        (("code/train.py", "Code2/train.py"), "code/train.py", "Code2/train.py"),
    ],
)
def test_near_misses_are_named(pack, fair, tmp_path: Path, change, missing: str, near: str) -> None:
    old, new = change
    fair[new] = fair.pop(old)
    with pytest.raises(Refused) as refusal:
        intake.take(pack(fair), tmp_path / "trees", RULES)
    assert refusal.value.reason == "missing_files"
    assert refusal.value.details["missing"] == [missing]
    assert near in refusal.value.details["near"][missing]
    assert near in refusal.value.message.zh


def test_a_capital_folder_is_named(pack, fair, tmp_path: Path) -> None:
    archive = pack({path.replace("code/", "Code/"): data for path, data in fair.items()})
    with pytest.raises(Refused) as refusal:
        intake.take(archive, tmp_path / "trees", RULES)
    assert "Code/train.py" in refusal.value.message.zh


def test_zip_inside_zip_is_told(pack, fair, tmp_path: Path) -> None:
    inner = pack(fair).read_bytes()
    with pytest.raises(Refused) as refusal:
        intake.take(pack({"hw/hw1.zip": inner}, "outer.zip"), tmp_path / "trees", RULES)
    assert refusal.value.reason == "nested_archive"
    assert "hw1.zip" in refusal.value.message.zh


def test_the_wanted_folder_itself_is_not_taken_off(pack, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refusal:
        intake.take(pack({"code/train.py": b"1", "code/predict.py": b"2"}), tmp_path / "trees", RULES)
    assert refusal.value.details["missing"] == ["README.md"]


def test_required_folders_and_patterns(pack, tmp_path: Path) -> None:
    rules = Rules(required=("code/", "code/*.py"))
    assert intake.take(pack({"hw/code/a.py": b"1"}), tmp_path / "trees", rules).files[0].path == "code/a.py"
    with pytest.raises(Refused):
        intake.take(pack({"code/sub/a.py": b"1"}), tmp_path / "trees", rules)


@pytest.mark.parametrize("data", [b"\x80\x04\x95", b"PK\x03\x04" + bytes(26) + b"archive/data.pkl", b"\x93NUMPY\x01"])
def test_weights_are_known_by_content_and_by_name(pack, fair, tmp_path: Path, data: bytes) -> None:
    rules = Rules(required=RULES.required, weights=False)
    for files in ({**fair, "notes.txt": data}, {**fair, "code/model.pth": b"plain"}):
        with pytest.raises(Refused) as refusal:
            intake.take(pack(files), tmp_path / "trees", rules)
        assert refusal.value.reason == "weights"
    assert intake.take(pack({**fair, "notes.txt": data}), tmp_path / "trees", RULES).files


def test_kinds_and_sizes_of_files(pack, fair, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refusal:
        intake.take(pack({**fair, "a.exe": b"MZ"}), tmp_path / "trees", Rules(allowed=(".py", ".md")))
    assert refusal.value.reason == "not_allowed"
    assert "a.exe" in refusal.value.message.zh
    with pytest.raises(Refused) as refusal:
        intake.take(pack({**fair, "code/table.py": bytes(70_000)}), tmp_path / "trees", Rules(max_source=65_536))
    assert refusal.value.reason == "too_big"
    with pytest.raises(Refused) as refusal:
        intake.take(pack(fair), tmp_path / "trees", Rules(max_files=2))
    assert refusal.value.details["limit"] == 2
    with pytest.raises(Refused) as refusal:
        intake.take(pack(fair), tmp_path / "trees", Rules(max_archive=100))
    assert refusal.value.reason == "too_big"


def test_a_stored_and_a_streamed_zip(pack, fair, tmp_path: Path) -> None:
    path = tmp_path / "streamed.zip"
    with path.open("wb") as file:

        class OneWay:  # a pipe: the packer cannot go back and writes sizes after the data
            def write(self, data: bytes) -> int:
                return file.write(data)

            def flush(self) -> None:
                file.flush()

        with zipfile.ZipFile(OneWay(), "w", zipfile.ZIP_STORED) as made:  # type: ignore[arg-type]
            for name, data in fair.items():
                made.writestr(name, data)
    assert len(intake.take(path, tmp_path / "trees", RULES).files) == len(fair)


def test_a_full_disk_is_the_platforms_fault(pack, fair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_self: object, _source: object, _parts: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["qianka.intake.take"]._Unpacking, "_write", full)
    with pytest.raises(Unavailable) as refusal:
        intake.take(pack(fair), tmp_path / "trees", RULES)
    assert refusal.value.reason == "server_disk_full"
    assert list((tmp_path / "trees").iterdir()) == []


def test_what_a_killed_take_left_is_swept_once_it_is_old(tmp_path: Path) -> None:
    left = tmp_path / ".taking-abc" / "all"
    left.mkdir(parents=True)
    (left / "x").write_text("x")
    made = left.parent.stat().st_mtime
    assert intake.sweep(tmp_path, older_than=3600, now=made + 10) == 0
    assert intake.sweep(tmp_path, older_than=3600, now=made + 3601) == 1
    assert list(tmp_path.iterdir()) == []


def test_paths_with_hostile_names(hostile_path: Path, fair) -> None:
    (hostile_path / "hw").mkdir()
    (hostile_path / "hw" / "train.py").write_text("x")
    tree = intake.take(hostile_path / "hw", hostile_path / "trees")
    assert (tree.folder / "train.py").read_text() == "x"
