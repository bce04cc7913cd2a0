"""Backups: whole, consistent, verifiable, and restored into a platform that goes on; on both databases, and across."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import qianka
from qianka.errors import ConfigError, Conflict, PlatformFault, QiankaError, Refused
from qianka.services import backups, leases, submissions
from qianka.services.backups.manifest import read_entries
from qianka.services.backups.restore import moved
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.opening import open_store
from qianka.store.repos import rows
from qianka.store.session import Store
from qianka.store.tables import Attempt, Audit, Job, Lease, Ledger, Run, Submission
from qianka.store.upgrade import stamp
from qianka.testing import FakeClock, FakeEngine, caller_of, make_job
from qianka.testing.handins import HandinScene
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.reaper import Reaper


@dataclass
class Scene:
    """A class that handed in, a job that ended, one that runs, one that waits; a place for backups."""

    course: HandinScene
    engine: FakeEngine
    into: Path
    ran: Job
    runs: Job
    waits: Job

    @property
    def platform(self) -> Platform:
        return self.course.platform

    def backup(self, **options: Any) -> Path:
        return backups.create(self.platform, self.into, "0.1.0", **options).folder


@pytest.fixture
def scene(course: HandinScene, tmp_path: Path) -> Scene:
    platform = course.platform
    stamp(platform.store)
    for number in range(3):
        course.hand_in(content=f"x = {number}")
        course.clock.advance(60)
    engine = FakeEngine(course.clock, jobs=platform.folders.jobs)
    dispatcher = Dispatcher(platform, engine)
    ran = make_job(platform, course.student)
    while dispatcher.step() or not read(platform, ran.id).ended_at:
        dispatcher.wait(1.0)
    (platform.folders.jobs / ran.id / "out").mkdir(parents=True, exist_ok=True)
    (platform.folders.jobs / ran.id / "out" / "model.npz").write_bytes(b"weights")
    engine.default = replace(engine.default, seconds=1e6)
    runs = make_job(platform, course.student, wall_limit=1e5)
    dispatcher.step()
    work = str(platform.folders.trees / "0123456789abcdef")
    engine.down = True
    waits = make_job(platform, course.student, spec={"argv": ["true"], "work": work})
    engine.down = False
    dispatcher.close()
    return Scene(course, engine, tmp_path / "backups", ran, runs, waits)


def read(platform: Platform, job: str) -> Job:
    with platform.store.reading() as session:
        found = session.get(Job, job)
        assert found is not None
        return found


Target = Callable[[str], Platform]


@pytest.fixture
def target(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Target]:
    """An empty place to restore into, on SQLite or PostgreSQL."""
    made: list[Platform] = []

    def make(kind: str) -> Platform:
        url = request.getfixturevalue("bare_database_url") if kind == "postgresql" else ""
        found = Settings(data_dir=str(tmp_path / f"restored{len(made)}"), database_url=url)
        made.append(Platform(settings=found, store=open_store(found), clock=FakeClock()))
        return made[-1]

    yield make
    for platform in made:
        platform.store.close()


def counts(store: Store) -> dict[str, int]:
    with store.engine.connect().execution_options(**store.reading_options) as connection:
        return rows.count(connection)


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of every file that a backup is about."""
    kept = ("blobs", "trees", "labs", "secrets")
    return {
        path.relative_to(root).as_posix(): (path.stat().st_mode & 0o777, path.read_bytes())
        for name in kept
        for path in sorted((root / name).rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_is_restored_is_what_was_there_whatever_the_database(scene: Scene, target: Target, kind: str) -> None:
    folder = scene.backup()
    verdict = backups.verify(folder)
    assert (verdict.problems, verdict.receipts) == ([], 3)
    before = counts(scene.platform.store)
    restored = target(kind)
    told = backups.restore(restored, folder)
    assert everything(restored.folders.root) == everything(scene.platform.folders.root)
    after = counts(restored.store)
    assert {name: n for name, n in after.items() if name in ("submission", "receipt", "job", "run", "person")} == {
        name: n for name, n in before.items() if name in ("submission", "receipt", "job", "run", "person")
    }
    assert (told.lost, told.waiting) == (1, 1)
    teacher = caller_of(scene.course.teacher)
    with restored.store.reading() as session:
        handed = list(session.query(Submission))
        assert "backup.restore" in [row.action for row in session.query(Audit)]
    for submission in handed:
        assert submissions.verify_stored(restored, teacher, submission.id) == []
    assert (restored.folders.jobs / scene.ran.id / "out" / "model.npz").read_bytes() == b"weights"


def test_a_restored_platform_goes_on_what_ran_is_run_again_and_charged_to_nobody(scene: Scene, target: Target) -> None:
    restored = target("sqlite")
    backups.restore(restored, scene.backup())
    job = read(restored, scene.runs.id)
    assert (job.state, job.run, job.retries) == ("PENDING", 1, 1)
    assert job.reason is not None
    assert job.reason["after"]["code"] == "lost"
    with restored.store.reading() as session:
        assert [line.job_id for line in session.query(Ledger)] == [scene.ran.id]
        assert session.query(Lease).count() == 0
    clock = restored.clock
    assert isinstance(clock, FakeClock)
    clock.set(scene.course.clock.now())
    clock.advance(120)
    engine = FakeEngine(clock)
    dispatcher = Dispatcher(restored, engine)
    for _ in range(20):
        dispatcher.step()
        dispatcher.wait(1.0)
    dispatcher.close()
    assert read(restored, scene.runs.id).state == "COMPLETED"
    assert read(restored, scene.waits.id).state == "COMPLETED"
    with restored.store.reading() as session:
        accepted = [(run.job_id, run.number) for run in session.query(Run) if run.accepted]
    assert (scene.runs.id, 2) in accepted
    # New rows get numbers of their own.
    make_job(restored, scene.course.student)


def test_new_rows_on_a_restored_postgresql_get_new_numbers(scene: Scene, target: Target) -> None:
    restored = target("postgresql")
    backups.restore(restored, scene.backup())
    make_job(restored, scene.course.student)
    again = HandinScene(
        restored,
        scene.course.clock,
        scene.course.cohort,
        scene.course.lab,
        scene.course.student,
        scene.course.teacher,
        restored.folders.labs,
    )
    assert again.hand_in().receipt is not None


def test_jobs_that_wait_find_their_code_in_the_new_place(scene: Scene, target: Target) -> None:
    restored = target("sqlite")
    backups.restore(restored, scene.backup())
    assert read(restored, scene.waits.id).spec["work"] == str(restored.folders.trees / "0123456789abcdef")
    assert read(restored, scene.ran.id).spec == scene.ran.spec  # history is not rewritten


def test_only_whole_path_names_are_moved() -> None:
    places = {"/srv/q/runtime": "/new/runtime", "/srv/q": "/data"}
    spec = {"argv": ["/srv/q/runtime/bin/python", "/srv/qx", 1], "mounts": [{"source": "/srv/q"}], "no": None}
    assert moved(spec, places) == {
        "argv": ["/new/runtime/bin/python", "/srv/qx", 1],
        "mounts": [{"source": "/data"}],
        "no": None,
    }


def test_a_backup_is_for_its_owner_alone(scene: Scene) -> None:
    folder = scene.backup()
    for path in [scene.into, folder, *folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_next_backup_links_what_the_last_one_has(scene: Scene) -> None:
    first = scene.backup()
    scene.course.clock.advance(60)
    scene.course.hand_in(content="something new")
    made = backups.create(scene.platform, scene.into, "0.1.0")
    assert made.folder != first
    assert made.linked > 0
    old = {entry.path: entry for entry in read_entries(first)}
    shared = [e for e in read_entries(made.folder) if e.sha256 and e.path in old]
    assert shared
    for entry in shared:
        sha256 = str(entry.sha256)
        assert (made.folder / "objects" / sha256[:2] / sha256).stat().st_nlink >= 2
    assert backups.verify(made.folder).problems == []
    shutil.rmtree(first)
    assert backups.verify(made.folder).problems == []


def test_job_output_can_be_left_out(scene: Scene, target: Target) -> None:
    folder = scene.backup(with_jobs=False)
    assert not any(entry.path.startswith("jobs/") for entry in read_entries(folder))
    assert backups.verify(folder).problems == []
    backups.restore(target("sqlite"), folder)


def damage_object(folder: Path) -> None:
    entry = next(e for e in read_entries(folder) if e.path.startswith("blobs/") and e.sha256)
    path = folder / "objects" / str(entry.sha256)[:2] / str(entry.sha256)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def lose_object(folder: Path) -> None:
    next(path for path in (folder / "objects").rglob("*") if path.is_file()).unlink()


def link_object(folder: Path) -> None:
    path = next(path for path in (folder / "objects").rglob("*") if path.is_file())
    path.rename(folder / "aside")
    path.symlink_to(folder / "aside")


def damage_list(folder: Path) -> None:
    lines = (folder / "files.jsonl").read_text().splitlines(keepends=True)
    (folder / "files.jsonl").write_text("".join(lines[:-1]))


def damage_database(folder: Path) -> None:
    with (folder / "database.sqlite").open("r+b") as file:
        file.seek(4096)
        page = file.read(2048)
        file.seek(4096)
        file.write(bytes(255 - byte for byte in page))


@pytest.mark.parametrize("damage", [damage_object, lose_object, link_object, damage_list, damage_database])
def test_damage_is_found_and_never_restored(scene: Scene, target: Target, damage: Callable[[Path], None]) -> None:
    folder = scene.backup()
    damage(folder)
    assert backups.verify(folder).problems
    restored = target("sqlite")
    with pytest.raises((Refused, OSError)):
        backups.restore(restored, folder)
    assert not restored.folders.root.exists() or list(restored.folders.root.iterdir()) == []


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Tamper with the list and make its hash fit again."""
    import hashlib

    lines = []
    for line in (folder / "files.jsonl").read_text().splitlines():
        entry = json.loads(line)
        change(entry)
        lines.append(json.dumps(entry) + "\n")
    text = "".join(lines)
    (folder / "files.jsonl").write_text(text)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["list_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("path", ["../evil", "/etc/evil", "blobs/../../evil", "", "a//b", "a\0b", "."])
def test_a_list_that_points_elsewhere_is_refused(scene: Scene, target: Target, path: str) -> None:
    folder = scene.backup()
    rewrite(folder, lambda entry: entry.update(path=path) if entry["path"].startswith("blobs/") else None)
    restored = target("sqlite")
    with pytest.raises(Refused, match="damaged"):
        backups.restore(restored, folder)
    with pytest.raises(Refused):
        backups.verify(folder)
    assert not restored.folders.root.exists() or list(restored.folders.root.iterdir()) == []


def test_set_user_id_bits_are_not_restored(scene: Scene, target: Target) -> None:
    folder = scene.backup()
    rewrite(folder, lambda entry: entry.update(mode=0o6755) if entry["path"].startswith("blobs/") else None)
    restored = target("sqlite")
    backups.restore(restored, folder)
    blob = next(path for path in restored.folders.blobs.iterdir())
    assert stat.S_IMODE(blob.stat().st_mode) == 0o755


def test_a_forged_receipt_is_found(scene: Scene) -> None:
    """Somebody who can write to a backup changes a time in a receipt and every hash that covers it."""
    folder = scene.backup()
    with sqlite3.connect(folder / "database.sqlite") as connection:
        connection.execute("UPDATE receipt SET body = replace(body, '\"late\":false', '\"late\":true')")
    connection.close()
    import hashlib

    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["database_sha256"] = hashlib.sha256((folder / "database.sqlite").read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    verdict = backups.verify(folder)
    assert len(verdict.problems) == 3
    assert verdict.receipts == 0


def test_nothing_is_overwritten(scene: Scene, target: Target) -> None:
    folder = scene.backup()
    restored = target("sqlite")
    restored.folders.root.mkdir(parents=True)
    (restored.folders.root / "mine").write_text("kept")
    with pytest.raises(Conflict) as refusal:
        backups.restore(restored, folder)
    assert refusal.value.reason == "not_empty"
    assert [path.name for path in restored.folders.root.iterdir()] == ["mine"]
    with pytest.raises(Conflict):
        backups.restore(scene.platform, folder)


def test_a_postgresql_that_is_in_use_is_not_restored_into(scene: Scene, tmp_path: Path, database: str) -> None:
    folder = scene.backup()
    if database != "postgresql":
        return
    found = Settings(data_dir=str(tmp_path / "other"), database_url="x")
    other = Platform(settings=found, store=scene.platform.store, clock=scene.platform.clock)
    with pytest.raises(ConfigError) as refusal:
        backups.restore(other, folder)
    assert refusal.value.reason == "not_empty"
    assert list((tmp_path / "other").iterdir()) == []


def test_an_interrupted_backup_is_none_and_leaves_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(phase: str, done: int, total: int) -> None:
        if phase == "files":
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        scene.backup(progress=full)
    assert list(scene.into.iterdir()) == []
    with scene.platform.store.reading() as session:
        assert session.get(Lease, "backup") is None
    assert backups.verify(scene.backup()).problems == []
    (scene.into / "empty").mkdir()
    with pytest.raises(Refused) as refusal:
        backups.verify(scene.into / "empty")
    assert refusal.value.reason == "no_backup"


def test_for_the_folder_of_all_backups_the_newest_is_named(scene: Scene) -> None:
    scene.backup()
    scene.platform.clock.sleep(60)
    newest = scene.backup()
    with pytest.raises(Refused) as refusal:
        backups.verify(newest.parent)
    assert refusal.value.hint is not None
    assert str(newest) in refusal.value.hint.zh
    assert str(newest) in refusal.value.hint.en


def test_an_interrupted_restore_is_no_platform(scene: Scene, target: Target) -> None:
    folder = scene.backup()
    restored = target("sqlite")

    def die(phase: str, done: int, total: int) -> None:
        if phase == "files":
            with pytest.raises(ConfigError):
                open_store(restored.settings)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backups.restore(restored, folder, progress=die)
    assert list(restored.folders.root.iterdir()) == []
    backups.restore(restored, folder)


def test_a_file_that_the_database_names_and_the_disk_lost_is_told_at_once(scene: Scene) -> None:
    next(scene.platform.folders.blobs.iterdir()).unlink()
    with pytest.raises(PlatformFault) as refusal:
        scene.backup()
    assert refusal.value.reason == "missing_files"
    assert list(scene.into.iterdir()) == []


def test_one_backup_at_a_time_and_the_reaper_rests(scene: Scene) -> None:
    platform = scene.platform
    other = leases.Lease(platform, "backup", owner="elsewhere 1")
    assert other.acquire()
    with pytest.raises(Conflict) as refusal:
        scene.backup()
    assert refusal.value.reason == "backup_running"
    long_ago = 1.0
    os.utime(platform.folders.jobs / scene.ran.id, (long_ago, long_ago))
    scene.course.clock.advance(90 * 86_400)
    with platform.store.transaction() as session:
        row = session.get(Lease, "backup")
        assert row is not None
        row.expires_at = max(row.expires_at, leases.now_of(session, platform)) + (platform.now() - row.expires_at)
    reaper = Reaper(platform, scene.engine)
    reaper.step()
    assert (platform.folders.jobs / scene.ran.id).exists()
    assert scene.engine.cleaned == []
    other.release()
    reaper.step()
    assert scene.engine.cleaned == [scene.ran.id]


def test_a_backup_within_the_data_directory_is_refused(scene: Scene) -> None:
    with pytest.raises(Conflict) as refusal:
        backups.create(scene.platform, scene.platform.folders.root / "backups", "0.1.0")
    assert refusal.value.reason == "inside"


def test_no_room_is_said_before_anything_is_written(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 1, 1))  # type: ignore[attr-defined]
    with pytest.raises(Refused) as refusal:
        scene.backup()
    assert refusal.value.reason == "no_room"
    assert list(scene.into.iterdir()) == []


def test_links_and_odd_names_in_the_data_directory(scene: Scene, target: Target) -> None:
    """What student code left under any name comes back under that name; a link is followed nowhere."""
    out = scene.platform.folders.jobs / scene.ran.id / "out"
    names = [b"new\nline", b"\xff\xfe", "空 格".encode(), b"-rf", b'quote".py']
    for name in names:
        (out / os.fsdecode(name)).write_bytes(name)
    (out / "link").symlink_to("/etc/passwd")
    os.mkfifo(out / "pipe")
    folder = scene.backup()
    assert backups.verify(folder).problems == []
    restored = target("sqlite")
    backups.restore(restored, folder)
    again = restored.folders.jobs / scene.ran.id / "out"
    assert {os.fsencode(p.name) for p in again.iterdir()} == {*names, b"model.npz"}
    assert all((again / os.fsdecode(name)).read_bytes() == name for name in names)


def test_code_that_lies_elsewhere_now_is_found(scene: Scene, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    package = str(Path(qianka.__path__[0]))
    with scene.platform.store.transaction() as session:
        job = session.get(Job, scene.waits.id)
        assert job is not None
        job.spec = {**job.spec, "mounts": [{"source": f"{package}/grading/harness", "target": "/judge"}]}
    folder = scene.backup()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["code"] == package
    restored = target("sqlite")
    backups.restore(restored, folder)
    assert read(restored, scene.waits.id).spec["mounts"][0]["source"] == f"{package}/grading/harness"


def test_a_newer_backup_is_refused(scene: Scene) -> None:
    folder = scene.backup()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["format"] = 99
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(QiankaError, match="newer"):
        backups.verify(folder)


def test_attempts_go_with_their_submissions(scene: Scene, target: Target) -> None:
    restored = target("sqlite")
    backups.restore(restored, scene.backup())
    with restored.store.reading() as session:
        found = {a.submission_id: a.state for a in session.query(Attempt)}
    with scene.platform.store.reading() as session:
        assert found == {a.submission_id: a.state for a in session.query(Attempt)}
