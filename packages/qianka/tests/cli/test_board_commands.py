"""`qianka board` and `qianka group`, from the words of a command line to the server and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka import receipts
from qianka.cli import common, output
from qianka.cli.main import main
from qianka.client.api import Client
from qianka.client.transport import Transport
from qianka.domain.people import Role
from qianka.server.app import create_app
from qianka.services import people
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing import caller_of, enroll, make_cohort, make_person, make_student
from qianka.testing.boards import board_toml, table
from starlette.testclient import TestClient

TRUTH = {str(n): n % 2 for n in range(60)}
Run = Callable[..., Any]


@pytest.fixture
def cast(platform: Platform) -> dict[str, Person]:
    """A teacher and two students of the cohort `ai`."""
    cohort = make_cohort(platform, "ai")
    teacher = make_person(platform, "teacher")
    enroll(platform, cohort, teacher, Role.TEACHER)
    return {"teacher": teacher, **{login: make_student(platform, cohort, login) for login in ("alice", "bob")}}


@pytest.fixture
def run(
    platform: Platform,
    cast: dict[str, Person],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Run]:
    """Runs a command as somebody; the object that it prints, or its text with `plain`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output.mode, "language", "en")
    app = create_app(platform.settings, platform)
    with TestClient(app, base_url="http://localhost") as server:

        def command(who: str, *words: str, status: int = 0, plain: bool = False) -> Any:
            secret = people.issue_token(platform, caller_of(cast[who]), "test").secret

            def speaker() -> Client:
                # A fresh client each time: a command closes its own.
                return Client(Transport("http://localhost", secret, "en", transport=Kept(server), tries=1))

            monkeypatch.setattr(common, "client", speaker)
            monkeypatch.setattr(output.mode, "json", False)
            assert main([*words] if plain else [*words, "--json"]) == status
            told = capsys.readouterr()
            return told.out + told.err if plain else json.loads(told.out)

        yield command


class Kept:
    """The server's transport, which outlives the client that closes it."""

    def __init__(self, server: TestClient) -> None:
        self.handle_request = server._transport.handle_request

    def close(self) -> None:
        return None


def folder(tmp_path: Path, name: str = "guess", **changes: Any) -> Path:
    made = tmp_path / name
    made.mkdir()
    (made / "board.toml").write_text(board_toml(**changes), "utf-8")
    (made / "answers.csv").write_text(table("id,label", TRUTH.items()))
    (made / "sample_submission.csv").write_text(table("id,label", ((id, 0) for id in TRUTH)))
    return made


def predictions(tmp_path: Path, wrong: int) -> str:
    ids = set(list(TRUTH)[:wrong])
    path = tmp_path / f"p{wrong}.csv"
    path.write_text(table("id,label", ((id, 1 - one if id in ids else one) for id, one in TRUTH.items())))
    return str(path)


def test_a_board_is_made_entered_chosen_and_shown(run: Run, tmp_path: Path) -> None:
    assert run("teacher", "board", "create", str(folder(tmp_path, limits__a_day=3)))["slug"] == "guess"
    assert [one["slug"] for one in run("alice", "board", "list")["items"]] == ["guess"]
    run("alice", "board", "sample", "guess", "sample.csv")
    assert Path("sample.csv").read_text().startswith("id,label\n")
    entered = run("alice", "board", "enter", "guess", predictions(tmp_path, 6))
    assert entered["entry"]["state"] == "scored"
    assert receipts.verify_file(Path(entered["receipt_file"]).read_text()).body["lab"] == "guess"
    run("bob", "board", "enter", "guess", predictions(tmp_path, 2))
    shown = run("alice", "board", "guess")
    assert [(one["rank"], one["mine"]) for one in shown["entries"]] == [(1, False), (2, True)]
    id = entered["entry"]["id"]
    assert run("alice", "board", "select", "guess", id)["entries"] == [id]
    assert run("alice", "board", "select", "guess", id, "e-1", "e-2", status=7)["code"] == "refused"
    assert [one["selected"] for one in run("alice", "board", "entries", "guess")["items"]] == [True]
    text = run("alice", "board", "show", "guess", "--cohort", "ai", plain=True)
    assert "public ranking" in text
    assert "2 left, reset after 00:00" in text
    assert run("teacher", "board", "guess", "--private")["private"] is True
    assert run("teacher", "board", "rebuild", "guess")["changed"] == 0
    assert run("teacher", "board", "change", "guess", "--due", "2020-01-01")["phase"] == "final"
    assert "final (private) ranking" in run("bob", "board", "guess", plain=True)
    assert run("teacher", "board", "withdraw", id, "--refund")["charged"] is False


def test_a_bad_file_is_told_with_its_rows_and_exit_code_7(run: Run, tmp_path: Path) -> None:
    run("teacher", "board", "create", str(folder(tmp_path)))
    bad = tmp_path / "bad.csv"
    bad.write_text(Path(predictions(tmp_path, 0)).read_text().replace("\n7,1\n", "\n7,NaN\n"))
    text = run("alice", "board", "enter", "guess", str(bad), status=7, plain=True)
    assert "no try used" in text
    assert "line 9  id 7  value NaN" in text
    assert list(tmp_path.glob("*.receipt.json")) == []


def test_a_kaggle_folder_is_imported(run: Run, tmp_path: Path) -> None:
    made = tmp_path / "titanic"
    made.mkdir()
    usage = "".join(f"{id},{one},{'Public' if int(id) % 3 else 'Private'}\n" for id, one in TRUTH.items())
    (made / "solution.csv").write_text("PassengerId,Survived,Usage\n" + usage)
    (made / "sample_submission.csv").write_text(table("PassengerId,Survived", ((id, 0) for id in TRUTH)))
    board = run("teacher", "board", "import", str(made), "--metric", "accuracy", "--title", "Titanic")
    assert (board["slug"], board["title"], board["column"], board["ladder"]) == (
        "titanic",
        "Titanic",
        "Survived",
        False,
    )
    assert run("alice", "board", "import", str(made), "--metric", "accuracy", "--name", "x", status=5)
    assert run("teacher", "board", "create", str(made), status=6)["code"] == "not_found"


def test_groups_are_formed_and_imported(run: Run, tmp_path: Path) -> None:
    run("teacher", "group", "rules", "--size", "2", "--lock", "2099-01-01")
    red = run("alice", "group", "create", "red")
    run("alice", "group", "invite", str(red["id"]), "bob")
    assert [one["id"] for one in run("bob", "group", "list")["items"]] == [red["id"]]
    assert len(run("bob", "group", "accept", str(red["id"]))["members"]) == 2
    run("bob", "group", "leave", str(red["id"]))
    (tmp_path / "g.csv").write_text("小组,login\nblue,bob\nblue,alice\n", "utf-8")
    found = run("teacher", "group", "import", "g.csv", "--for", "guess")
    assert [(one["name"], one["scope"], len(one["members"])) for one in found["items"]] == [("blue", "guess", 2)]
    assert "blue" in run("alice", "group", "list", plain=True)
