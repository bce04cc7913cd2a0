"""Where a key stands in a TOML text: parsers forget it, but an error must name the line."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_POSITION = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)")

KeyPath = tuple[str, ...]


def scan(text: str) -> dict[KeyPath, int]:
    """Line (from 1) of every table and key; the n-th `[[check]]` is the path ("check", "n"), n from 0."""
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    closing = ""
    for number, line in enumerate(text.splitlines(), 1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                index = counts.get(table, 0)
                counts[table] = index + 1
                lines.setdefault(table, number)
                table = (*table, str(index))
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault(table + _parts(key[1]), number)
            closing = _opens(line[key.end() :])
    return lines


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int:
    """The line of `path`, or of the nearest table around it; 1 when nothing is known."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return 1


def line_of_error(message: str, text: str) -> int:
    """The line that a TOML parser's message speaks of."""
    found = _POSITION.search(message)
    if found is None:
        return 1
    return int(found[1]) if found[1] else max(1, len(text.splitlines()))


def _parts(name: str) -> KeyPath:
    return tuple(part.strip().strip("\"'") for part in name.split("."))


def _opens(rest: str) -> str:
    """The quotes that end a multi-line string begun in `rest`, or nothing."""
    for quotes in ('"""', "'''"):
        if rest.lstrip().startswith(quotes) and rest.count(quotes) % 2 == 1:
            return quotes
    return ""
