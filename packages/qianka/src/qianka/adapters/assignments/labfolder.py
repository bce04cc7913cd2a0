"""Writes an assignment as a complete lab folder: rules, master, students' copy, sample solution, samples, report."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from qianka.adapters.assignments import nbgrader, otter
from qianka.adapters.assignments.source import LITTER, Assignment, Remark
from qianka.errors import BadInput, Conflict, NotFound, Refused, Text
from qianka.notebooks import starter
from qianka.notebooks.master import understand
from qianka.notebooks.reading import Notebook
from qianka.notebooks.subset import beyond

REPORT = "IMPORT.md"
_LAB = """\
# {source_zh} {source_en}
title = {title}

[handin]
required = [{file}]
allowed = [".ipynb", ".py", ".md", ".txt", ".csv", ".json", ".png", ".jpg", ".pdf"]
max_mb = 16.0
attempts_a_day = 10

[[check]]
kind = "notebook"
weight = 100
master = {master}
file = {file}
seconds = 30 # 每个单元 / a cell
seconds_total = 300 # 整个 notebook，含第二遍的隐藏测试 / everything, the second run for hidden tests included
hints_after = 3
line = 0.6
"""


@dataclass(frozen=True)
class Made:
    """What an import made: the system it came from, files by name, the report."""

    system: str
    title: str
    files: tuple[str, ...]
    remarks: tuple[Remark, ...]
    points: float


def make(folder: Path, target: Path, notebook: str | None = None) -> Made:
    """Make the lab `target` of the assignment in `folder`; `notebook` chooses one where there are several.

    Raises NotFound, BadInput (which notebook?), Conflict (target is not empty), Refused (a hidden test would leak).
    """
    if target.exists() and any(target.iterdir()):
        raise Conflict(Text(f"{target} 已存在且不为空", f"{target} exists and is not empty"), reason="not_empty")
    path = _choose(folder, notebook)
    if nbgrader.is_one(path):
        found = nbgrader.take(path.parent, path)
    elif otter.is_one(path):
        found = otter.take(path.parent, path)
    else:
        raise BadInput(
            Text(f"{path.name} 里没有 nbgrader 或 otter 的标记", f"{path.name} has no marks of nbgrader or otter"),
            Text("要给教师的源 notebook", "give the teacher's source notebook"),
            reason="unknown_format",
        )
    return _write(found, path.name, target)


def _choose(folder: Path, notebook: str | None) -> Path:
    if folder.is_file() and folder.suffix == ".ipynb":
        return folder
    found = sorted(
        path
        for path in folder.rglob("*.ipynb")
        if not any(part in (*LITTER, "dist", "release", "submitted", "autograded", "feedback") for part in path.parts)
        and len(path.relative_to(folder).parts) <= 3
        and path.name != "header.ipynb"
    )
    if notebook is not None:
        found = [path for path in found if notebook in (path.name, path.stem, path.relative_to(folder).as_posix())]
    if not found:
        raise NotFound(
            Text(f"{folder} 里没有 notebook", f"there is no notebook in {folder}"),
            Text("给作业文件夹，如 source/ps1", "name the assignment's folder, such as source/ps1"),
            reason="no_notebook",
        )
    if len(found) > 1:
        names = ", ".join(path.relative_to(folder).as_posix() for path in found[:10])
        raise BadInput(
            Text(f"{folder} 里有 {len(found)} 个 notebook：{names}", f"{folder} holds {len(found)} notebooks: {names}"),
            Text("一个实验一个 notebook：用 --notebook 指定", "a lab has one: name it with --notebook"),
            reason="which_notebook",
        )
    return found[0]


def _write(found: Assignment, file: str, target: Path) -> Made:
    master = understand(found.notebook)
    _remark(found)
    try:
        students = starter.starter(found.notebook, found.attachments)
        solved = starter.solution(found.notebook, found.attachments)
    except starter.Leaks as leak:
        shown = leak.line[:80]
        raise Refused(
            Text(
                f"隐藏测试的一行也出现在学生能看到的单元里：{shown}",
                f"a line of a hidden test also stands in a cell that students see: {shown}",
            ),
            Text("改掉其中一处再导入", "change one of the two and import again"),
            reason="leak",
        ) from leak
    texts = {
        "lab.toml": _lab_file(found, file).encode(),
        f"master/{file}": _master_file(found.notebook, found.attachments),
        f"starter/{file}": students,
        f"solution/{file}": solved,
        f"samples/solution/{file}": solved,
        "samples/solution/expect.toml": b'verdict = "accepted"\npoints = [100, 100]\n',
        f"samples/starter/{file}": students,
        "samples/starter/expect.toml": b'verdict = "below_line"\npoints = [0, 59.99]\n',
        REPORT: _report(found).encode(),
    }
    if not found.solved:
        texts = {name: data for name, data in texts.items() if "solution/" not in name}
    if not any(name.lower() == "readme.md" for name in found.files):
        texts["README.md"] = _readme(found, file).encode()
    for name, data in texts.items():
        _put(target / name, data)
    copied = []
    for name, source in found.files.items():
        places = [f"files/{name}", f"starter/{name}"] if name.lower() != "readme.md" else ["README.md"]
        for place in places:
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target / place)
            copied.append(place)
    return Made(found.system, found.title, tuple(sorted([*texts, *copied])), tuple(found.remarks), master.points)


def _remark(found: Assignment) -> None:
    master = understand(found.notebook)
    if found.files:
        names = ", ".join(sorted(found.files)[:8])
        found.carried(f"{len(found.files)} 个数据和其他文件：{names}", f"{len(found.files)} files beside it: {names}")
    for note in master.notes:
        found.left(
            f"第 {note.cell or '?'} 个单元：{note.code} {note.detail}",
            f"cell {note.cell or '?'}: {note.code} {note.detail}",
        )
    for test in master.tests:
        for one in beyond(test.source):
            kind_zh = "隐藏测试，lab check 会拒绝" if test.hidden else "可见测试，改在学生进程里运行，可以被伪造"
            kind_en = (
                "hidden: lab check refuses it"
                if test.hidden
                else "visible: runs in the student's process, can be forged"
            )
            found.left(
                f"{test.name} 第 {one.line} 行用了 {one.detail}（{kind_zh}）",
                f"{test.name} line {one.line} uses {one.detail} ({kind_en})",
            )
            break


def _lab_file(found: Assignment, file: str) -> str:
    quoted = json.dumps(file, ensure_ascii=False)
    return _LAB.format(
        source_zh=f"由 qianka lab import 从 {found.system} 的 {found.name} 生成。",
        source_en=f"Made by qianka lab import from {found.name} ({found.system}).",
        title=json.dumps(found.title, ensure_ascii=False),
        file=quoted,
        master=json.dumps(f"master/{file}", ensure_ascii=False),
    )


def _master_file(notebook: Notebook, attachments: dict[int, object]) -> bytes:
    cells = []
    for cell in notebook.cells:
        made: dict[str, object] = {"cell_type": cell.kind, "metadata": cell.metadata, "source": cell.source}
        made["id"] = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in cell.id or "")[:64]
        made["id"] = made["id"] or f"cell-{cell.number}"
        if cell.kind == "code":
            made |= {"outputs": [], "execution_count": None}
        elif cell.number in attachments:
            made["attachments"] = attachments[cell.number]
        cells.append(made)
    kept = {key: value for key, value in notebook.metadata.items() if key in ("kernelspec", "language_info")}
    table = {"cells": cells, "metadata": kept, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(table, ensure_ascii=False, indent=1) + "\n").encode()


def _readme(found: Assignment, file: str) -> str:
    return (
        f"# {found.title}\n\n打开 `starter/{file}`，完成后提交：`qianka turnin 实验名 文件夹`。\n\n"
        f"Open `starter/{file}`; when it is done hand in the folder that holds `{file}`: `qianka turnin LAB FOLDER`.\n"
    )


def _report(found: Assignment) -> str:
    lines = [f"# 导入报告 / import report: {found.name} ({found.system})", ""]
    for carried, heading in (
        (True, "带过来的 / carried over"),
        (False, "要你处理的 / not carried over: look at these"),
    ):
        listed = [remark for remark in found.remarks if remark.carried is carried]
        lines += [f"## {heading}", "", *(f"- {one.text.zh} / {one.text.en}" for one in listed), ""]
        if not listed:
            lines[-1:] = ["- 无 / nothing", ""]
    return "\n".join(lines)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
