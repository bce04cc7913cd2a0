"""Notebooks made from a master: what students start from, and the sample solution. Neither holds a hidden test.

Both are written as nbformat 4.5 without outputs: an output may show an answer.
"""

from __future__ import annotations

import json
import re
from typing import Any

from qianka.notebooks import regions
from qianka.notebooks.master import Master, MasterCell, understand
from qianka.notebooks.reading import Notebook

_ID = re.compile(r"[^A-Za-z0-9_-]+")
_KEPT = ("kernelspec", "language_info")
SHORTEST = 8
"""characters of a line of a hidden test that must not occur in what students get"""


class Leaks(Exception):
    """A line of a hidden test stands elsewhere in what students would get; `line` is that line."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.line = line


def starter(notebook: Notebook, attachments: dict[int, Any] | None = None) -> bytes:
    """The students' copy: solutions replaced by stubs, hidden tests and hints gone. Raises Leaks."""
    master = understand(notebook)
    cells = [
        _written(own, own.starter, attachments) for own in master.cells if own.role != "test" or own.starter.strip()
    ]
    return _checked(_dump(cells, notebook), master)


def solution(notebook: Notebook, attachments: dict[int, Any] | None = None) -> bytes:
    """The teacher's own answers as a hand-in: tests as students know them. Raises Leaks."""
    master = understand(notebook)
    cells = []
    for own in master.cells:
        is_answer = own.role in ("solution", "code", "given", "text")
        source = regions.plain(own.cell.source) if is_answer else own.starter
        if own.role != "test" or source.strip():
            cells.append(_written(own, source, attachments))
    return _checked(_dump(cells, notebook), master)


def hidden_lines(master: Master) -> set[str]:
    """Lines that stand in hidden parts of tests and nowhere in what students know of any cell."""
    known = {line.strip() for own in master.cells for line in own.starter.split("\n")}
    known |= {line.strip() for own in master.cells if own.role == "solution" for line in own.cell.source.split("\n")}
    found: set[str] = set()
    for test in master.tests:
        if test.hidden:
            found |= {line.strip() for line in test.source.split("\n")}
    return {line for line in found - known if len(line) >= SHORTEST}


def _checked(data: bytes, master: Master) -> bytes:
    text = "\n".join(cell["source"] for cell in json.loads(data)["cells"])
    lines = {line.strip() for line in text.split("\n")}
    for line in sorted(hidden_lines(master)):
        if line in lines:
            raise Leaks(line)
    return data


def _written(own: MasterCell, source: str, attachments: dict[int, Any] | None) -> dict[str, Any]:
    cell = own.cell
    marks = {key: value for key, value in cell.nbgrader.items() if key != "checksum"}
    metadata: dict[str, Any] = {"nbgrader": marks} if marks else {}
    if own.role in ("test", "given"):
        metadata |= {"deletable": False, "editable": False}
    made: dict[str, Any] = {
        "id": (_ID.sub("-", own.key)[:64] or f"cell-{cell.number}"),
        "cell_type": cell.kind,
        "metadata": metadata,
        "source": source,
    }
    if cell.kind == "code":
        made |= {"outputs": [], "execution_count": None}
    elif attachments and cell.number in attachments:
        made["attachments"] = attachments[cell.number]
    return made


def _dump(cells: list[dict[str, Any]], notebook: Notebook) -> bytes:
    metadata = {key: value for key, value in notebook.metadata.items() if key in _KEPT}
    used: set[str] = set()
    for cell in cells:
        while cell["id"] in used:
            cell["id"] = f"{cell['id'][:58]}-{len(used)}"
        used.add(cell["id"])
    table = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(table, ensure_ascii=False, indent=1) + "\n").encode()
