"""Students' notebooks for tests and benchmarks: good ones, and a cabinet of damaged and hostile ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Cells = list[dict[str, Any]]


@dataclass(frozen=True)
class Odd:
    """One odd notebook: its file, and what it must come to."""

    name: str
    data: bytes
    verdicts: tuple[str, ...]
    least: float = 0.0
    most: float = 100.0


def code(source: str, key: str | None = None, *, solution: bool = False, **more: Any) -> dict[str, Any]:
    """A code cell; with `key`, one that nbgrader knows."""
    metadata: dict[str, Any] = {}
    if key is not None:
        flags = {"grade": False, "solution": solution, "locked": False, "schema_version": 3, "task": False}
        metadata = {"nbgrader": {**flags, "grade_id": key}}
    made: dict[str, Any] = {"cell_type": "code", "metadata": metadata, "source": source}
    return {**made, "outputs": [], "execution_count": None, **more}


def graded(source: str, key: str, points: float = 1, **own: Any) -> dict[str, Any]:
    """A test cell of a master; `own`: metadata.qianka."""
    made = code(source, key)
    made["metadata"]["nbgrader"] |= {"grade": True, "locked": True, "points": points}
    if own:
        made["metadata"]["qianka"] = own
    return made


def locked(source: str, key: str) -> dict[str, Any]:
    """A cell that students are given and may not change."""
    made = code(source, key)
    made["metadata"]["nbgrader"]["locked"] = True
    return made


def notebook(*cells: dict[str, Any], version: int = 4) -> dict[str, Any]:
    """A notebook of nbformat 4."""
    return {"nbformat": version, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}


def written(table: object) -> bytes:
    """As it lies on disk."""
    return json.dumps(table, ensure_ascii=False).encode("utf-8", "surrogatepass")


def odd_ones(solved: bytes, first: str) -> list[Odd]:
    """Fifteen odd notebooks made of a solved one, in which `first` is the grade_id of an answer.

    Six are no notebooks, five were cut up but are graded, four attack the run.
    """
    return [*_unreadable(solved), *_cut_up(solved, first), *_hostile(solved, first)]


def _unreadable(solved: bytes) -> list[Odd]:
    whole = json.loads(solved)
    files = {
        "empty": b"",
        "page": b"<!DOCTYPE html><html><body>log in</body></html>",
        "truncated": solved[: len(solved) // 2],
        "deep": b'{"cells": ' + b"[" * 200_000,
        "no-cells": written({**whole, "cells": []}),
        "wrong-types": written({"cells": [1, None, {"cell_type": 7}], "nbformat": "x"}),
    }
    return [Odd(name, data, ("invalid",), 0, 0) for name, data in files.items()]


def _cut_up(solved: bytes, first: str) -> list[Odd]:
    def twice(cells: Cells, at: int) -> Cells:
        return [*cells[:at], {**cells[at], "source": "def unused():\n    return 0"}, *cells[at:]]

    def split(cells: Cells, at: int) -> Cells:
        return [*cells[: at + 1], {**cells[at], "source": "note = 'the other half'"}, *cells[at + 1 :]]

    def without(cells: Cells, at: int) -> Cells:
        return [*cells[:at], *cells[at + 1 :]]

    def bare(cells: Cells, _: int) -> Cells:
        return [{**cell, "metadata": {}, "id": f"new-{n}"} for n, cell in enumerate(cells)]

    def heavy(cells: Cells, _: int) -> Cells:
        picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * (9 << 20)}}
        return [*cells[:-1], {**cells[-1], "outputs": [picture]}]

    whole = [("duplicate", twice), ("split", split), ("bare", bare), ("heavy", heavy)]
    made = [Odd(name, _changed(solved, first, change), ("accepted",), 100) for name, change in whole]
    return [*made, Odd("missing", _changed(solved, first, without), ("accepted", "below_line"), 1, 99)]


def _hostile(solved: bytes, first: str) -> list[Odd]:
    cells = {
        "endless": "while True:\n    pass",
        "flood": "while True:\n    print('训' * 10_000)",
        "exit": "import os\nos._exit(0)",
    }
    murder = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"
    made = [Odd(name, _with(solved, first, source), ("accepted",), 100) for name, source in cells.items()]
    return [*made, Odd("murder", _with(solved, first, murder), ("below_line", "crashed"), 0, 99)]


def _with(solved: bytes, first: str, source: str) -> bytes:
    """With a cell of one's own behind an answer."""
    return _changed(solved, first, lambda cells, at: [*cells[: at + 1], code(source), *cells[at + 1 :]])


def _changed(solved: bytes, first: str, change: Callable[[Cells, int], Cells]) -> bytes:
    whole = json.loads(solved)
    cells: Cells = whole["cells"]
    at = next(n for n, c in enumerate(cells) if c["metadata"].get("nbgrader", {}).get("grade_id") == first)
    return written({**whole, "cells": change(cells, at)})
