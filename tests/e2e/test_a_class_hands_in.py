"""A platform as people run it: its processes, its sandbox, its client. Small labs, the real student runtime."""

from __future__ import annotations

import os
import signal
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka.cli import embedded, following, scaffold
from qianka.cli.embedded import Handle
from qianka.client.api import Client, new_key
from qianka.client.archive import pack
from qianka.client.transport import Transport

pytestmark = [pytest.mark.runtime, pytest.mark.sandbox, pytest.mark.slow, pytest.mark.xdist_group("e2e")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labs") / "circle"
    scaffold.write(folder)
    return folder


@pytest.fixture(scope="module")
def platform(student_runtime: Path, lab: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handle]:
    data = tmp_path_factory.mktemp("platform") / "data"
    handle = embedded.start(data, runtime_dir=str(student_runtime), sandbox_minimum="degraded")
    packed = lab.with_suffix(".zip")
    pack(lab, packed)
    with handle.client() as admin:
        admin.create_cohort(slug="c", title="一班", zone="Asia/Shanghai", cpu_hours=1.0)
        admin.publish_lab("c", packed, slug="circle")
    yield handle
    handle.stop()


def student(platform: Handle, login: str) -> Client:
    """A new student, signed in."""
    with platform.client() as admin:
        added = admin.add_person("c", login=login, name=login, role="student")
    assert added.code is not None
    with Client(Transport(platform.url, None, "zh")) as nobody:
        nobody.activate(login, added.code, "a-long-password")
        token = nobody.login(login, "a-long-password", "test").token
    return Client(Transport(platform.url, token, "zh"))


def graded(client: Client, archive: Path, key: str) -> tuple[str, float | None]:
    """Hand in and wait: verdict and points."""
    handed = client.hand_in("c", "circle", archive, filename=archive.name, key=key)
    assert handed.attempt is not None, handed.submission.refusal
    attempt = following.follow(client, handed.attempt.id, lambda _: None)
    return attempt.verdict or "", attempt.points


def test_a_module_with_a_chinese_name_is_imported_by_the_grader(platform: Handle, lab: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    subprocess.run(["cp", "-r", str(lab / "solution"), str(work)], check=True)
    (work / "code" / "train.py").rename(work / "code" / "训练.py")
    (work / "code" / "train.py").write_text(
        'import runpy\n\nimport 训练\n\nrunpy.run_path(训练.__file__, run_name="__main__")\n', "utf-8"
    )
    target = tmp_path / "作业1.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(work.rglob("*.*")):
            archive.writestr(_GbkInfo(f"作业1/{path.relative_to(work).as_posix()}"), path.read_bytes())
    with student(platform, "s-gbk") as client:
        verdict, points = graded(client, target, new_key())
    assert verdict == "accepted"
    assert points is not None
    assert points > 80


def test_what_is_killed_in_the_middle_of_a_grading_is_graded_once(platform: Handle, lab: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    subprocess.run(["cp", "-r", str(lab / "solution"), str(work)], check=True)
    train = work / "code" / "train.py"
    train.write_text("import time\n\ntime.sleep(3)\n" + train.read_text("utf-8"), "utf-8")
    packed = tmp_path / "handin.zip"
    pack(work, packed)
    with student(platform, "s-kill") as client:
        handed = client.hand_in("c", "circle", packed, filename="handin.zip")
        assert handed.attempt is not None
        for event in client.follow([f"attempt:{handed.attempt.id}"]):
            if event.kind == "job_running":
                break
        for part in parts(platform):
            os.kill(part, signal.SIGKILL)
        attempt = following.follow(client, handed.attempt.id, lambda _: None)
        assert attempt.verdict == "accepted"
        assert [job.state for job in attempt.jobs] == ["COMPLETED"] * len(attempt.jobs)
        assert len({job.name for job in attempt.jobs}) == len(attempt.jobs)
        again = client.hand_in("c", "circle", packed, filename="handin.zip", key=new_key())
        assert again.submission.id != handed.submission.id
    mounts = Path("/proc/mounts").read_text()
    assert str(platform.data_dir) not in mounts


def parts(platform: Handle) -> list[int]:
    """Server, worker and (as root) launcher of this platform."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if parent == platform.process.pid and any(b"qianka" in word for word in words):
                found.append(int(entry.name))
    assert len(found) >= 2
    return found


class _GbkInfo(zipfile.ZipInfo):
    """An entry whose name is stored as Windows does in China: GBK bytes, no flag for UTF-8."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode("gbk"), self.flag_bits & ~0x800
