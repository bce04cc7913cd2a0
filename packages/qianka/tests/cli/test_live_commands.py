"""The commands against a real platform: server, worker and jobs as processes, without a sandbox."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from qianka.cli import embedded, output, scaffold
from qianka.cli.embedded import Handle
from qianka.cli.main import main
from qianka.client.credentials import Credential, Wallet

Run = Callable[..., Any]
pytestmark = pytest.mark.xdist_group("live_commands")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handle]:
    """A platform that runs jobs with `--isolation none`: they are this test's own."""
    data = tmp_path_factory.mktemp("live") / "data"
    handle = embedded.start(data, runtime_dir=str(data / "none"), sandbox_backend="none", sandbox_minimum="none")
    yield handle
    handle.stop()


@pytest.fixture
def run(live: Handle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command as the administrator, unless another has signed in; the object it prints."""
    monkeypatch.setenv("QIANKA_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(output.mode, "language", "en")
    monkeypatch.chdir(tmp_path)
    Wallet(tmp_path / "config").save(Credential(live.url, "admin", live.token))

    def command(*words: str, status: int = 0) -> Any:
        # After the script of `submit` everything is the script's: there --json is given before it.
        assert main([*words] if "--json" in words else [*words, "--json"]) == status
        return json.loads(capsys.readouterr().out)

    return command


@pytest.fixture
def cohort(run: Run, tmp_path: Path) -> str:
    """A cohort of this test's own."""
    name = f"c{abs(hash(tmp_path)) % 10**9}"
    run("cohort", "create", name, "--title", "Test", "--cpu-hours", "5")
    return name


def sign_in(run: Run, monkeypatch: pytest.MonkeyPatch, live: Handle, login: str, code: str) -> None:
    monkeypatch.setattr(output, "ask_secret", lambda zh, en: "correct horse 9")
    told = run("login", live.url, login, "--activate", code)
    assert told["me"]["login"] == login


def test_a_class_is_imported_and_a_student_hands_in(
    run: Run, cohort: str, live: Handle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = cohort.removeprefix("c")
    roster = tmp_path / "roster.csv"
    roster.write_bytes(f"学号,姓名,班级\r\n{number}01,王小明,1\r\n{number}02,=李雷,2\r\n".encode("gb18030"))
    preview = run("people", "import", str(roster), "--cohort", cohort)
    assert [change["what"] for change in preview["changes"]] == ["added", "added"]
    assert run("people", "list", "--cohort", cohort)["items"] == []
    codes = tmp_path / "codes.csv"
    done = run("people", "import", str(roster), "--cohort", cohort, "--apply", "--codes", str(codes))
    assert done["added"] == 2
    assert stat.S_IMODE(codes.stat().st_mode) == 0o600
    lines = [line.split(",") for line in codes.read_text("utf-8-sig").splitlines()]
    assert [line[1] for line in lines] == ["姓名", "王小明", "'=李雷"], "no name is a formula"

    lab = tmp_path / "lab-one"
    scaffold.write(lab)
    made = run("lab", "publish", str(lab), "--cohort", cohort, "--due", "2099-01-01 23:59")
    assert datetime.fromisoformat(made["due_at"].replace("Z", "+00:00")) == datetime(
        2099, 1, 1, 15, 59, tzinfo=timezone.utc
    )

    sign_in(run, monkeypatch, live, lines[1][0], lines[1][3])
    assert [one["slug"] for one in run("lab", "list")["items"]] == ["lab-one"]
    handed = run("turnin", "lab-one", str(lab / "solution"), "--no-follow")
    assert handed["submission"]["state"] == "accepted"
    verified = run("receipt", "verify", handed["receipt_file"], "--against", str(lab / "solution"))
    assert (verified["trusted"], verified["differences"]) == (True, [])
    (lab / "solution" / "README.md").write_text("edited", "utf-8")
    assert run("receipt", "verify", handed["receipt_file"], "--against", str(lab / "solution"), status=7)["differences"]
    assert run("turnin", "lab-one", str(lab / "data"), "--no-follow", status=7)["submission"]["state"] == "invalid"
    assert run("grades")["items"][0]["points"] is None
    assert run("board", "lab-one")["entries"] == []
    assert run("budget")["items"][0]["cpu_limit"] == 5.0
    assert run("grades", "--cohort", cohort, status=5)["code"] == "forbidden"


def test_a_job_runs_and_its_output_is_followed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text("import sys\nprint('hello', *sys.argv[1:])\nprint('oops', file=sys.stderr)\n")
    told = run("submit", "--name", "hi", "--time", "60s", "--mem", "64M", "--json", "hello.py", "--epochs", "3")
    log = run("logs", told["id"], "-f")
    assert log["text"] == "hello --epochs 3\n"
    assert run("logs", told["id"], "--stderr")["text"] == "oops\n"
    job = run("job", told["id"])
    assert (job["state"], job["exit_code"], job["isolation"]) == ("COMPLETED", 0, "none")
    assert told["id"] in [one["id"] for one in run("jobs")["items"]]


def test_a_job_is_cancelled(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sleep.py").write_text("import time\nprint('on', flush=True)\ntime.sleep(600)\n")
    told = run("submit", "--mem", "64M", "--json", "sleep.py")
    run("cancel", told["id"])
    run("logs", told["id"], "-f")
    assert run("job", told["id"])["state"] == "CANCELLED"


def test_code_of_a_job_is_good_for_its_owner_alone(
    run: Run, cohort: str, live: Handle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qianka.client import archive
    from qianka.client.api import Client
    from qianka.client.transport import Transport
    from qianka.errors import NotFound
    from qianka.schemas.jobs import NewJob

    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("print(1)", "utf-8")
    archive.pack(tmp_path / "code", tmp_path / "code.zip")
    with live.client() as admin:
        code = admin.upload(tmp_path / "code.zip").id
        added = admin.add_person(cohort, login=f"x{cohort}", name="x")
    sign_in(run, monkeypatch, live, f"x{cohort}", added.code or "")
    other = Wallet(tmp_path / "config").current()
    with Client(Transport(other.address, other.token, "en")) as student, pytest.raises(NotFound):
        student.submit(NewJob(script="a.py", code=code))


def test_a_second_platform_on_the_same_data_is_refused(live: Handle) -> None:
    again = subprocess.run(
        [sys.executable, "-m", "qianka.cli", "up", "--data-dir", str(live.data_dir), "--port", "0", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 7
    assert live.url in json.loads(again.stdout)["message"]


def test_a_killed_server_is_back_at_the_same_address(live: Handle) -> None:
    with live.client() as client:
        before = client.version()
        server = next(pid for pid in children(live.process.pid) if "qianka.server" in words_of(pid))
        os.kill(server, signal.SIGKILL)
        assert client.version() == before
        assert client.me().login == "admin"
    assert server not in children(live.process.pid)


def test_the_token_of_the_embedder_is_private(live: Handle) -> None:
    assert stat.S_IMODE((live.data_dir / "run" / "admin.token").stat().st_mode) == 0o600
    assert stat.S_IMODE(live.data_dir.stat().st_mode) == 0o700
    for pid in [live.process.pid, *children(live.process.pid)]:
        assert live.token not in " ".join(words_of(pid))


def children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found.append(int(entry.name))
    return found


def words_of(pid: int) -> list[str]:
    return (Path("/proc") / str(pid) / "cmdline").read_bytes().decode().split("\0")
