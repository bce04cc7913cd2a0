"""What a backup says of itself, and the list of its files. Read as if somebody had tampered with it."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from qianka.errors import Refused, Text
from qianka.services.backups.walk import is_left_out

FORMAT = 1
MANIFEST, FILES, DATABASE = "manifest.json", "files.jsonl", "database.sqlite"
_LARGEST = 1 << 20
_LONGEST_PATH = 2048
_LATEST = 1 << 62
_SHA256 = re.compile(r"[0-9a-f]{64}")
Progress = Callable[[str, int, int], None]
"""told (phase, done, total): `database` in pages or rows, `files` in bytes"""


def quiet(phase: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class Manifest:
    """`data_dir`, `runtime` and `code` are where things lay: jobs that wait name them."""

    format: int
    made_at: str
    version: str
    kind: str
    revision: str
    data_dir: str
    runtime: str
    code: str
    counts: dict[str, int]
    files: int
    bytes: int
    jobs: bool
    """whether the output of ended jobs is in it"""
    list_sha256: str
    database_sha256: str
    database_bytes: int

    def write(self, folder: Path) -> None:
        """Put it into `folder`, complete or not at all."""
        aside = folder / f".{MANIFEST}"
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(descriptor)
        aside.rename(folder / MANIFEST)


@dataclass(frozen=True)
class Entry:
    """One file or folder of the data directory; `sha256` None: a folder. `mtime` in nanoseconds."""

    path: str
    mode: int
    size: int = 0
    sha256: str | None = None
    mtime: int = 0

    def line(self) -> str:
        """As it stands in the list. Names that are not text keep their bytes."""
        return json.dumps(asdict(self), separators=(",", ":")) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Raises Refused for a folder that is no complete backup, or one of a newer format."""
    try:
        with open_plain(folder / MANIFEST) as file:
            whole = json.loads(file.read(_LARGEST))
    except FileNotFoundError as error:
        raise _no_backup(folder) from error
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(MANIFEST, str(error)) from error
    if not isinstance(whole, dict) or not _is_count(whole.get("format")):
        raise damaged(MANIFEST, "not a manifest")
    if whole["format"] > FORMAT:
        raise Refused(
            Text("这个备份是更新的版本做的", "this backup was made by a newer version"),
            Text("升级平台后再恢复", "upgrade the platform, then restore"),
            reason="newer",
        )
    try:
        found = Manifest(**{field.name: whole[field.name] for field in fields(Manifest)})
    except KeyError as error:
        raise damaged(MANIFEST, f"no {error.args[0]}") from error
    _check_kinds(found)
    return found


def read_entries(folder: Path) -> Iterator[Entry]:
    """The list, folders before what is in them. Raises Refused for a line that could do harm."""
    folders, known = {""}, set[str]()
    with open_plain(folder / FILES) as file:
        for number, line in enumerate(file, 1):
            try:
                entry = _entry(json.loads(line))
                if entry.path in known or entry.path.rpartition("/")[0] not in folders:
                    raise ValueError(f"{entry.path[:100]!r} is there twice, or within no folder")
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise damaged(FILES, f"line {number}: {error}") from error
            known.add(entry.path)
            if entry.sha256 is None:
                folders.add(entry.path)
            yield entry


def open_plain(path: Path) -> Any:
    """A regular file, opened for reading bytes; a link, pipe or device in its place is an OSError."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return file


def damaged(what: str, why: str) -> Refused:
    """The refusal of a backup of which a part is not what it was."""
    return Refused(
        Text(f"备份损坏：{what}（{why}）", f"the backup is damaged: {what} ({why})"),
        Text("用另一份备份；qianka backup verify 检查", "take another backup; qianka backup verify looks at one"),
        reason="damaged",
    )


def _no_backup(folder: Path) -> Refused:
    inside = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    newest = Text(f"；这里最新的是 {inside[-1]}", f"; the newest in here is {inside[-1]}") if inside else Text("", "")
    return Refused(
        Text(f"{folder} 不是完整的备份", f"{folder} is no complete backup"),
        Text(
            f"要的是 qianka backup create 写出的那个文件夹；名字带 .partial 的没有做完{newest.zh}",
            f"name the folder that qianka backup create wrote; one called .partial was never finished{newest.en}",
        ),
        reason="no_backup",
    )


def _check_kinds(found: Manifest) -> None:
    texts = (found.version, found.kind, found.revision)
    # Where things lay: an empty one would be the beginning of every path.
    places = (found.data_dir, found.runtime, found.code)
    hashes = (found.list_sha256, found.database_sha256)
    good = all(isinstance(one, str) for one in (*texts, *places)) and all(one.startswith("/") for one in places)
    good = good and isinstance(found.counts, dict) and isinstance(found.jobs, bool)
    if not good or not all(map(_is_count, (found.files, found.bytes, found.database_bytes, *found.counts.values()))):
        raise damaged(MANIFEST, "a value of the wrong kind")
    if not all(_SHA256.fullmatch(str(one)) for one in hashes):
        raise damaged(MANIFEST, "a hash")
    try:
        datetime.fromisoformat(found.made_at)
    except (TypeError, ValueError) as error:
        raise damaged(MANIFEST, "made_at") from error


def _entry(raw: dict[str, Any]) -> Entry:
    entry = Entry(**raw)
    if not isinstance(entry.path, str):
        raise TypeError("a path")
    parts = entry.path.split("/")
    names = [os.fsencode(part) for part in parts]
    if "\0" in entry.path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"the path {entry.path[:100]!r}")
    if max(map(len, names)) > 255 or len(os.fsencode(entry.path)) > _LONGEST_PATH:
        raise ValueError(f"a path of {len(entry.path)} characters")
    if is_left_out(parts[0]):
        raise ValueError(f"{parts[0]!r} is in no backup")
    if entry.sha256 is not None and not _SHA256.fullmatch(entry.sha256):
        raise ValueError("a hash")
    if not (_is_count(entry.mode) and _is_count(entry.size) and type(entry.mtime) is int):
        raise TypeError("a number")
    if not -_LATEST < entry.mtime < _LATEST:
        raise ValueError("a time")
    return entry


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0
