"""Whether a backup is what it was when it was made, and whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from qianka.errors import QiankaError, Refused, Text
from qianka.services.backups import check
from qianka.services.backups.manifest import (
    DATABASE,
    FILES,
    Entry,
    Manifest,
    Progress,
    damaged,
    open_plain,
    quiet,
    read_entries,
    read_manifest,
)
from qianka.services.backups.objects import Objects, copy_hashed
from qianka.store import snapshot
from qianka.store.repos import rows


class Verdict(NamedTuple):
    """`problems` empty: it can be restored. `receipts`: how many carry a good signature."""

    manifest: Manifest
    problems: list[Text]
    notes: list[Text]
    receipts: int


def verify(folder: Path, progress: Progress = quiet) -> Verdict:
    """Look at everything: hashes, the database, what it names, signatures. Raises Refused for what is no backup."""
    manifest = read_manifest(folder)
    problems = list(_of_hashes(folder, manifest))
    if problems:
        return Verdict(manifest, problems, [], 0)
    entries = {entry.path: entry for entry in read_entries(folder)}
    problems += _of_objects(folder, entries, progress)
    if why := snapshot.is_sound(folder / DATABASE):
        problems.append(Text(f"数据库损坏：{why}", f"the database is damaged: {why}"))
        return Verdict(manifest, problems, [], 0)
    try:
        return _of_database(folder, manifest, entries, problems)
    except Refused:
        raise
    except QiankaError as error:  # of a newer version, or no database of ours
        problems.append(error.message)
        return Verdict(manifest, problems, [], 0)


def check_list(folder: Path, manifest: Manifest) -> None:
    """Raises Refused when the list of files or the database is not what the manifest says."""
    for problem in _of_hashes(folder, manifest):
        raise damaged(problem.en, "sha256")


def _of_hashes(folder: Path, manifest: Manifest) -> Iterator[Text]:
    for name, sha256 in ((FILES, manifest.list_sha256), (DATABASE, manifest.database_sha256)):
        try:
            with open_plain(folder / name) as file:
                found, _ = copy_hashed(file, None)
        except OSError as error:
            yield Text(f"{name} 读不了：{error.strerror}", f"{name} cannot be read: {error.strerror}")
            continue
        if found != sha256:
            yield Text(f"{name} 被改过", f"{name} was changed")


def _of_objects(folder: Path, entries: dict[str, Entry], progress: Progress) -> Iterator[Text]:
    """Content that is gone or no longer has its hash, with one of the files that need it."""
    objects, done = Objects(folder), 0
    names = {entry.sha256: entry for entry in entries.values() if entry.sha256 is not None}
    sizes: dict[str, set[int]] = {}
    for entry in entries.values():
        sizes.setdefault(entry.sha256 or "", set()).add(entry.size)
    total = sum(entry.size for entry in names.values())
    for sha256, entry in sorted(names.items()):
        try:
            with open_plain(objects.path(sha256)) as file:
                found, size = copy_hashed(file, None)
        except OSError as error:
            yield Text(f"缺少 {entry.path}：{error.strerror}", f"{entry.path} is missing: {error.strerror}")
            continue
        if found != sha256 or sizes[sha256] != {size}:
            yield Text(f"{entry.path} 损坏", f"{entry.path} is damaged")
        done += entry.size
        progress("files", done, total)


def _of_database(folder: Path, manifest: Manifest, entries: dict[str, Entry], problems: list[Text]) -> Verdict:
    with check.current(folder / DATABASE) as store:
        with store.engine.connect().execution_options(**store.reading_options) as connection:
            counts = rows.count(connection)
        for name, count in manifest.counts.items():
            if counts.get(name, 0) != count:
                have = counts.get(name, 0)
                problems.append(Text(f"表 {name} 有 {have} 行，应有 {count}", f"{name} has {have} rows, not {count}"))
        found = check.references(store, entries)
        problems += [Text(f"缺少{text.zh}", f"{text.en} is missing") for text in found.missing]
        public = check.public_key(folder, entries)
        good = 0
        if public is not None:
            good, bad = check.receipts_verified(store, public)
            problems += [
                Text(f"回执 {one} 的签名不符", f"the signature of the receipt {one} does not fit") for one in bad
            ]
    return Verdict(manifest, problems, found.notes, good)
