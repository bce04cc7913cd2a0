"""`qianka lab dates|extend|extensions|revoke|regrade`, `cohort late-days`, `grades history` against a real platform."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.cli import embedded, output, scaffold
from qianka.cli.embedded import Handle
from qianka.cli.main import main
from qianka.client.credentials import Credential, Wallet

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handle]:
    data = tmp_path_factory.mktemp("live") / "data"
    handle = embedded.start(data, runtime_dir=str(data / "none"), sandbox_backend="none", sandbox_minimum="none")
    yield handle
    handle.stop()


@pytest.fixture
def run(live: Handle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command as the administrator; the object it prints, or its text with `text`."""
    monkeypatch.setenv("QIANKA_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(output.mode, "language", "en")
    Wallet(tmp_path / "config").save(Credential(live.url, "admin", live.token))

    def command(*words: str, status: int = 0, text: bool = False) -> Any:
        monkeypatch.setattr(output.mode, "json", False)
        assert main([*words] if text else [*words, "--json"]) == status
        said = capsys.readouterr()
        return said.out + said.err if text else json.loads(said.out)

    return command


def test_dates_extensions_and_regrades_of_a_lab(run: Run, tmp_path: Path) -> None:
    run("cohort", "create", "dated", "--title", "Dated")
    run("people", "add", "dated-wang", "--name", "Wang", "--cohort", "dated")
    folder = tmp_path / "lab2"
    scaffold.write(folder)
    run("lab", "publish", str(folder), "--cohort", "dated", "--due", "2030-12-20")

    told = run("lab", "dates", "lab2", "--cohort", "dated", "--due", "2030-12-21", "--lock", "2030-12-30")
    assert (told["preview"], told["due_at"][:16]) == (True, "2030-12-20T15:59")
    run("lab", "dates", "lab2", "--cohort", "dated", "--due", "2030-12-21", "--lock", "2030-12-30", "--apply")
    assert run("lab", "dates", "lab2", "--cohort", "dated")["due_at"][:16] == "2030-12-21T15:59"

    given = ["lab", "extend", "lab2", "--cohort", "dated", "--login", "dated-wang", "--days", "2", "--reason", "ill"]
    assert run(*given)["preview"] is True
    assert run("lab", "extensions", "lab2", "--cohort", "dated")["items"] == []
    extension = run(*given, "--apply")["extension"]["id"]
    shown = run("lab", "dates", "lab2", "--cohort", "dated", "--login", "dated-wang", text=True)
    assert "2030-12-23 23:59 (UTC+08:00)" in shown
    assert "ill" in shown
    listed = run("lab", "extensions", "lab2", "--cohort", "dated", text=True)
    assert "dated-wang" in listed
    assert "+2 d" in listed
    run("lab", "revoke", extension, "--cohort", "dated", "--reason", "a mistake", "--apply")
    assert run("lab", "dates", "lab2", "--cohort", "dated", "--login", "dated-wang")["extension"] is None
    assert "a reason is needed" in run("lab", "revoke", extension, "--cohort", "dated", status=2, text=True)

    assert run("cohort", "late-days", "5", "--cohort", "dated", "--apply")["days"] == 5
    assert run("grades", "history", "lab2", "--cohort", "dated", "--login", "dated-wang")["items"] == []
    refused = run("lab", "regrade", "start", "lab2", "--cohort", "dated", "--reason", "x", status=7, text=True)
    assert "there is no hand-in to grade again" in refused
    assert "never regraded" in run("lab", "regrade", "show", "lab2", "--cohort", "dated", status=6, text=True)
    assert run("lab", "regrade", "list", "lab2", "--cohort", "dated")["items"] == []
    assert "there is no attempt" in run("grades", "replay", "a-none", status=6, text=True)
