"""Reads a TOML table key by key, gathers every mistake with file, line and key instead of stopping at the first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from qianka.errors import Text
from qianka.tomlfile.lines import KeyPath, line_of


@dataclass(frozen=True)
class Problem:
    """One mistake in a file: where (the file, a line, a key) and what."""

    file: str
    line: int
    key: str
    text: Text

    def say(self) -> Text:
        """`lab.toml:12: train.wall: …` in both languages."""
        where = f"{self.file}:{self.line}: {self.key}" if self.key else f"{self.file}:{self.line}"
        return Text(f"{where}：{self.text.zh}", f"{where}: {self.text.en}")


class Notes:
    """The mistakes found so far in `file`, and the lines of the keys they belong to."""

    def __init__(self, lines: dict[KeyPath, int], file: str) -> None:
        self.lines = lines
        self.file = file
        self.problems: list[Problem] = []

    def add(self, path: KeyPath, zh: str, en: str) -> None:
        """Note a mistake at the key `path`."""
        self.problems.append(Problem(self.file, line_of(self.lines, path), ".".join(path), Text(zh, en)))


class Table:
    """One TOML table; every read names the key, its default and its bounds. Call `close` at the end."""

    def __init__(self, values: dict[str, Any], path: KeyPath, notes: Notes) -> None:
        self.values = values
        self.path = path
        self.notes = notes
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def bad(self, key: str, zh: str, en: str) -> None:
        """Note a mistake at `key` of this table."""
        self.notes.add((*self.path, key) if key else self.path, zh, en)

    def text(self, key: str, default: str | None = None, choices: tuple[str, ...] = ()) -> str:
        """A string that is not empty; one of `choices` when given."""
        value = self._take(key, default)
        if not isinstance(value, str) or not value.strip():
            if value is not None:
                self.bad(key, f"应是非空文字，得到 {value!r}", f"must be a text that is not empty, got {value!r}")
            return default or (choices[0] if choices else "")
        if choices and value not in choices:
            listed = ", ".join(choices)
            self.bad(key, f"应是 {listed} 之一，得到 {value!r}", f"must be one of {listed}, got {value!r}")
            return default or choices[0]
        return value

    def maybe_text(self, key: str) -> str | None:
        """A string, or None when the key is absent."""
        self._known.append(key)
        return self.text(key) if key in self.values else None

    def number(self, key: str, default: float | None, low: float, high: float) -> float:
        """A finite number within the bounds."""
        value = self._take(key, default)
        if value is None:
            return low
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.bad(key, f"应是数字，得到 {value!r}", f"must be a number, got {value!r}")
            return low
        if not low <= value <= high:
            bounds = f"{_shown(low)}..{_shown(high)}"
            self.bad(key, f"应在 {bounds} 之间，得到 {value!r}", f"must lie in {bounds}, got {value!r}")
            return low
        return float(value)

    def maybe_number(self, key: str, low: float, high: float) -> float | None:
        """A number, or None when the key is absent."""
        self._known.append(key)
        return self.number(key, None, low, high) if key in self.values else None

    def integer(self, key: str, default: int | None, low: int, high: int) -> int:
        """A whole number within the bounds."""
        value = self.values.get(key, default)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            self._known.append(key)
            self.bad(key, f"应是整数，得到 {value!r}", f"must be a whole number, got {value!r}")
            return low
        return int(self.number(key, default, low, high))

    def boolean(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            self.bad(key, f"应是 true 或 false，得到 {value!r}", f"must be true or false, got {value!r}")
            return default
        return value

    def strings(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of strings, none of them empty."""
        value = self._take(key, None if default is None else list(default))
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.bad(key, f"应是文字的列表，得到 {value!r}", f"must be a list of texts, got {value!r}")
            return default or ()
        return tuple(value)

    def table(self, key: str, required: bool = False) -> Table:
        """The table under `key`; an empty one when it is absent or of another type."""
        value = self._take(key, None if required else {})
        if value is not None and not isinstance(value, dict):
            self.bad(key, f"应是一个表 [{key}]", f"must be a table [{key}]")
        return Table(value if isinstance(value, dict) else {}, (*self.path, key), self.notes)

    def tables(self, key: str) -> list[Table]:
        """The tables `[[key]]`."""
        value = self._take(key, None)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.bad(key, f"应写成 [[{key}]]", f"must be written as [[{key}]]")
            return []
        return [Table(item, (*self.path, key, str(index)), self.notes) for index, item in enumerate(value)]

    def take(self, key: str) -> Any:
        """The bare value, for shapes of one's own; None when absent."""
        self._known.append(key)
        return self.values.get(key)

    def close(self) -> None:
        """Note every key that nobody asked for, with the likely one."""
        for key in self.values:
            if key not in self._known:
                listed = ", ".join(dict.fromkeys(self._known))
                self.bad(key, f"没有这个键；可用的：{listed}", f"there is no such key; there are: {listed}")

    def _take(self, key: str, default: Any) -> Any:
        self._known.append(key)
        if key in self.values:
            return self.values[key]
        if default is None:
            self.bad(key, "缺少这个键", "this key is missing")
        return default


def _shown(bound: float) -> str:
    return str(int(bound)) if float(bound).is_integer() else f"{bound:g}"
