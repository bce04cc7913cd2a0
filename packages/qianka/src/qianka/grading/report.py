"""The report of a paired stage (tests.json, notebook.json): what our side of the run found, item by item.

It is written by our own script, but quotes the student's side; texts are bounded and cleaned here once more.
A report that is not complete, or not exactly as it should be, is the platform's fault: PlatformFault.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from qianka.errors import PlatformFault, Text

STATES = ("passed", "failed", "raised", "timeout", "ended", "gone", "late", "broken")
"""failed: an assertion; raised: the student's code raised; ended: their process did; gone: their whole side did;
late: no time was left; broken: the test itself raised something else, worth a look by its author"""
MOST_ITEMS = 1000
MOST_NOTES = 100


@dataclass(frozen=True, kw_only=True)
class Item:
    """One test, or one test cell."""

    name: str
    title: Text
    group: Text
    """what hidden items are counted under"""
    visible: bool
    points: float
    earned: float
    state: str
    message: str
    """of the assertion or exception; shown to the student for visible items only"""
    exception: str | None
    file: str | None
    line: int | None
    hint: Text | None
    seconds: float
    details: str
    """for staff"""


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something said to the student beside the items: a damaged notebook, say."""

    code: str
    text: Text


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why nothing at all could be tested: the student's module cannot be imported, their side ended."""

    state: str
    exception: str | None
    message: str
    file: str | None
    line: int | None


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that one paired stage found."""

    items: tuple[Item, ...]
    notes: tuple[Note, ...]
    failure: Failure | None
    staff: tuple[str, ...]
    seconds: float

    @property
    def share(self) -> float:
        """Points earned over points there are, 0..1."""
        most = sum(item.points for item in self.items)
        return min(1.0, sum(item.earned for item in self.items) / most) if most else 0.0


def read_report(raw: object) -> Report:
    """A report as it was read from its file. Raises PlatformFault."""
    table = _table(raw, "report")
    if table.get("format") != 1 or table.get("complete") is not True:
        raise _fault("complete", table.get("complete"))
    items = tuple(_item(item) for item in _list(table, "items", MOST_ITEMS))
    if not items or sum(item.points for item in items) <= 0:
        raise _fault("items", len(items))
    notes = tuple(
        Note(code=_words(_table(note, "note").get("code"), 60), text=_text(note.get("text")))
        for note in _list(table, "notes", MOST_NOTES)
    )
    failure = None if table.get("failure") is None else _failure(_table(table["failure"], "failure"))
    staff = tuple(_words(line, 2000, lines=True) for line in _list(table, "staff", MOST_NOTES))
    return Report(items=items, notes=notes, failure=failure, staff=staff, seconds=_number(table, "seconds"))


def _item(raw: object) -> Item:
    table = _table(raw, "item")
    points, earned = _number(table, "points"), _number(table, "earned")
    state = table.get("state")
    if state not in STATES or earned > points or (state == "passed") != (earned == points and points >= 0):
        raise _fault("item", table)
    if not isinstance(table.get("visible"), bool):
        raise _fault("visible", table.get("visible"))
    hint = table.get("hint")
    return Item(
        name=_words(table.get("name"), 100),
        title=_text(table.get("title")),
        group=_text(table.get("group")),
        visible=table["visible"],
        points=points,
        earned=earned,
        state=str(state),
        message=_words(table.get("message"), 300),
        exception=_words(table.get("exception"), 60) or None,
        file=_words(table.get("file"), 200) or None,
        line=table["line"] if type(table.get("line")) is int else None,
        hint=None if hint is None else _text(hint),
        seconds=_number(table, "seconds"),
        details=_words(table.get("details"), 4000, lines=True),
    )


def _failure(table: dict[str, Any]) -> Failure:
    return Failure(
        state=_words(table.get("state"), 20),
        exception=_words(table.get("exception"), 60) or None,
        message=_words(table.get("message"), 300),
        file=_words(table.get("file"), 200) or None,
        line=table["line"] if type(table.get("line")) is int else None,
    )


def _words(value: object, most: int, *, lines: bool = False) -> str:
    """A text without control characters and half characters (a database may refuse either)."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _fault("text", value)
    kept = "".join(c if c.isprintable() or (lines and c == "\n") else " " for c in value[: 2 * most])
    return kept.strip()[:most]


def _text(value: object) -> Text:
    table = _table(value, "text")
    return Text(_words(table.get("zh"), 300), _words(table.get("en"), 300))


def _number(table: dict[str, Any], key: str) -> float:
    value = table.get(key)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not 0 <= value < 1e9
    ):
        raise _fault(key, value)
    return float(value)


def _list(table: dict[str, Any], key: str, most: int) -> list[Any]:
    value = table.get(key)
    if not isinstance(value, list) or len(value) > most:
        raise _fault(key, value)
    return value


def _table(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fault(name, value)
    return value


def _fault(key: str, value: object) -> PlatformFault:
    shown = repr(value)[:80]
    return PlatformFault(
        Text(f"评分程序给出的 {key} 不可信：{shown}", f"the runner's {key} cannot be believed: {shown}"),
        Text("会自动重试；不计分、不占次数", "it is tried again by itself: no score, no try used"),
        reason="figures",
        key=key,
    )
