"""The command line itself: quick, two languages, JSON everywhere, documented exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
from qianka.cli import config, main, output, submit
from qianka.cli.main import COMMANDS
from qianka.errors import BadInput

HEAVY = ("fastapi", "sqlalchemy", "httpx", "pydantic", "rich", "typer", "click", "cryptography", "uvicorn")
SERVER = ("fastapi", "sqlalchemy", "uvicorn", "starlette", "jinja2")


@pytest.fixture(autouse=True)
def text_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins as a fresh process does."""
    monkeypatch.setattr(output.mode, "json", False)
    monkeypatch.setattr(output.mode, "language", None)


def loaded_by(code: str) -> set[str]:
    """The top-level modules that running `code` in a fresh process leaves loaded."""
    script = f"import sys\n{code}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_help_loads_next_to_nothing() -> None:
    assert not loaded_by("from qianka.cli.main import main; main(['--help'])") & set(HEAVY)


def test_help_is_quick() -> None:
    """At most 12 times a bare start of the same interpreter, by the best of five."""

    def best(*words: str) -> float:
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - begun)
        return min(times)

    assert best("-m", "qianka.cli", "--help") <= 12 * best("-c", "pass")


def test_verifying_a_receipt_loads_nothing_of_the_server(tmp_path: Path) -> None:
    code = f"from qianka.cli.main import main; main(['receipt', 'verify', {str(tmp_path / 'none')!r}])"
    assert not loaded_by(code) & {*SERVER, "httpx"}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_exists_and_loads_no_server(name: str) -> None:
    assert hasattr(import_module(f"qianka.cli.{COMMANDS[name].module}"), "app")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([name, "--help"]) == 0
    assert "--help" in capsys.readouterr().out


def test_no_command_loads_the_server_to_show_its_help() -> None:
    modules = ", ".join(f"qianka.cli.{command.module}" for command in COMMANDS.values())
    assert not loaded_by(f"import {modules}") & set(SERVER)


def test_help_is_in_the_language_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for language, word in (("zh", "提交实验"), ("en", "hand in a lab")):
        monkeypatch.setattr(output.mode, "language", None)
        monkeypatch.setenv("QIANKA_LANGUAGE", language)
        assert main.main([]) == 0
        assert word in capsys.readouterr().out
    monkeypatch.setattr(output.mode, "language", None)


def test_an_unknown_command_names_the_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["trunin"]) == 2
    assert "turnin" in capsys.readouterr().err


def test_a_wrong_option_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["version", "--nothing"]) == 2


def test_a_refusal_is_one_json_object_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("QIANKA_CONFIG_DIR", str(tmp_path))
    assert main.main(["grades", "--json"]) == 5
    told = json.loads(capsys.readouterr().out)
    assert told["code"] == "not_signed_in"
    assert set(told) == {"code", "message", "hint", "details"}


def test_version_and_config_as_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main.main(["--version", "--json"]) == 0
    assert "qianka" in json.loads(capsys.readouterr().out)
    monkeypatch.setenv("QIANKA_SERVER_PORT", "1234")
    assert main.main(["config", "show", "--json"]) == 0
    items = {item["key"]: item for item in json.loads(capsys.readouterr().out)["items"]}
    assert (items["server.port"]["value"], items["server.port"]["source"]) == (1234, "QIANKA_SERVER_PORT")


def test_a_password_in_an_address_is_not_shown() -> None:
    assert config.hidden("postgresql://u:geheim@host/db") == "postgresql://u:***@host/db"
    assert config.hidden("https://qianka:geheim@cas.example.edu/cas") == "https://qianka:***@cas.example.edu/cas"
    assert config.hidden("ldaps://ldap.example.edu") == "ldaps://ldap.example.edu"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h", 3600), ("2d", 172800), ("15", 900), ("1:30", 90), ("1:00:00", 3600),
     ("1-00:00:00", 86400), ("0.5h", 1800)],
)  # fmt: skip
def test_time_limits(text: str, seconds: float) -> None:
    assert submit.seconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("32G", 32 << 30), ("512M", 512 << 20), ("1.5GiB", 3 << 29), ("100", 100), ("2gb", 2 << 30)]
)
def test_memory_sizes(text: str, size: int) -> None:
    assert submit.memory(text) == size


@pytest.mark.parametrize("text", ["", "x", "1w", "-5m", "1:2:3:4"])
def test_nonsense_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput):
        submit.seconds(text)
    with pytest.raises(BadInput):
        submit.memory(text + "!")


def test_what_a_job_printed_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_log("ok\n\x1b]0;owned\x07\x1b[2J\u202e第二行\n")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert "第二行" in shown


def test_a_table_is_aligned_by_display_width(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["名字", "x"], [["王小明", 1], ["ab", None]])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["名字    x", "王小明  1", "ab      -"]
