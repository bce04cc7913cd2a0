"""Reads any .ipynb into plain cells, in bounded memory; a file that is none is refused with the reason.

Understood: nbformat 3 and 4, UTF-8 with or without a byte order mark, UTF-16. Outputs are dropped. What is odd
but does not stop the reading becomes a Note. Format: https://nbformat.readthedocs.io/en/latest/format_description.html
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass, field
from typing import Any

MIB = 1 << 20
MAX_BYTES = 16 * MIB
MAX_VALUES = 2_000_000
"""JSON values in one file: bounds the memory of parsing, which is many times the file's size"""
MAX_CELLS = 2000
MAX_SOURCE = 1 * MIB
"""characters of one cell"""
MAX_NOTES = 50
MAX_ID = 200
KINDS = ("code", "markdown", "raw")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"\S")


class Unreadable(Exception):
    """A file that is no notebook. `code` names the reason, `line` the place where one is known."""

    def __init__(self, code: str, line: int | None = None, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.line = line
        self.detail = detail


@dataclass(frozen=True)
class Note:
    """Something odd: what, in which cell (counted from 1; None: in the file), and the cell's key or a figure."""

    code: str
    cell: int | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell. `number` counts from 1 over all cells of the file, as people count."""

    number: int
    kind: str
    """code, markdown or raw"""
    source: str
    id: str | None = None
    """the cell id of nbformat 4.5"""
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def nbgrader(self) -> dict[str, Any]:
        """nbgrader's metadata; empty where there are none."""
        found = self.metadata.get("nbgrader")
        return found if isinstance(found, dict) else {}

    @property
    def grade_id(self) -> str | None:
        """nbgrader's name of the cell."""
        found = self.nbgrader.get("grade_id")
        return found[:MAX_ID] if isinstance(found, str) and found.strip() else None

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it."""
        return _WORD.search(self.source) is None


@dataclass(frozen=True, kw_only=True)
class Notebook:
    """The cells of a file, what was odd about it, and the kernel's language."""

    cells: tuple[Cell, ...]
    notes: tuple[Note, ...]
    language: str
    version: int
    metadata: dict[str, Any] = field(default_factory=dict)


def read_file(path: str, max_bytes: int = MAX_BYTES) -> Notebook:
    """The notebook at `path`; a link, a device or a pipe is not followed. Raises Unreadable."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise Unreadable("missing") from None
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode):
        os.close(handle)
        raise Unreadable("missing")
    with open(handle, "rb") as file:
        if facts.st_size > max_bytes:
            raise Unreadable("too_big", detail=str(facts.st_size))
        return read(file.read(max_bytes + 1), max_bytes)


def read(data: bytes, max_bytes: int = MAX_BYTES) -> Notebook:
    """The notebook in `data`. Raises Unreadable, and nothing else."""
    if len(data) > max_bytes:
        raise Unreadable("too_big", detail=str(len(data)))
    if not data.strip(b" \t\r\n\0"):
        raise Unreadable("empty_file")
    notes: list[Note] = []
    value = _parse(_decode(data, notes), notes)
    if not isinstance(value, dict):
        raise Unreadable("no_notebook")
    version = _version(value, notes)
    raw = _raw_cells(value, version)
    if not raw:
        raise Unreadable("no_cells")
    if len(raw) > MAX_CELLS:
        raise Unreadable("too_many_cells", detail=str(len(raw)))
    cells = tuple(cell for number, one in enumerate(raw, 1) if (cell := _cell(number, one, notes)) is not None)
    if not cells:
        raise Unreadable("no_cells")
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return Notebook(
        cells=cells,
        notes=tuple(notes[:MAX_NOTES]),
        language=_language(metadata),
        version=version,
        metadata=metadata,
    )


def _decode(data: bytes, notes: list[Note]) -> str:
    for magic, code in ((b"PK\x03\x04", "zip"), (b"%PDF", "pdf"), (b"\x1f\x8b", "zip"), (b"\x89PNG", "picture")):
        if data.startswith(magic):
            raise Unreadable("other_format", detail=code)
    encoding = json.detect_encoding(data)
    if encoding != "utf-8":
        notes.append(Note("encoding", detail=encoding.removesuffix("-sig") if encoding == "utf-8-sig" else encoding))
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        # Lone surrogates written as bytes by broken tools are no reason to refuse a whole file.
        repaired = data.decode(encoding, "surrogatepass") if encoding.startswith("utf-8") and _passes(data) else None
        if repaired is None:
            raise Unreadable("not_utf8", line=data.count(b"\n", 0, error.start) + 1) from None
        return repaired


def _passes(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _parse(text: str, notes: list[Note]) -> object:
    start = text.lstrip("\ufeff \t\r\n")[:200]
    if not start.startswith("{"):
        raise Unreadable(
            "other_format" if start[:1] in "<#%!" or _is_python(start) else "no_notebook", 1, _looks(start)
        )
    if re.search(r"^(<{7} |={7}$|>{7} )", text, re.MULTILINE):
        raise Unreadable("merge_conflict", line=_first_line(text, r"^<{7} "))
    _bound(text)
    seen: set[str] = set()

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) != len(found):
            seen.add("duplicate_key")
        return made

    def constant(name: str) -> None:
        seen.add("nan")

    def number(digits: str) -> int:
        return int(digits) if len(digits) < 100 else 0

    try:
        # The last of two equal keys counts, as in Jupyter itself.
        value = json.loads(text.lstrip("\ufeff"), object_pairs_hook=pairs, parse_constant=constant, parse_int=number)
    except json.JSONDecodeError as error:
        whole = text.rstrip()
        is_cut = error.pos >= len(whole) or "Unterminated" in error.msg or not whole.endswith("}")
        raise Unreadable("truncated" if is_cut else "not_json", line=error.lineno) from None
    except RecursionError:
        raise Unreadable("too_deep") from None
    except (ValueError, MemoryError):
        raise Unreadable("not_json") from None
    notes += [Note(code) for code in sorted(seen)]
    return value


def _bound(text: str) -> None:
    """Refuse what would need too much memory as objects. Strings are taken out by means that need none per escape."""
    if text.count('"') > MAX_VALUES * 2:
        raise Unreadable("too_many_values")
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    values = outside.count(",") + outside.count("[") + outside.count("{")
    if values > MAX_VALUES:
        raise Unreadable("too_many_values", detail=str(values))


def _looks(start: str) -> str:
    if start.startswith("<"):
        return "html"
    if start.startswith("version https://git-lfs"):
        return "lfs"
    return "python" if start.startswith(("#", "%")) or _is_python(start) else ""


def _is_python(start: str) -> bool:
    return start.startswith(("import ", "from ", "def ", '"""', "version https://git-lfs"))


def _first_line(text: str, pattern: str) -> int | None:
    found = re.search(pattern, text, re.MULTILINE)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def _version(value: dict[str, Any], notes: list[Note]) -> int:
    version = value.get("nbformat")
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= 100:
        notes.append(Note("no_version"))
        return 4 if isinstance(value.get("cells"), list) else 3
    if version > 4:
        notes.append(Note("new_version", detail=str(version)))
    return version


def _raw_cells(value: dict[str, Any], version: int) -> list[Any]:
    cells = value.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = value.get("worksheets")
    if not isinstance(sheets, list):
        raise Unreadable("no_notebook" if "nbformat" not in value else "no_cells")
    found: list[Any] = []
    for sheet in sheets:
        inside = sheet.get("cells") if isinstance(sheet, dict) else None
        found += inside if isinstance(inside, list) else []
    return found


def _cell(number: int, raw: object, notes: list[Note]) -> Cell | None:
    if not isinstance(raw, dict):
        notes.append(Note("bad_cell", number))
        return None
    kind = raw.get("cell_type")
    source = _source(raw.get("source", raw.get("input")))
    if kind in ("heading", "html"):  # nbformat 3
        kind = "markdown"
    if kind not in KINDS or source is None:
        notes.append(Note("bad_cell", number))
        if source is None:
            return None
        kind = "raw"
    if len(source) > MAX_SOURCE:
        notes.append(Note("cell_too_big", number, str(len(source))))
        return None
    metadata = raw.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        notes.append(Note("bad_metadata", number))
    identity = raw.get("id")
    return Cell(
        number=number,
        kind=str(kind),
        source=_clean(source, number, notes),
        id=identity[:MAX_ID] if isinstance(identity, str) and identity else None,
        metadata=metadata if isinstance(metadata, dict) else {},
    )


def _source(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return None


def _clean(source: str, number: int, notes: list[Note]) -> str:
    """Source that can be compiled and sent: no lone surrogates, no NUL, one kind of line end."""
    if _SURROGATE.search(source):
        notes.append(Note("surrogate", number))
        source = _SURROGATE.sub("\ufffd", source)
    if "\0" in source:
        notes.append(Note("nul", number))
        source = source.replace("\0", "")
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _language(metadata: dict[str, Any]) -> str:
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        inside = metadata.get(table)
        found = inside.get(key) if isinstance(inside, dict) else None
        if isinstance(found, str) and found.strip():
            return found.strip().lower()[:40]
    return "python"
