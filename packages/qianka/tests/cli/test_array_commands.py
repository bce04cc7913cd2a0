"""Arrays from the command line, really run on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.cli import embedded, output
from qianka.cli.embedded import Handle
from qianka.cli.main import main
from qianka.client.credentials import Credential, Wallet

Run = Callable[..., Any]
pytestmark = pytest.mark.xdist_group("live_arrays")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handle]:
    data = tmp_path_factory.mktemp("live") / "data"
    handle = embedded.start(data, runtime_dir=str(data / "none"), sandbox_backend="none", sandbox_minimum="none")
    yield handle
    handle.stop()


@pytest.fixture
def say(live: Handle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("QIANKA_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(output.mode, "language", "en")
    monkeypatch.chdir(tmp_path)
    Wallet(tmp_path / "config").save(Credential(live.url, "admin", live.token))

    def command(*words: str, status: int = 0) -> str:
        assert main([*words]) == status
        told = capsys.readouterr()
        return told.out + told.err

    return command


def test_an_array_runs_each_index_with_its_own_number(say: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os\nprint(os.environ['SLURM_ARRAY_TASK_ID'], os.environ['QIANKA_ARRAY_COUNT'])\n"
    )
    dry = say("submit", "--array", "0-4:2%1", "--mem", "64M", "--dry-run", "train.py")
    assert "an array of 3 jobs (indexes 0 to 4), 1 at once at most" in dry
    first = json.loads(say("submit", "--array", "0-4:2%1", "--mem", "64M", "--json", "train.py"))
    array = first["array"]
    assert sum(first["array_states"].values()) == 3
    for index in ("0", "2", "4"):
        assert say("logs", array, "--index", index, "-f") == f"{index} 3\n"
    assert "COMPLETED" in say("job", f"{array}_4")
    assert "3 jobs (1 at once at most): 3 COMPLETED" in say("job", array)
    assert say("jobs").count(array) == 1
    assert "3 COMPLETED" in say("jobs")
    assert first["id"] in say("jobs", "--expand")
    assert "3 COMPLETED" in say("cancel", array)


def test_a_waiting_array_is_cancelled_whole(say: Run, tmp_path: Path) -> None:
    (tmp_path / "sleep.py").write_text("import time\nprint('on', flush=True)\ntime.sleep(600)\n")
    told = say("submit", "--array", "1-5%1", "--mem", "64M", "sleep.py")
    array = told.split()[0]
    assert "5 jobs" in told
    assert "CANCELLED" in say("cancel", array)
    say("logs", array, "--index", "1", "-f")
    assert "5 CANCELLED" in say("job", array)


def test_what_cannot_be_is_refused_with_advice(say: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    assert "0-99%4" in say("submit", "--array", "9-0", "a.py", status=2)
    assert "follows one job" in say("submit", "--array", "0-9", "-f", "a.py", status=2)
