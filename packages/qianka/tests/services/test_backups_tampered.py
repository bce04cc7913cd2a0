"""A backup that somebody wrote to harm whoever restores it: refused in words, nothing left behind."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.errors import Refused
from qianka.services import backups
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.opening import open_store
from qianka.store.upgrade import stamp
from qianka.testing import FakeClock
from qianka.testing.handins import HandinScene


@pytest.fixture
def folder(course: HandinScene, tmp_path: Path) -> Path:
    """A sound backup of a class that handed something in."""
    stamp(course.platform.store)
    course.hand_in()
    return backups.create(course.platform, tmp_path / "backups", "0.1.0").folder


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Platform]:
    found = Settings(data_dir=str(tmp_path / "restored"))
    made = Platform(settings=found, store=open_store(found), clock=FakeClock())
    yield made
    made.store.close()


def set_list(folder: Path, text: str) -> None:
    """Another list, with a hash that fits."""
    (folder / "files.jsonl").write_text(text)
    set_manifest(folder, list_sha256=hashlib.sha256(text.encode()).hexdigest())


def set_manifest(folder: Path, **values: Any) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, **values}))


def first(folder: Path, **values: Any) -> str:
    """The list, its first file changed."""
    entries = [json.loads(line) for line in (folder / "files.jsonl").read_text().splitlines()]
    next(entry for entry in entries if entry["sha256"]).update(values)
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def refused(folder: Path, target: Platform) -> None:
    for act in (lambda: backups.verify(folder), lambda: backups.restore(target, folder)):
        with pytest.raises(Refused) as refusal:
            act()
        assert refusal.value.message.zh
        assert refusal.value.hint is not None
    root = target.folders.root
    assert not root.exists() or list(root.iterdir()) == []


@pytest.mark.parametrize(
    "values",
    [
        {"path": 5},
        {"path": ["a"]},
        {"path": "a\ud800"},
        {"path": "x" * 5000},
        {"path": "/".join(["d"] * 3000)},
        {"path": "restoring"},
        {"path": "qianka.db"},
        {"path": "qianka.db-wal"},
        {"path": "run/launcher.sock"},
        {"path": ".qianka.db.restoring"},
        {"mtime": 10**30},
        {"mtime": -(10**30)},
        {"mode": True},
        {"mode": "0777"},
        {"size": -1},
        {"sha256": 7},
    ],
)
def test_a_line_of_the_list_that_could_do_harm(folder: Path, target: Platform, values: dict[str, Any]) -> None:
    set_list(folder, first(folder, **values))
    refused(folder, target)


@pytest.mark.parametrize(
    "line", ["[" * 100_000, "[]", "7", '"x"', "{}", "null", "\x00", '{"path":"a","mode":1,"more":2}']
)
def test_a_line_that_is_none(folder: Path, target: Platform, line: str) -> None:
    set_list(folder, line + "\n")
    refused(folder, target)


def test_a_file_within_a_file_and_one_twice(folder: Path, target: Platform) -> None:
    lines = first(folder)
    entry = next(json.loads(line) for line in lines.splitlines() if json.loads(line)["sha256"])
    for path in (entry["path"], entry["path"] + "/inner", "nowhere/inner"):
        set_list(folder, lines + json.dumps({**entry, "path": path}) + "\n")
        refused(folder, target)


@pytest.mark.parametrize(
    "values",
    [
        {"counts": 5},
        {"counts": {"submission": "many"}},
        {"made_at": "yesterday"},
        {"made_at": 7},
        {"format": True},
        {"format": -1},
        {"bytes": "none"},
        {"database_bytes": -5},
        {"jobs": "yes"},
        {"data_dir": None},
        {"data_dir": ""},
        {"code": "relative"},
    ],
)
def test_a_manifest_with_values_of_a_wrong_kind(folder: Path, target: Platform, values: dict[str, Any]) -> None:
    set_manifest(folder, **values)
    refused(folder, target)


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "nonsense", '{"format": 1}'])
def test_a_manifest_that_is_none(folder: Path, target: Platform, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    refused(folder, target)


def test_an_object_that_is_no_file(folder: Path, target: Platform) -> None:
    """A pipe or a device in its place is neither waited for nor read."""
    entry = next(e for e in map(json.loads, (folder / "files.jsonl").read_text().splitlines()) if e["sha256"])
    path = folder / "objects" / entry["sha256"][:2] / entry["sha256"]
    path.unlink()
    os.mkfifo(path)
    assert backups.verify(folder).problems
    with pytest.raises((Refused, OSError)):
        backups.restore(target, folder)
    assert list(target.folders.root.iterdir()) == []


def test_an_object_longer_than_the_list_says_is_not_written_out(folder: Path, target: Platform) -> None:
    """Else a small list could fill the disk."""
    lines = first(folder, size=1)
    set_list(folder, lines)
    assert backups.verify(folder).problems
    with pytest.raises(Refused, match="damaged"):
        backups.restore(target, folder)
    assert list(target.folders.root.iterdir()) == []


def test_of_a_database_that_is_none(folder: Path, target: Platform) -> None:
    (folder / "database.sqlite").write_bytes(b"not a database" * 1000)
    set_manifest(folder, database_sha256=hashlib.sha256((folder / "database.sqlite").read_bytes()).hexdigest())
    assert backups.verify(folder).problems
    with pytest.raises(Refused, match="damaged"):
        backups.restore(target, folder)
    assert not target.folders.root.exists()
