"""Taking over an output folder that was filled by an enemy."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from qianka.jobdir import out


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    return source, target


def take(source: Path, target: Path, report: out.Report) -> dict[str, str]:
    flags = os.O_RDONLY | os.O_DIRECTORY
    descriptors = os.open(source, flags), os.open(target, flags)
    out.copy_out(*descriptors, report)
    for descriptor in descriptors:
        os.close(descriptor)
    return {entry["name"]: entry["why"] for entry in report.refused}


def set_traps(folder: Path, secret: Path) -> None:
    os.symlink(secret, folder / "link")
    os.symlink(secret.parent, folder / "linked-folder")
    os.mkfifo(folder / "pipe")
    (folder / "one").write_text("1")
    os.link(folder / "one", folder / "two")
    with socket.socket(socket.AF_UNIX) as sock:
        here = os.getcwd()
        os.chdir(folder)
        sock.bind("socket")
        os.chdir(here)
    (folder / "new\nline").write_text("x")
    (folder / "right\u202eleft").write_text("x")
    with open(os.fsencode(folder) + b"/bad\xff", "w"):
        pass


TRAPS = {
    "link": "link",
    "linked-folder": "link",
    "pipe": "special",
    "one": "hard_link",
    "two": "hard_link",
    "socket": "special",
    "new\\x0aline": "odd_name",
    "right\\u202eleft": "odd_name",
    "bad\\udcff": "odd_name",
}


def test_files_and_folders_are_copied(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "a/b").mkdir(parents=True)
    (source / "a/b/预测 1.csv").write_text("1,2\n")
    (source / "empty").mkdir()
    report = out.Report(1000)
    assert take(source, target, report) == {}
    assert (target / "a/b/预测 1.csv").read_text() == "1,2\n"
    assert (target / "empty").is_dir()
    assert (report.files, report.bytes) == (1, 4)


def test_traps_are_refused_and_named_so_that_they_can_be_shown(folders: tuple[Path, Path], tmp_path: Path) -> None:
    source, target = folders
    set_traps(source, tmp_path / "secret.csv")
    assert take(source, target, out.Report(1000)) == TRAPS
    assert list(target.iterdir()) == []


def test_traps_are_removed_where_they_are(folders: tuple[Path, Path], tmp_path: Path) -> None:
    source, _ = folders
    secret = tmp_path / "secret.csv"
    secret.write_text("answers")
    set_traps(source, secret)
    (source / "good").mkdir()
    (source / "good/file").write_text("1")
    descriptor = os.open(source, os.O_RDONLY | os.O_DIRECTORY)
    report = out.Report(1000)
    out.clean_folder(descriptor, report)
    os.close(descriptor)
    # The second name of a hard-linked file is harmless once the first is gone.
    assert {entry["name"]: entry["why"] for entry in report.refused} == {k: v for k, v in TRAPS.items() if k != "two"}
    assert sorted(path.name for path in source.iterdir()) == ["good", "two"]
    assert secret.read_text() == "answers"


def test_bytes_entries_and_depth_are_bounded(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "a").write_bytes(b"x" * 600)
    (source / "b").write_bytes(b"x" * 600)
    (source / "c").write_bytes(b"x" * 300)
    deep = source / "d"
    for _ in range(40):
        deep = deep / "d"
    deep.mkdir(parents=True)
    refused = take(source, target, out.Report(1000, max_entries=100))
    assert refused.pop("b") == "too_large"
    assert list(refused.values()) == ["too_deep"]
    assert sorted(path.name for path in target.iterdir()) == ["a", "c", "d"]


def test_more_entries_than_admitted_are_counted_not_listed(folders: tuple[Path, Path]) -> None:
    source, target = folders
    for number in range(300):
        (source / f"f{number:03}").touch()
    report = out.Report(1000, max_entries=50)
    take(source, target, report)
    assert report.files == 50
    assert len(report.refused) == out.LISTED
    assert report.as_json()["more_refused"] == 150


def test_a_sparse_file_costs_what_it_claims(folders: tuple[Path, Path]) -> None:
    source, target = folders
    with (source / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert take(source, target, out.Report(1 << 20)) == {"sparse": "too_large"}


def test_what_was_closed_to_us_is_opened(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "closed").mkdir()
    (source / "closed/file").write_text("1")
    (source / "closed/file").chmod(0)
    (source / "closed").chmod(0)
    assert take(source, target, out.Report(1000)) == {}
    assert (target / "closed/file").read_text() == "1"


def test_a_tree_too_deep_for_any_path_is_removed(tmp_path: Path) -> None:
    (tmp_path / "top").mkdir()
    here = os.open(tmp_path / "top", os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        with open("f", "w", opener=lambda name, flags, here=here: os.open(name, flags, 0o600, dir_fd=here)):
            pass
        inner = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = inner
    os.fchmod(here, 0)
    os.close(here)
    parent = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    out.remove(parent, "top")
    out.remove(parent, "top")
    os.close(parent)
    assert list(tmp_path.iterdir()) == []
