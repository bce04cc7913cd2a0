"""Marked regions of a cell: solutions, hidden tests and mark schemes, cut out for the copy that students get.

Markers are comment lines: `### BEGIN SOLUTION` … `### END SOLUTION`, `### BEGIN HIDDEN TESTS` … `### END HIDDEN TESTS`,
`### BEGIN MARK SCHEME` … (nbgrader); `# SOLUTION` at the end of a line, `# BEGIN SOLUTION`, `# BEGIN PROMPT` (otter).
"""

from __future__ import annotations

import re

HIDDEN = re.compile(r"^\s*#+\s*(BEGIN|END)\s+HIDDEN\s+TESTS?\s*$", re.IGNORECASE)
SOLUTION = re.compile(r"^\s*#+\s*(BEGIN|END)\s+SOLUTION(?:\s+NO\s+PROMPT)?\s*$", re.IGNORECASE)
SCHEME = re.compile(r"^\s*#+\s*(BEGIN|END)\s+MARK\s+SCHEME\s*$", re.IGNORECASE)
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
OTTER_STUB = "..."
_PROMPT = re.compile(r"""^\s*(?:\"{3}|'{3})\s*#\s*(?:BEGIN|END)\s+PROMPT\s*$""", re.IGNORECASE)
_LINE = re.compile(r"^(\s*)(.*?)\s*#\s*SOLUTION(\s+NO\s+PROMPT)?\s*$")
_ASSIGNED = re.compile(r"^([A-Za-z_][\w.\[\]'\", ]*?)\s*=(?!=)")


class BadRegion(Exception):
    """Markers that do not pair; `line` counts from 1 inside the cell, `what` is the marker met or missed."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


def has_hidden(source: str) -> bool:
    """Whether a cell marks hidden tests."""
    return any(HIDDEN.match(line) for line in source.split("\n"))


def has_solution(source: str) -> bool:
    """Whether a cell marks a solution."""
    return any(SOLUTION.match(line) or _LINE.match(line) for line in source.split("\n"))


def without_hidden(source: str) -> str:
    """The cell as students get it. Raises BadRegion."""
    kept, inside = _outside(source, HIDDEN, "HIDDEN TESTS")
    return "\n".join(kept).rstrip("\n") if inside else source


def without_scheme(source: str) -> str:
    """A cell marked by hand, without its mark scheme. Raises BadRegion."""
    return "\n".join(_outside(source, SCHEME, "MARK SCHEME")[0])


def without_solution(source: str) -> str:
    """The cell with a stub in place of each marked solution, as deep as the marker stands. Raises BadRegion."""
    stub = STUB if "###" in source else OTTER_STUB
    out: list[str] = []
    opened: int | None = None
    for number, line in enumerate(source.split("\n"), 1):
        marker = SOLUTION.match(line)
        if marker is None:
            if opened is None and not _PROMPT.match(line):
                out += _without_line(line)
            continue
        begins = marker[1].upper() == "BEGIN"
        if begins == (opened is not None):
            raise BadRegion(number, "SOLUTION")
        opened = number if begins else None
        if begins and "PROMPT" not in line.upper():
            indent = line[: len(line) - len(line.lstrip())]
            out += [indent + text for text in stub.split("\n")]
    if opened is not None:
        raise BadRegion(opened, "SOLUTION")
    return "\n".join(out)


def plain(source: str) -> str:
    """The cell without its markers, everything in it kept: what the teacher runs."""
    return "\n".join(line for line in source.split("\n") if not HIDDEN.match(line) and not SOLUTION.match(line))


def visible_lines(source: str) -> set[int]:
    """Numbers (from 1, in `plain(source)`) of the lines that students know."""
    known: set[int] = set()
    number, hidden = 0, False
    for line in source.split("\n"):
        if (marker := HIDDEN.match(line)) is not None:
            hidden = marker[1].upper() == "BEGIN"
        elif not SOLUTION.match(line):
            number += 1
            if not hidden:
                known.add(number)
    return known


def _outside(source: str, pattern: re.Pattern[str], name: str) -> tuple[list[str], bool]:
    kept: list[str] = []
    opened: int | None = None
    found = False
    for number, line in enumerate(source.split("\n"), 1):
        marker = pattern.match(line)
        if marker is None:
            if opened is None:
                kept.append(line)
            continue
        found = True
        begins = marker[1].upper() == "BEGIN"
        if begins == (opened is not None):
            raise BadRegion(number, name)
        opened = number if begins else None
    if opened is not None:
        raise BadRegion(opened, name)
    return kept, found


def _without_line(line: str) -> list[str]:
    """One line without a solution that a trailing `# SOLUTION` marks."""
    found = _LINE.match(line)
    if found is None or not found[2]:
        return [line]
    if found[3]:
        return []
    assigned = _ASSIGNED.match(found[2])
    return [f"{found[1]}{assigned[1]} = {OTTER_STUB}" if assigned else f"{found[1]}{OTTER_STUB}"]
