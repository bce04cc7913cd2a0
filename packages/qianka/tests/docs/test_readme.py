"""What the pages tell people to type exists, and what they link to is there."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from qianka.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[4]
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_ANY_BLOCK = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def _pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


PAGES = _pages()


def _lines(page: Path) -> Iterator[list[str]]:
    """The commands of a page's sh blocks, as words; `a && b` are two."""
    for block in _BLOCK.findall(page.read_text("utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while "&&" in words:
                cut = words.index("&&")
                yield words[:cut]
                words = words[cut + 1 :]
            if words:
                yield words


TYPED = [(page.relative_to(ROOT).as_posix(), words) for page in PAGES for words in _lines(page)]
QIANKA = [pytest.param(words[1:], id=f"{name}: {' '.join(words)}"[:90]) for name, words in TYPED
          if words[0] in ("qianka", ".venv/bin/qianka")]  # fmt: skip
MAKE = [pytest.param(words[1:], id=f"{name}: {' '.join(words)}") for name, words in TYPED if words[0] == "make"]


@lru_cache
def _command(name: str) -> Any:  # click's Command or Group, which Typer brings in a copy of its own
    app: typer.Typer = import_module(f"qianka.cli.{COMMANDS[name].module}").app
    return typer.main.get_command(app)


def _parse(words: list[str]) -> None:
    """Parse a command line, run nothing. Raises KeyError, or click's UsageError with what is wrong."""
    command, rest = _command(words[0]), words[1:]
    while hasattr(command, "commands"):
        # The group reads its own options and may fill in a command that can be left out.
        with command.make_context("qianka", list(rest)) as context:
            rest = [*context._protected_args, *context.args]
        if not rest:
            return
        command, rest = command.commands[rest[0]], rest[1:]
    with command.make_context("qianka", list(rest)):
        pass


@pytest.mark.parametrize("words", QIANKA)
def test_every_command_that_a_page_types_is_understood(words: list[str]) -> None:
    _parse(words)


@pytest.mark.parametrize(
    "words",
    [["labs"], ["lab", "publich", "x"], ["lab", "publish", "x", "--dew", "1"], ["people", "code"], ["grades", "--cvs"]],
)
def test_a_slip_on_a_page_would_be_found(words: list[str]) -> None:
    with pytest.raises(Exception, match=r"labs|publich|No such option|Missing parameter"):
        _parse(words)


@pytest.mark.parametrize("words", MAKE)
def test_every_make_verb_that_a_page_types_is_there(words: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for word in words:
        name, is_variable, _ = word.partition("=")
        assert (f"$({name})" in makefile) if is_variable else re.search(rf"^{name}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES])
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    text = _ANY_BLOCK.sub("", page.read_text("utf-8"))
    links = [link.partition("#")[0] for link in _LINK.findall(text) if "://" not in link and "mailto:" not in link]
    assert [link for link in links if link and not (page.parent / link).exists()] == []


@pytest.mark.parametrize("pair", [("README.md", "README.zh-CN.md")])
def test_both_readmes_type_the_same(pair: tuple[str, str]) -> None:
    first, second = (list(_lines(ROOT / name)) for name in pair)
    assert first == second
    assert len(first) >= 9
