"""What an importer found: a master notebook in our form, files beside it, and what was not carried over."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qianka.errors import BadInput, Text
from qianka.notebooks.reading import MAX_BYTES, Cell, Notebook, Unreadable, read

LITTER = (".ipynb_checkpoints", "__pycache__", ".git", ".OTTER_LOG", ".DS_Store")


@dataclass(frozen=True)
class Remark:
    """One line of an import's report; `carried` False: the teacher has to see to it."""

    carried: bool
    text: Text


@dataclass(kw_only=True)
class Assignment:
    """An assignment in our form."""

    system: str
    name: str
    title: str
    notebook: Notebook
    """the master: nbgrader's metadata, hints in metadata.qianka"""
    attachments: dict[int, Any] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    """what stands beside the notebook, by path"""
    solved: bool = True
    """whether the notebook holds the answers"""
    remarks: list[Remark] = field(default_factory=list)

    def carried(self, zh: str, en: str) -> None:
        """Note something that was carried over."""
        self.remarks.append(Remark(True, Text(zh, en)))

    def left(self, zh: str, en: str) -> None:
        """Note something that was not."""
        self.remarks.append(Remark(False, Text(zh, en)))


def open_notebook(path: Path) -> tuple[Notebook, dict[int, Any]]:
    """A teacher's notebook and the attachments (pictures) of its cells. Raises BadInput."""
    data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else b""
    try:
        notebook = read(data)
    except Unreadable as error:
        raise BadInput(
            Text(
                f"{path.name} 不是能读的 notebook：{error.code}",
                f"{path.name} is no notebook that can be read: {error.code}",
            ),
            Text("用 Jupyter 打开并另存一次", "open it in Jupyter and save it again"),
            reason="notebook",
        ) from error
    raw = json.loads(data.decode("utf-8-sig"))
    cells = raw.get("cells", []) if isinstance(raw, dict) else []
    found = {n: c["attachments"] for n, c in enumerate(cells, 1) if isinstance(c, dict) and c.get("attachments")}
    return notebook, found


def outputs(path: Path) -> dict[int, str]:
    """The text that each cell's saved output shows, by number."""
    raw = json.loads(path.read_bytes().decode("utf-8-sig"))
    found: dict[int, str] = {}
    for number, cell in enumerate(raw.get("cells", []), 1):
        parts = []
        for output in cell.get("outputs") or []:
            value = output.get("text") or (output.get("data") or {}).get("text/plain") or ""
            parts.append("".join(value) if isinstance(value, list) else str(value))
        if any(parts):
            found[number] = "".join(part if part.endswith("\n") else part + "\n" for part in parts).rstrip("\n")
    return found


def beside(folder: Path, notebook: Path, left_out: tuple[str, ...] = ()) -> dict[str, Path]:
    """All files of an assignment but its notebooks and what tools leave; links are not followed."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if any(part in LITTER for part in inside.parts) or inside.parts[0] in left_out or path == notebook:
            continue
        if path.is_file() and not path.is_symlink() and path.suffix != ".ipynb":
            found[inside.as_posix()] = path
    return found


def title_of(notebook: Notebook, otherwise: str) -> str:
    """The first heading."""
    for cell in notebook.cells:
        found = re.search(r"^#{1,3}\s+(.+?)\s*#*$", cell.source, re.MULTILINE) if cell.kind == "markdown" else None
        if found is not None:
            return found[1].strip("*_` ")[:100]
    return otherwise


def made_cell(number: int, kind: str, source: str, key: str | None, **metadata: Any) -> Cell:
    """A cell of a master that an importer writes."""
    return Cell(number=number, kind=kind, source=source, id=key, metadata=metadata)


def marks(key: str, *, grade: bool = False, solution: bool = False, points: float = 0.0) -> dict[str, Any]:
    """nbgrader's metadata of a cell."""
    table: dict[str, Any] = {"schema_version": 3, "grade_id": key, "grade": grade, "solution": solution}
    table |= {"locked": grade, "task": False}
    return table | ({"points": points} if grade else {})
