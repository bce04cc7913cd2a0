"""A backup taken while a class hands in and is graded: all that was acknowledged before is in it, and goes on."""

from __future__ import annotations

import itertools
import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka import receipts
from qianka.cli import embedded, output, scaffold
from qianka.cli.embedded import Handle
from qianka.cli.main import main
from qianka.client import archive
from qianka.client.api import new_key
from qianka.schemas.jobs import NewJob

pytestmark = [pytest.mark.xdist_group("backup_command"), pytest.mark.timeout(400)]  # platforms start several times
COHORT, LAB = "ai", "lab-one"
Command = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """database.url of the platform."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("bare_database_url"))


@pytest.fixture
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runtime that starts programs; it has no torch, so gradings end with a verdict of a kind."""
    import sys

    folder = tmp_path_factory.mktemp("runtime")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    return folder


def start(data: Path, url: str, runtime: Path) -> Handle:
    return embedded.start(
        data, database_url=url, runtime_dir=str(runtime), sandbox_backend="none", sandbox_minimum="none"
    )


@pytest.fixture
def live(tmp_path: Path, url: str, runtime: Path) -> Iterator[Handle]:
    handle = start(tmp_path / "data", url, runtime)
    yield handle
    handle.stop()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str) -> Command:
    """Runs a command with --json on the machine of the platform; the object it prints."""
    monkeypatch.setattr(output.mode, "language", "en")
    monkeypatch.setenv("QIANKA_DATABASE_URL", url)

    def run(*words: str, status: int = 0) -> Any:
        assert main([*words, "--json"]) == status
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    return run


class Class:
    """People who hand in without a pause, each with other content, until told to stop."""

    def __init__(self, live: Handle, folder: Path, people: int = 3) -> None:
        self.live, self.folder = live, folder
        self.acknowledged: list[tuple[float, str]] = []
        self.failures: list[BaseException] = []
        self._stop = threading.Event()
        self._numbers = itertools.count()
        self._threads = [threading.Thread(target=self._go_on) for _ in range(people)]

    def __enter__(self) -> Class:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _go_on(self) -> None:
        try:
            with self.live.client() as client:
                while not self._stop.is_set():
                    number = next(self._numbers)
                    code = self.folder / f"hw{number}"
                    (code / "code").mkdir(parents=True)
                    for name in ("train.py", "predict.py"):
                        (code / "code" / name).write_text(f"print({number})\n")
                    (code / "README.md").write_text(f"# {number}\n")
                    packed = self.folder / f"hw{number}.zip"
                    archive.pack(code, packed)
                    handed = client.hand_in(COHORT, LAB, packed, filename=packed.name, key=new_key())
                    self.acknowledged.append((time.monotonic(), handed.submission.id))
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            self.failures.append(error)


def begin(live: Handle, tmp_path: Path) -> None:
    """A cohort, a lab, and jobs that run."""
    folder = tmp_path / LAB
    scaffold.write(folder)
    with live.client() as client:
        client.create_cohort(slug=COHORT, title="AI", zone="Asia/Shanghai")
        client.publish_local_lab(COHORT, folder)
        for _ in range(2):
            client.submit(NewJob(argv=["/bin/sleep", "4"], cohort=COHORT, memory=32 << 20, cpus=0.2, wall=60))


def until(look: Callable[[], Any], patience: float = 60.0) -> Any:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come to pass")


@pytest.mark.slow
def test_a_backup_under_load_has_all_that_was_acknowledged_and_is_a_platform_again(
    live: Handle, tmp_path: Path, url: str, runtime: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(live, tmp_path)
    (tmp_path / "hw").mkdir()
    into = tmp_path / "backups"
    with Class(live, tmp_path / "hw") as people:
        until(lambda: len(people.acknowledged) >= 8 or people.failures)
        begun = time.monotonic()
        made = command("backup", "create", str(into), "--data-dir", str(live.data_dir))
        took = time.monotonic() - begun
        during = len([1 for at, _ in people.acknowledged if at > begun])
        again = command("backup", "create", str(into), "--data-dir", str(live.data_dir))
    assert people.failures == []
    before = [submission for at, submission in people.acknowledged if at < begun]
    assert len(before) >= 8
    assert again["linked"] > 0
    folder = Path(made["folder"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    verified = command("backup", "verify", str(folder))
    assert verified["ok"]
    assert verified["receipts"] >= len(before)
    print(f"backup of {made['files']} files took {took:.2f} s, {during} hand-ins meanwhile")  # noqa: T201 - a figure

    live.stop()
    other = tmp_path / "restored"
    if url:
        from qianka.testing.databases import running_server

        url = running_server().database(bare=True)
        monkeypatch.setenv("QIANKA_DATABASE_URL", url)
    told = command("backup", "restore", str(folder), "--data-dir", str(other))
    assert told["submissions"] >= len(before)
    monkeypatch.setenv("QIANKA_SANDBOX_BACKEND", "none")
    again_up = start(other, url, runtime)
    try:
        check_restored(again_up, before)
    finally:
        again_up.stop()
    refused = command("backup", "restore", str(folder), "--data-dir", str(other), status=7)
    assert refused["details"]["reason"] == "not_empty"


def check_restored(live: Handle, before: list[str]) -> None:
    """Every receipt verifies, and jobs that were lost run to their end."""
    keys: set[str] = set()
    with live.client() as client:
        for submission in before:
            verified = receipts.verify_file(client.receipt(submission))
            assert verified.body["submission"] == submission
            keys.add(verified.key_id)
            assert client.submission(submission).state == "accepted"
        assert len(keys) == 1
        for job in client.jobs(kind="run").items:
            until(lambda job=job: client.job(job.id).state == "COMPLETED")


def test_what_is_wrong_is_said_in_words(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("backup", "create", str(tmp_path / "b"), "--data-dir", str(tmp_path / "no"), status=6)
    (tmp_path / "empty").mkdir()
    assert command("backup", "verify", str(tmp_path / "empty"), status=7)["details"]["reason"] == "no_backup"
    told = command("backup", "restore", str(tmp_path / "empty"), "--data-dir", str(tmp_path / "new"), status=7)
    assert told["details"]["reason"] == "no_backup"
    assert not (tmp_path / "new").exists()


def test_a_platform_that_is_up_is_not_restored_over(live: Handle, tmp_path: Path, command: Command) -> None:
    refused = command("backup", "restore", str(tmp_path), "--data-dir", str(live.data_dir), status=7)
    assert refused["details"]["reason"] == "already_up"


def test_the_place_of_backups_belongs_to_who_serves(live: Handle, tmp_path: Path, command: Command) -> None:
    made = command("backup", "create", str(tmp_path / "backups"), "--data-dir", str(live.data_dir))
    owner = live.data_dir.stat().st_uid
    assert Path(made["folder"]).stat().st_uid == owner
    if os.geteuid() != 0:
        assert owner == os.geteuid()
