"""The only place that prints.

Standard output is the answer (text, or one JSON object with --json); all else is standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from qianka import settings
from qianka.errors import Language, QiankaError, Text

if TYPE_CHECKING:
    from pydantic import BaseModel


class _Mode:
    """How this one process speaks; set by the options of its command."""

    json = False
    language: Language | None = None


mode = _Mode()


def language() -> Language:
    """The language of this terminal."""
    if mode.language is None:
        mode.language = settings.spoken_language()
    return mode.language


def t(zh: str, en: str) -> str:
    """The one of two sentences that is in the language of this terminal."""
    return zh if language() == "zh" else en


def say(text: str | Text) -> None:
    """A line of the answer; nothing with --json."""
    if not mode.json:
        _print(text if isinstance(text, str) else text.say(language()))


def write(text: str) -> None:
    """A piece of the answer, as it is."""
    print(text, end="", flush=True)


def note(text: str | Text) -> None:
    """A line beside the answer: progress, a hint."""
    _print(text if isinstance(text, str) else text.say(language()), error=True)


def result(value: BaseModel | Mapping[str, Any] | Sequence[Any]) -> bool:
    """With --json print the value as one object (a list as {"items": […]}) and return True; else False."""
    if not mode.json:
        return False
    import json

    plain = _plain(value)
    print(json.dumps(plain if isinstance(plain, dict) else {"items": plain}, ensure_ascii=False))
    return True


def line(value: Mapping[str, Any]) -> None:
    """One JSON object on a line of its own, at once: for commands that report while they run."""
    import json

    print(json.dumps(_plain(value), ensure_ascii=False), flush=True)


def refusal(error: QiankaError) -> None:
    """What was refused, what to do; with --json the object that the API would answer with."""
    message = error.message.say(language())
    hint = None if error.hint is None else error.hint.say(language())
    if mode.json:
        details = {key: str(value) for key, value in error.details.items()} | {"reason": error.reason}
        result({"code": error.code, "message": message, "hint": hint, "details": details})
    _print(t("错误：", "error: ") + message, error=True)
    if hint:
        _print("  " + hint, error=True)


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Rows under headings, aligned by display width (a Chinese character is two columns wide)."""
    if mode.json:
        return
    lines = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(width(text) for text in column) for column in zip(headings, *lines, strict=True)]
    for index, cells in enumerate([list(headings), *lines]):
        padded = (cell + " " * (size - width(cell)) for cell, size in zip(cells, widths, strict=True))
        text = "  ".join(padded).rstrip()
        _print(f"\x1b[1m{text}\x1b[0m" if index == 0 and sys.stdout.isatty() else text)


def width(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    import unicodedata

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def harmless(text: str) -> str:
    """`text` without what would steer a terminal: what student code prints is shown, never obeyed."""
    from qianka.jobdir.printing import printable

    return printable(text)


def show_log(text: str, *, error: bool = False) -> None:
    """A piece of what a job printed."""
    print(harmless(text), end="", flush=True, file=sys.stderr if error else sys.stdout)


def ask_secret(zh: str, en: str) -> str:
    """A password, typed without echo; from standard input when that is no terminal."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    import getpass

    return getpass.getpass(t(zh, en) + ": ")


def is_live() -> bool:
    """Whether somebody watches: a terminal, and not --json."""
    return sys.stdout.isatty() and not mode.json


class Bar(Protocol):
    """Told how far a long work has come."""

    def __call__(self, done: int) -> None: ...


@contextmanager
def progress(zh: str, en: str, total: int) -> Iterator[Bar]:
    """A bar on standard error where somebody watches; a silent one elsewhere."""
    if mode.json or not sys.stderr.isatty() or total <= 0:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(t(zh, en), total=total)
        yield lambda done: bar.update(task, completed=done)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:g}"
    return harmless(str(value)).replace("\n", " ")


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _print(text: str, *, error: bool = False) -> None:
    # Messages may quote file names and output of student code.
    safe = text if text.startswith("\x1b[1m") else harmless(text)
    print(safe, file=sys.stderr if error else sys.stdout, flush=True)
