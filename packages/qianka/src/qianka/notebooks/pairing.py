"""Finds a master's cells in a student's notebook, however it was cut up, and says in which order things run.

Cells are found by nbgrader's grade_id, then by cell id, then by what they say: a test cell by its text, an answer by
the functions it defines. Every copy of an answer runs, in the order of the notebook, so the last definition counts,
as with "Run All"; that also serves answers split in two. The student's copies of test cells never run.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

from qianka.notebooks.master import Master, MasterCell, defined
from qianka.notebooks.reading import Cell, Note, Notebook

MAX_NOTES = 60
_OTTER = re.compile(
    r"^\s*(?:import otter\b.*|from otter\b.*|\w+\s*=\s*otter\.Notebook\(.*\)|grader\.\w+\(.*\))\s*(?:#.*)?$"
)
_CHECK = re.compile(r"""\bgrader\.check\(\s*["']([^"']+)["']""")


@dataclass(frozen=True)
class Step:
    """One thing to run: a cell of the student's (`number`), a cell of the master's, or a test."""

    kind: str
    """cell, given or test"""
    number: int
    """of the cell, in the student's notebook or (given, test) in the master"""
    key: str = ""


@dataclass
class Pairing:
    """Steps in order; what was found odd; the numbers of the student's cells that hold each master cell."""

    steps: list[Step] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    found: dict[str, list[int]] = field(default_factory=dict)


def pair(student: Notebook, master: Master) -> Pairing:
    """How `student` is to be run under `master`'s tests. Never raises."""
    search = _Search(student, master)
    search.by_marks()
    search.by_text()
    made = Pairing(notes=[*student.notes], found={key: [c.number for c in cells] for key, cells in search.held.items()})
    for own in master.cells:
        made.notes += _judge(own, search)
    made.notes += _moved(search)
    made.steps = _order(search)
    made.notes = made.notes[:MAX_NOTES]
    return made


class _Search:
    """Which cells of the student hold which cells of the master."""

    def __init__(self, student: Notebook, master: Master) -> None:
        self.student = student
        self.master = master
        self.keys = {own.key: own for own in master.cells}
        self.held: dict[str, list[Cell]] = {}
        self.owner: dict[int, str] = {}
        self.guessed: set[str] = set()

    def by_marks(self) -> None:
        """By grade_id, cell id, and otter's `grader.check("q1")`."""
        ids = {own.cell.id: own.key for own in self.master.cells if own.cell.id}
        for cell in self.student.cells:
            key = cell.grade_id if cell.grade_id in self.keys else ids.get(cell.id) if cell.id else None
            if key is not None:
                self._hold(key, cell)

    def by_text(self) -> None:
        """What lost its marks: tests by their text, answers by the functions they define."""
        free = [cell for cell in self.student.cells if cell.kind == "code" and cell.number not in self.owner]
        texts: dict[str, list[Cell]] = {}
        for cell in free:
            texts.setdefault(squeezed(cell.source), []).append(cell)
        for own in self.master.cells:
            if own.key in self.held or own.role not in ("test", "given") or not squeezed(own.starter):
                continue
            for cell in texts.get(squeezed(own.starter), ()):
                if cell.number not in self.owner:
                    self._hold(own.key, cell)
        for own in self.master.cells:
            if own.role != "solution" or not own.names or any(c.kind == "code" for c in self.held.get(own.key, ())):
                continue
            for cell in free:
                if cell.number not in self.owner and own.names & defined(cell.source):
                    self._hold(own.key, cell)
                    self.guessed.add(own.key)

    def _hold(self, key: str, cell: Cell) -> None:
        self.held.setdefault(key, []).append(cell)
        self.owner[cell.number] = key

    def code(self, key: str) -> list[Cell]:
        """The code cells that hold `key`."""
        return [cell for cell in self.held.get(key, ()) if cell.kind == "code"]


def squeezed(source: str) -> str:
    """Source without what editors change: blank lines, trailing blanks."""
    return "\n".join(line.rstrip() for line in source.split("\n") if line.strip())


def is_otter(source: str) -> bool:
    """Whether a cell holds otter's own calls and nothing else: they are not run."""
    lines = [line for line in source.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and all(_OTTER.match(line) for line in lines)


def _judge(own: MasterCell, search: _Search) -> list[Note]:
    """What is to be said of one cell of the master."""
    cells, code = search.held.get(own.key, []), search.code(own.key)
    if own.role in ("solution", "test", "given") and cells and not code:
        return [Note("type_changed", cells[0].number, own.key)]
    if own.role == "solution":
        return _judge_solution(own, code, search)
    if own.role in ("test", "given"):
        if not code:
            return [Note(f"{own.role}_missing", None, own.key)] if squeezed(own.starter) else []
        notes = [Note("duplicate", cell.number, own.key) for cell in code[1:]]
        changed = [cell for cell in code if squeezed(cell.source) != squeezed(own.starter)]
        return notes + [Note(f"{own.role}_changed", cell.number, own.key) for cell in changed[:1]]
    return []


def _judge_solution(own: MasterCell, code: list[Cell], search: _Search) -> list[Note]:
    if not code:
        for cell in search.student.cells:
            if cell.kind == "code" and own.names and own.names <= defined(cell.source):
                return [Note("merged", cell.number, own.key)]
        return [Note("missing", None, own.key)]
    notes = []
    if own.key in search.guessed:
        notes.append(Note("marks_lost", code[0].number, own.key))
    if len(code) > 1:
        is_split = all(not _alike(code[0].source, other.source) for other in code[1:])
        notes += [Note("split" if is_split else "duplicate", cell.number, own.key) for cell in code[1:]]
    if all(cell.is_blank for cell in code):
        notes.append(Note("blank", code[0].number, own.key))
    return notes


def _alike(one: str, other: str) -> bool:
    shared = defined(one) & defined(other)
    if shared:
        return True
    return difflib.SequenceMatcher(None, one[:2000], other[:2000]).quick_ratio() > 0.9 and len(other.strip()) > 20


def _moved(search: _Search) -> list[Note]:
    """Answers that stand in another order than the master's."""
    firsts = [(search.code(own.key)[0].number, own.key) for own in search.master.cells
              if own.role == "solution" and search.code(own.key)]  # fmt: skip
    notes, highest = [], 0
    for number, key in firsts:
        if number < highest:
            notes.append(Note("moved", number, key))
        highest = max(highest, number)
    return notes


def _order(search: _Search) -> list[Step]:
    last = search.student.cells[-1].number if search.student.cells else 0
    after: dict[int, list[Step]] = {}
    before: dict[int, list[Step]] = {}
    between: list[MasterCell] = []
    earlier: list[MasterCell] = []
    for own in search.master.cells:
        if own.role == "test":
            place = _place(own, between, earlier, search)
            after.setdefault(last if place is None else place, []).append(Step("test", own.cell.number, own.key))
            between = []
        elif own.role == "given" and not search.code(own.key):
            follows = [c.number for later in _later(search, own) for c in search.held.get(later.key, ())]
            before.setdefault(min(follows, default=1), []).append(Step("given", own.cell.number, own.key))
        between.append(own)
        earlier.append(own)
    steps: list[Step] = [*after.get(0, ())]
    for cell in search.student.cells:
        steps += before.get(cell.number, ())
        steps += _own_steps(cell, search)
        steps += after.get(cell.number, ())
    reached = {step.key for step in steps if step.kind == "test"}
    return steps + [step for listed in after.values() for step in listed if step.key not in reached]


def _own_steps(cell: Cell, search: _Search) -> list[Step]:
    """What runs in the place of one cell of the student's."""
    if cell.kind != "code" or cell.is_blank or is_otter(cell.source):
        return []
    own = search.keys.get(search.owner.get(cell.number, ""))
    if own is not None and own.role == "test":
        return []
    if own is not None and own.role == "given" and squeezed(cell.source) != squeezed(own.starter):
        is_first = search.code(own.key)[0] is cell
        return [Step("given", own.cell.number, own.key)] if is_first else []
    return [Step("cell", cell.number, "" if own is None else own.key)]


def _place(own: MasterCell, between: list[MasterCell], earlier: list[MasterCell], search: _Search) -> int | None:
    """The student's cell after which a test runs; None: after all of them."""
    copies = search.code(own.key)
    places = [copies[0].number] if copies else []
    places += [cell.number for other in between for cell in search.held.get(other.key, ())]
    for cell in search.student.cells:
        found = _CHECK.search(cell.source) if cell.kind == "code" else None
        if found is not None and own.key.startswith(found[1]) and own.key[len(found[1]) :][:1] in ("", "-", "."):
            places.append(cell.number)
    if copies:
        return max(places)
    places = places or [cell.number for other in earlier for cell in search.held.get(other.key, ())]
    reached = max(places, default=0)
    # Without a copy of its own a test waits for all that may belong to it: until a later question begins.
    after = [c.number for later in _later(search, own) for c in search.held.get(later.key, ()) if c.number > reached]
    if not after:
        return None
    return max((cell.number for cell in search.student.cells if reached <= cell.number < min(after)), default=reached)


def _later(search: _Search, own: MasterCell) -> list[MasterCell]:
    cells = list(search.master.cells)
    return cells[cells.index(own) + 1 :]
