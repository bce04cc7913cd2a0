"""The teacher's notebook: what each cell is for, and the tests with their points.

Roles follow nbgrader's cell metadata (schema versions 1 to 3); `metadata.qianka` adds `name`, `hidden`, `hint`
and `hint_en` to a test. https://nbgrader.readthedocs.io/en/stable/contributor_guide/metadata.html
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from qianka.notebooks import regions
from qianka.notebooks.reading import Cell, Note, Notebook

MAX_POINTS = 10_000.0
_DEFINED = re.compile(r"^(?:async\s+)?(?:def|class)\s+([^\W\d]\w*)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Test:
    """One graded test cell."""

    key: str
    name: str
    """what students and the grade book see"""
    number: int
    """of the cell in the master"""
    points: float
    source: str
    """all of it, markers taken out"""
    visible: str
    """the part that students know; empty when there is none"""
    hidden: bool
    """whether there is a part that students do not know"""
    hint: tuple[str, str] | None = None
    """Chinese and English"""

    @property
    def known(self) -> str:
        """What of it may run where students can read of it: all, or the part they know."""
        return self.visible if self.hidden else self.source


@dataclass(frozen=True, kw_only=True)
class MasterCell:
    """One cell of the master. `role`: solution, test, given (locked code), code, manual or text."""

    key: str
    role: str
    cell: Cell
    starter: str
    """the source as students got it"""

    @property
    def names(self) -> frozenset[str]:
        """Functions and classes that students are to define here."""
        return frozenset(_DEFINED.findall(regions.plain(self.cell.source)))


@dataclass(frozen=True, kw_only=True)
class Master:
    """A master notebook; `notes` are its mistakes."""

    cells: tuple[MasterCell, ...]
    tests: tuple[Test, ...]
    notes: tuple[Note, ...]
    language: str

    @property
    def points(self) -> float:
        """What all tests together are worth."""
        return sum(test.points for test in self.tests)

    @property
    def has_hidden(self) -> bool:
        """Whether a test has a part that students do not know."""
        return any(test.hidden for test in self.tests)

    def test(self, key: str) -> Test:
        """The test called `key`. Raises KeyError."""
        return {test.key: test for test in self.tests}[key]


def understand(notebook: Notebook) -> Master:
    """The roles of all cells; mistakes become notes, none is raised."""
    notes: list[Note] = [note for note in notebook.notes if note.code in ("bad_cell", "cell_too_big")]
    cells, tests, keys = [], [], set()
    for cell in notebook.cells:
        key = cell.grade_id or cell.id or f"cell-{cell.number}"
        if key in keys:
            notes.append(Note("duplicate_key_in_master", cell.number, key))
            key = f"{key}#{cell.number}"
        keys.add(key)
        role = role_of(cell)
        try:
            starter = _starter(cell, role)
        except regions.BadRegion as error:
            notes.append(Note("bad_region", cell.number, f"{error.what}:{error.line}"))
            starter = ""
        cells.append(MasterCell(key=key, role=role, cell=cell, starter=starter))
        if role == "test":
            tests.append(_test(cell, key, starter, notes))
        elif regions.has_hidden(cell.source):
            notes.append(Note("hidden_outside_test", cell.number, key))
    if not tests:
        notes.append(Note("no_tests"))
    elif sum(test.points for test in tests) <= 0:
        notes.append(Note("no_points"))
    if not notebook.language.startswith(("python", "ipython")):
        notes.append(Note("language", detail=notebook.language))
    return Master(cells=tuple(cells), tests=tuple(tests), notes=tuple(notes), language=notebook.language)


def role_of(cell: Cell) -> str:
    """What a cell of a master is for."""
    marks = cell.nbgrader
    grade, solution = marks.get("grade") is True, marks.get("solution") is True
    if marks.get("task") is True or (grade and solution):
        return "manual"
    if cell.kind != "code":
        return "text"
    if grade:
        return "test"
    if solution or regions.has_solution(cell.source):
        return "solution"
    return "given" if marks.get("locked") is True else "code"


def defined(source: str) -> set[str]:
    """Names of functions and classes at the top level, found without parsing: sources may be anything."""
    return set(_DEFINED.findall(source))


def extras(cell: Cell) -> dict[str, Any]:
    """`metadata.qianka`; empty where there are none."""
    found = cell.metadata.get("qianka")
    return found if isinstance(found, dict) else {}


def _starter(cell: Cell, role: str) -> str:
    if role == "test":
        return "" if extras(cell).get("hidden") is True else regions.without_hidden(cell.source)
    if regions.has_solution(cell.source):
        return regions.without_scheme(regions.without_solution(cell.source))
    if cell.nbgrader.get("solution") is True:  # nbgrader: an answer without markers is an answer all through
        return regions.STUB if cell.kind == "code" else "YOUR ANSWER HERE"
    return regions.without_scheme(cell.source)


def _test(cell: Cell, key: str, starter: str, notes: list[Note]) -> Test:
    own, plain = extras(cell), regions.plain(cell.source)
    points = cell.nbgrader.get("points", 0)
    is_number = isinstance(points, (int, float)) and not isinstance(points, bool)
    if not is_number or not math.isfinite(points) or not 0 <= points <= MAX_POINTS:
        notes.append(Note("bad_points", cell.number, key))
        points = 0
    if not plain.strip():
        notes.append(Note("empty_test", cell.number, key))
    hint, english = own.get("hint"), own.get("hint_en")
    pair = None
    if isinstance(hint, str) or isinstance(english, str):
        first = hint if isinstance(hint, str) else str(english)
        pair = (first[:1000], (english if isinstance(english, str) else first)[:1000])
    name = own.get("name")
    return Test(
        key=key,
        name=(name if isinstance(name, str) and name.strip() else key)[:80],
        number=cell.number,
        points=float(points),
        source=plain,
        visible=starter if starter.strip() else "",
        hidden=own.get("hidden") is True or regions.has_hidden(cell.source),
        hint=pair,
    )
