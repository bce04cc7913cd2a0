"""What is wrong with a lab's master notebook, before anybody is graded by it. Nothing of it is run here.

Lines of these problems are numbers of cells, as people count them.
"""

from __future__ import annotations

from pathlib import Path

from qianka.errors import Text
from qianka.grading.model import Lab
from qianka.grading.reader import FILE, Problem
from qianka.notebooks.master import Master, Test, understand
from qianka.notebooks.pairing import squeezed
from qianka.notebooks.reading import Note, Unreadable, read_file
from qianka.notebooks.starter import hidden_lines
from qianka.notebooks.subset import Beyond, beyond, unsure
from qianka.notebooks.texts import of_beyond, of_note, of_unreadable

GIVEN = ("starter", "guide")
"""folders that students are handed"""


def problems(lab: Lab) -> tuple[list[Problem], list[Problem]]:
    """Errors and warnings of the master of a notebook check; nothing where the lab has none."""
    if lab.notebook is None:
        return [], []
    path = lab.folder / lab.notebook.master
    if lab.notebook.master.split("/")[0] in GIVEN:
        return [_problem(FILE, 1, "学生拿得到 master：移出 starter/", "students are given the master: move it")], []
    try:
        master = understand(read_file(str(path)))
    except Unreadable as error:
        return [_problem(lab.notebook.master, 1, *of_unreadable(error))], []
    name = lab.notebook.master
    errors = [_problem(name, note.cell or 1, *of_note(note)) for note in master.notes]
    warnings: list[Problem] = []
    for test in master.tests:
        found = beyond(test.source)
        if found:
            (errors if test.hidden else warnings).append(_beyond(name, test, found[0]))
        if test.hidden:
            warnings += [_beyond(name, test, one) for one in unsure(test, master)]
    errors += _given_away(lab, master)
    if lab.notebook.file not in lab.handin.required:
        zh, en = f"{lab.notebook.file} 不在 handin.required 里", f"{lab.notebook.file} is not in handin.required"
        warnings.append(_problem(FILE, 1, zh, en))
    return errors, warnings


def _beyond(name: str, test: Test, one: Beyond) -> Problem:
    zh, en = of_beyond(one.code, one.detail)
    if one.code == "given_value":
        return _problem(name, test.number, f"{test.name} 第 {one.line} 行：{zh}", f"{test.name} line {one.line}: {en}")
    rest_zh = "隐藏测试在平台一侧运行，做不到" if test.hidden else "改在学生的进程里运行，学生可以伪造结果"
    rest_en = (
        "a hidden test runs on our side and cannot"
        if test.hidden
        else "it runs among the student's code, which can forge it"
    )
    return _problem(
        name,
        test.number,
        f"{test.name} 第 {one.line} 行：{zh}；{rest_zh}",
        f"{test.name} line {one.line}: {en}; {rest_en}",
    )


def _given_away(lab: Lab, master: Master) -> list[Problem]:
    """Notebooks among what students are handed that hold lines of hidden tests."""
    secret = hidden_lines(master)
    found = []
    for folder in GIVEN:
        for path in sorted((lab.folder / folder).rglob("*.ipynb")):
            if secret & _lines(path):
                name = path.relative_to(lab.folder).as_posix()
                found.append(_problem(name, 1, *of_note(Note("public_master", None, name))))
    return found


def _lines(path: Path) -> set[str]:
    try:
        cells = read_file(str(path)).cells
    except Unreadable:
        return set()
    return {line.strip() for cell in cells for line in squeezed(cell.source).split("\n")}


def _problem(file: str, line: int, zh: str, en: str) -> Problem:
    return Problem(file, line, "", Text(zh, en))
