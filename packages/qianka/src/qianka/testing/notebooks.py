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
    made = {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}
    return {**made, **more}


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
    whole = json.loads(solved)

    def changed(change: Callable[[Cells], Cells]) -> bytes:
        cells = json.loads(json.dumps(whole["cells"]))
        return written({**whole, "cells": change(cells)})

    def answer(cells: Cells) -> int:
        return next(n for n, c in enumerate(cells) if c["metadata"].get("nbgrader", {}).get("grade_id") == first)

    def with_code(source: str) -> bytes:
        def put(cells: Cells) -> Cells:
            cells.insert(answer(cells) + 1, code(source))
            return cells

        return changed(put)

    def twice(cells: Cells) -> Cells:
        at = answer(cells)
        return [*cells[:at], {**cells[at], "source": "def unused():\n    return 0"}, *cells[at:]]

    def split(cells: Cells) -> Cells:
        at = answer(cells)
        return [*cells[: at + 1], {**cells[at], "source": "note = 'the other half'"}, *cells[at + 1 :]]

    def without(cells: Cells) -> Cells:
        return [cell for n, cell in enumerate(cells) if n != answer(cells)]

    def bare(cells: Cells) -> Cells:
        return [{**cell, "metadata": {}, "id": f"new-{n}"} for n, cell in enumerate(cells)]

    def heavy(cells: Cells) -> Cells:
        picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * (9 << 20)}}
        return [*cells[:-1], {**cells[-1], "outputs": [picture]}]

    unread, graded_all, some = ("invalid",), ("accepted",), ("accepted", "below_line")
    return [
        Odd("empty", b"", ("invalid",), 0, 0),
        Odd("page", b"<!DOCTYPE html><html><body>log in</body></html>", unread, 0, 0),
        Odd("truncated", solved[: len(solved) // 2], unread, 0, 0),
        Odd("deep", b'{"cells": ' + b"[" * 200_000, unread, 0, 0),
        Odd("no-cells", written({**whole, "cells": []}), unread, 0, 0),
        Odd("wrong-types", written({"cells": [1, None, {"cell_type": 7}], "nbformat": "x"}), unread, 0, 0),
        Odd("duplicate", changed(twice), graded_all, 100),
        Odd("split", changed(split), graded_all, 100),
        Odd("missing", changed(without), some, 1, 99),
        Odd("bare", changed(bare), graded_all, 100),
        Odd("heavy", changed(heavy), graded_all, 100),
        Odd("endless", with_code("while True:\n    pass"), graded_all, 100),
        Odd("flood", with_code("while True:\n    print('训' * 10_000)"), graded_all, 100),
        Odd("exit", with_code("import os\nos._exit(0)"), graded_all, 100),
        Odd(
            "murder",
            with_code("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"),
            ("below_line", "crashed"),
            0,
            99,
        ),
    ]
