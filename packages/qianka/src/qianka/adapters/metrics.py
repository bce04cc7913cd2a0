"""Reads metrics.jsonl, which student code writes: bounded, line by line, believing nothing.

The format is contracts/metrics.schema.json; the kit and ten lines of plain Python write it alike.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

LONGEST_LINE = 16 * 1024
MOST_VALUES = 64
LARGEST_STEP = (1 << 53) - 1
"""integers up to here survive in every JSON reader, a browser's too"""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{0,63}")
_NONFINITE = ("nan", "inf", "-inf")


@dataclass(frozen=True)
class Point:
    """Numbers by name at one step. A value of None was not finite; `nonfinite` says what it was."""

    step: int
    time: float | None
    values: dict[str, float | None]
    nonfinite: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """What was read, where to go on, and how many lines broke the format."""

    points: list[Point]
    next_offset: int
    refused: int


def read(path: Path, offset: int = 0, limit: int = 1 << 20) -> Reading:
    """Points from byte `offset` on, at most `limit` bytes of whole lines; a missing file holds none.

    A line that breaks the format is counted and skipped. A last line without its end is left for
    the next call, unless it is longer than any line may be.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(max(limit, LONGEST_LINE + 1))
    except FileNotFoundError:
        return Reading([], offset, 0)
    whole, end, rest = data.rpartition(b"\n")
    if not end and len(rest) > LONGEST_LINE:
        return Reading([], offset + len(rest), 1)
    lines = [line for line in whole.split(b"\n") if line.strip()]
    points = [point for line in lines if (point := parse(line)) is not None]
    return Reading(points, offset + len(whole) + len(end), len(lines) - len(points))


def parse(line: bytes) -> Point | None:
    """The point that one line tells; None when it breaks the format."""
    if len(line) > LONGEST_LINE:
        return None
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return _point(record) if isinstance(record, dict) else None


def _point(record: dict[str, Any]) -> Point | None:
    step = record.pop("step", None)
    time = record.pop("time", 0.0)
    nonfinite = record.pop("nonfinite", None)
    if isinstance(step, float) and step.is_integer():
        step = int(step)  # JSON knows no difference between 3 and 3.0
    if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= LARGEST_STEP:
        return None
    when = _number(time)
    if when is None or when < 0 or len(record) > MOST_VALUES or not _all_named(record):
        return None
    values = {name: None if value is None else _number(value) for name, value in record.items()}
    if any(number is None and record[name] is not None for name, number in values.items()):
        return None
    if nonfinite is not None and not _is_nonfinite(nonfinite):
        return None
    return Point(step, when or None, values, nonfinite or {})


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _is_nonfinite(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and _all_named(value) and set(value.values()) <= set(_NONFINITE)


def _all_named(record: dict[str, Any]) -> bool:
    return all(_NAME.fullmatch(name) for name in record)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
