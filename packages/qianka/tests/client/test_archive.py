"""A folder as a zip: the same files are the same bytes, litter and what .gitignore names stay at home."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from qianka.client import archive
from qianka.errors import BadInput, NotFound, TooLarge


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, "utf-8")


def test_the_same_files_are_the_same_bytes(tmp_path: Path) -> None:
    make(tmp_path / "a", "code/b.py", "code/a.py", "README.md")
    make(tmp_path / "b", "README.md", "code/a.py", "code/b.py")
    os.utime(tmp_path / "b" / "README.md", (1, 1))
    (tmp_path / "b" / "README.md").chmod(0o600)
    names = [archive.pack(tmp_path / one, tmp_path / f"{one}.zip") for one in "ab"]
    assert names[0] == names[1] == ["README.md", "code/a.py", "code/b.py"]
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_litter_stays_at_home(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    litter = [
        ".git/config", ".venv/bin/python", "__pycache__/a.pyc", "code/__pycache__/b.pyc", ".DS_Store", "a.pyc",
        ".ipynb_checkpoints/x.py", "__MACOSX/._a", "lab1-s-1.receipt.json", ".mypy_cache/x", ".gitignore",
    ]  # fmt: skip
    make(folder, "code/train.py", ".flake8", *litter)
    assert archive.pack(folder, tmp_path / "a.zip") == [".flake8", "code/train.py"]


def test_gitignore_is_heeded(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    make(folder, "code/train.py", "data/big.bin", "model.pt", "keep.pt", "notes/x.log", "code/x.log")
    (folder / ".gitignore").write_text("# big\ndata/\n*.pt\n!keep.pt\n/notes/*.log\n", "utf-8")
    assert archive.pack(folder, tmp_path / "a.zip") == ["code/train.py", "code/x.log", "keep.pt"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    make(folder, "a.py")
    make(tmp_path, "secret/key")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "key").symlink_to(tmp_path / "secret" / "key")
    assert archive.pack(folder, tmp_path / "a.zip") == ["a.py"]


def test_names_of_all_kinds_survive(hostile_path: Path, tmp_path: Path) -> None:
    make(hostile_path, "code/训练.py")
    archive.pack(hostile_path, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as packed:
        assert packed.namelist() == ["code/训练.py"]


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput):
        archive.pack(tmp_path / "empty", tmp_path / "a.zip")
    with pytest.raises(NotFound):
        archive.pack(tmp_path / "missing", tmp_path / "a.zip")
    make(tmp_path / "big", "a.py")
    with pytest.raises(TooLarge):
        archive.pack(tmp_path / "big", tmp_path / "a.zip", limit=3)
