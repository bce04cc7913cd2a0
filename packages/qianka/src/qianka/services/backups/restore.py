"""A backup back into an empty place, where the platform then goes on."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import qianka
from qianka.domain.jobs import JobState
from qianka.errors import Conflict, Refused, Text
from qianka.services import audit, jobs
from qianka.services.backups.manifest import (
    DATABASE,
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
from qianka.services.backups.verify import check_list
from qianka.services.platform import Caller, Platform
from qianka.store import snapshot
from qianka.store.opening import RESTORING, sqlite_file
from qianka.store.repos import backups as repo
from qianka.store.session import Store
from qianka.store.upgrade import upgrade

SPARE = 64 << 20


class Restored(NamedTuple):
    """What came back; `lost`: jobs that ran when the backup was made, to be run again, charged to nobody."""

    manifest: Manifest
    lost: int
    waiting: int


def restore(platform: Platform, folder: Path, progress: Progress = quiet) -> Restored:
    """Restore into the empty data directory (and empty database, for PostgreSQL) of `platform`.

    The database comes last, so what was interrupted is no platform; begin again with an empty folder.
    Every hash is checked on the way. Raises Refused (damaged, no room), Conflict (not empty), ConfigError.
    """
    manifest = read_manifest(folder)
    root = platform.folders.root
    if root.exists() and any(root.iterdir()):
        raise Conflict(
            Text(f"{root} 不是空的，没有动它", f"{root} is not empty; it was left as it is"),
            Text(
                "把旧的数据目录移走（mv），或另指一个 data.dir",
                "move the old data directory away (mv), or name another data.dir",
            ),
            reason="not_empty",
        )
    check_list(folder, manifest)
    if why := snapshot.is_sound(folder / DATABASE):
        raise damaged(DATABASE, why)
    entries = list(read_entries(folder))
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    root.chmod(0o700)
    _check_room(root, manifest)
    try:
        (root / RESTORING).touch(0o600)
        _files(root, folder, entries, progress)
        platform.folders.make()
        restored = _database(platform, folder, manifest, progress)
        os.sync()  # all of it is on the disk before it may be opened
        (root / RESTORING).unlink()
    except BaseException:
        _empty(root)
        raise
    return restored


def moved(spec: Any, places: Mapping[str, str]) -> Any:
    """A job's text with the paths of the old place as they are in the new one."""
    if isinstance(spec, dict):
        return {key: moved(value, places) for key, value in spec.items()}
    if isinstance(spec, list):
        return [moved(value, places) for value in spec]
    if isinstance(spec, str):
        for old, new in places.items():
            if spec == old or spec.startswith(old + "/"):
                return new + spec[len(old) :]
    return spec


def _files(root: Path, folder: Path, entries: list[Entry], progress: Progress) -> None:
    objects, done = Objects(folder), 0
    total = sum(entry.size for entry in entries)
    for entry in entries:
        target = root / entry.path
        if entry.sha256 is None:
            target.mkdir(mode=0o700)
            continue
        with open_plain(objects.path(entry.sha256)) as source:
            if os.fstat(source.fileno()).st_size != entry.size:  # before the disk is filled with it
                raise damaged(entry.path, "size")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            descriptor = os.open(target, flags, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                found, _ = copy_hashed(source, file)
        if found != entry.sha256:
            raise damaged(entry.path, "sha256")
        os.utime(target, ns=(entry.mtime, entry.mtime))
        target.chmod(entry.mode & 0o777)
        done += entry.size
        progress("files", done, total)
    # From the inside out: a folder that may not be written to must be filled first.
    for entry in reversed(entries):
        if entry.sha256 is None:
            (root / entry.path).chmod(entry.mode & 0o777)


def _database(platform: Platform, folder: Path, manifest: Manifest, progress: Progress) -> Restored:
    file = sqlite_file(platform.folders.root)
    aside = file.with_name(f".{file.name}.restoring")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as target, open_plain(folder / DATABASE) as source:
        copy_hashed(source, target)
    local = replace(platform, store=Store(f"sqlite:///{aside}"))
    try:
        upgrade(local.store)
        restored = _mend(local, manifest)
    finally:
        local.store.close()
    if platform.store.is_sqlite:
        aside.rename(file)
    else:
        snapshot.pour(aside, platform.store, lambda done, total: progress("database", done, total))
        aside.unlink()
    return restored


def _mend(platform: Platform, manifest: Manifest) -> Restored:
    """What was true of the machine then and is not now: who held what, what ran, where things lay."""
    folders = platform.folders
    places = {
        manifest.runtime: str(folders.runtime.absolute()),
        manifest.data_dir: str(folders.root.absolute()),
        manifest.code: str(Path(qianka.__path__[0])),
    }
    lost = 0
    with platform.store.transaction() as session:
        repo.forget_leases(session)
        waiting = repo.open_jobs(session)
        for job in waiting:
            job.spec = moved(job.spec, places)
            if job.state != JobState.PENDING.value:
                jobs.settle(session, platform, job, job.run, None)
                lost += 1
        audit.record(session, platform, Caller.system(), "backup.restore", manifest.made_at, lost=lost)
    return Restored(manifest, lost, len(waiting) - lost)


def _check_room(root: Path, manifest: Manifest) -> None:
    needed = manifest.bytes + 2 * manifest.database_bytes + SPARE
    free = shutil.disk_usage(root).free
    if free < needed:
        raise Refused(
            Text(
                f"{root} 只剩 {free / 1e9:.2f} GB，恢复需要 {needed / 1e9:.2f} GB",
                f"{root} has {free / 1e9:.2f} GB left, {needed / 1e9:.2f} GB are needed",
            ),
            Text("换一个磁盘作 data.dir", "name a data.dir on another disk"),
            reason="no_room",
        )


def _empty(root: Path) -> None:
    """Take back everything: an interrupted restore must not look like a platform."""
    for path, folders, _ in os.walk(root):
        for name in folders:
            with contextlib.suppress(OSError):
                (Path(path) / name).chmod(0o700)
    for child in root.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child, ignore_errors=True)
        else:
            child.unlink(missing_ok=True)
