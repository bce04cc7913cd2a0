"""Making a backup while the platform goes on working."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timezone
from pathlib import Path
from typing import NamedTuple

import qianka
from qianka.errors import Conflict, PlatformFault, Refused, Text
from qianka.services import audit
from qianka.services.backups import check, walk
from qianka.services.backups.manifest import (
    DATABASE,
    FILES,
    FORMAT,
    Entry,
    Manifest,
    Progress,
    open_plain,
    quiet,
    read_entries,
    read_manifest,
)
from qianka.services.backups.objects import Objects, copy_hashed
from qianka.services.leases import SECONDS, Lease
from qianka.services.platform import Caller, Platform
from qianka.store import snapshot
from qianka.store.repos import backups as repo
from qianka.store.repos import rows

LEASE = "backup"
SPARE = 64 << 20
"""bytes that must stay free beside the backup"""
_PREFIX = "qianka-"


class Made(NamedTuple):
    """A finished backup; `linked` bytes are shared with the one before."""

    folder: Path
    manifest: Manifest
    linked: int
    notes: list[Text]


@dataclass
class _Tally:
    files: int = 0
    bytes: int = 0
    linked: int = 0


def create(platform: Platform, into: Path, version: str, *, with_jobs: bool = True, progress: Progress = quiet) -> Made:
    """Write a new folder below `into`, named by the instant; nothing is ever overwritten.

    Content that the newest backup there has already is linked, not copied. `with_jobs`: also what ended
    jobs left. Raises Conflict (another backup is being made, or the place is within the data directory),
    Refused (not enough room), PlatformFault when the data directory lacks what the database names.
    """
    root = platform.folders.root
    into = into.absolute()
    if into.resolve().is_relative_to(root.resolve()):
        raise Conflict(
            Text("备份不能放在数据目录里", "a backup must not lie within the data directory"),
            Text("换一个目录，最好在另一块磁盘上", "name another place, best on another disk"),
            reason="inside",
        )
    into.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _held(platform):
        earlier = newest(into)
        _check_room(platform, into, earlier, with_jobs=with_jobs)
        stamp = platform.now().astimezone(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        partial = into / f"{_PREFIX}{stamp}.partial"
        partial.mkdir(mode=0o700)
        try:
            made = _fill(platform, partial, earlier, version, with_jobs=with_jobs, progress=progress)
            done = into / f"{_PREFIX}{stamp}"
            partial.rename(done)
            _sync(into)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    with platform.store.transaction() as session:
        audit.record(session, platform, Caller.system(), "backup.create", done.name, files=made.manifest.files)
    return made._replace(folder=done)


def newest(into: Path) -> Path | None:
    """The newest complete backup below a folder."""
    for name in sorted(os.listdir(into), reverse=True):
        if name.startswith(_PREFIX) and not name.endswith(".partial"):
            with contextlib.suppress(Refused):
                read_manifest(into / name)
                return into / name
    return None


def _fill(
    platform: Platform, folder: Path, earlier: Path | None, version: str, *, with_jobs: bool, progress: Progress
) -> Made:
    """Snapshot first, files after: see the package."""
    file = folder / DATABASE
    revision = snapshot.take(platform.store, file, lambda done, total: progress("database", done, total))
    with open_plain(file) as taken:
        database_sha256, database_bytes = copy_hashed(taken, None)
    with check.current(file) as snapped:
        with snapped.engine.connect().execution_options(**snapped.reading_options) as connection:
            counts = rows.count(connection)
        with snapped.reading() as session:
            ended = repo.ended_jobs(session) if with_jobs else set()
        tally, digest = _copy(platform.folders.root, folder, earlier, ended, progress)
        problems = check.references(snapped, {entry.path: entry for entry in read_entries(folder)})
    if problems.missing:
        raise _incomplete(problems.missing)
    manifest = Manifest(
        format=FORMAT,
        made_at=platform.now().astimezone(timezone.utc).isoformat(),
        version=version,
        kind="sqlite" if platform.store.is_sqlite else "postgresql",
        revision=revision,
        data_dir=str(platform.folders.root.absolute()),
        runtime=str(platform.folders.runtime.absolute()),
        code=str(Path(qianka.__path__[0])),
        counts=counts,
        files=tally.files,
        bytes=tally.bytes,
        jobs=with_jobs,
        list_sha256=digest,
        database_sha256=database_sha256,
        database_bytes=database_bytes,
    )
    os.sync()  # everything is on the disk before the manifest calls it a backup
    manifest.write(folder)
    return Made(folder, manifest, tally.linked, problems.notes)


def _incomplete(missing: list[Text]) -> PlatformFault:
    return PlatformFault(
        Text(
            f"数据目录缺少数据库提到的 {len(missing)} 处文件，例如{missing[0].zh}",
            f"the data directory lacks {len(missing)} things that the database names, such as {missing[0].en}",
        ),
        Text("先修好数据目录；这次的备份没有保留", "mend the data directory first; this backup was not kept"),
        reason="missing_files",
        missing=[text.en for text in missing[:20]],
    )


def _copy(root: Path, folder: Path, earlier: Path | None, jobs: set[str], progress: Progress) -> tuple[_Tally, str]:
    """All files, and the list of them with its hash."""
    found = list(walk.walk(root, jobs))
    total = sum(one.stat.st_size for one in found if not one.is_folder)
    before = _before(earlier)
    objects, tally, digest, seen = Objects(folder, earlier), _Tally(), hashlib.sha256(), 0
    descriptor = os.open(folder / FILES, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as listing:
        for one in found:
            seen += 0 if one.is_folder else one.stat.st_size
            entry = _keep(root, one, objects, before, tally)
            if entry is not None:
                line = entry.line().encode("ascii")
                digest.update(line)
                listing.write(line)
            progress("files", seen, total)
        listing.flush()
        os.fsync(descriptor)
    return tally, digest.hexdigest()


def _keep(
    root: Path, found: walk.Found, objects: Objects, before: dict[tuple[str, int, int], str], tally: _Tally
) -> Entry | None:
    """Keep one file. None: it went away meanwhile; whether it was needed is checked at the end."""
    mode, size, mtime = found.stat.st_mode & 0o777, found.stat.st_size, found.stat.st_mtime_ns
    if found.is_folder:
        return Entry(found.path, mode)
    sha256 = before.get((found.path, size, mtime))
    if sha256 is not None and objects.has(sha256):
        tally.linked += size
    else:
        try:
            with open_plain(root / found.path) as file:
                sha256, size = objects.put(file)
        except FileNotFoundError:
            return None
    tally.files += 1
    tally.bytes += size
    return Entry(found.path, mode, size, sha256, mtime)


def _before(earlier: Path | None) -> dict[tuple[str, int, int], str]:
    """What the backup before knew of each file: the same name, size and time is the same content."""
    if earlier is None:
        return {}
    with contextlib.suppress(Refused, OSError):
        return {(e.path, e.size, e.mtime): e.sha256 for e in read_entries(earlier) if e.sha256 is not None}
    return {}


@contextlib.contextmanager
def _held(platform: Platform) -> Iterator[None]:
    """The lease of backups, renewed in a thread; while it is held the reaper rests."""
    lease = Lease(platform, LEASE)
    if not lease.acquire():
        raise Conflict(
            Text("另一个备份正在进行", "another backup is being made"),
            Text("等它结束再试", "try again when it is done"),
            reason="backup_running",
        )
    stop, lost = threading.Event(), threading.Event()

    def renew() -> None:
        while not stop.wait(SECONDS / 3):
            try:
                if not lease.acquire():
                    lost.set()
            except Exception:  # noqa: BLE001 - the database is away: the lease runs out
                lost.set()

    thread = threading.Thread(target=renew, name="backup lease", daemon=True)
    thread.start()
    try:
        yield
        if lost.is_set():
            raise PlatformFault(
                Text("备份途中和数据库断开过，没有保留", "the database was away meanwhile; no backup was kept"),
                Text("再做一次", "make it again"),
                reason="lease_lost",
            )
    finally:
        stop.set()
        thread.join()
        with contextlib.suppress(Exception):
            lease.release()


def _check_room(platform: Platform, into: Path, earlier: Path | None, *, with_jobs: bool) -> None:
    """Raises Refused when the disk has no room for what would be copied."""
    root, before = platform.folders.root, _before(earlier)
    jobs = frozenset(os.listdir(platform.folders.jobs)) if with_jobs else frozenset()
    found = [one for one in walk.walk(root, jobs) if not one.is_folder]
    needed = sum(o.stat.st_size for o in found if (o.path, o.stat.st_size, o.stat.st_mtime_ns) not in before)
    needed += _database_bytes(platform)
    free = shutil.disk_usage(into).free
    if free < needed + SPARE:
        raise Refused(
            Text(
                f"{into} 只剩 {free / 1e9:.2f} GB，备份需要 {(needed + SPARE) / 1e9:.2f} GB",
                f"{into} has {free / 1e9:.2f} GB left, the backup needs {(needed + SPARE) / 1e9:.2f} GB",
            ),
            Text(
                "换一个磁盘，或用 --without-jobs 不带任务输出", "name another disk, or leave out jobs: --without-jobs"
            ),
            reason="no_room",
        )


def _database_bytes(platform: Platform) -> int:
    store = platform.store
    with store.engine.connect().execution_options(**store.reading_options) as connection:
        if store.is_sqlite:
            pages = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
            return pages * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
        return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
