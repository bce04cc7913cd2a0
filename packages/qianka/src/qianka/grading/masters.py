"""The teacher's files of paired checks: which there are in a lab's folder, and what is wrong with them.

Test files are parsed here and never run: they run as jobs.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from qianka.errors import Text
from qianka.grading.model import Lab, NotebookCheck, TestsCheck
from qianka.grading.reader import Problem

MAX_BYTES = 1 << 20


def test_files(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """The files of `patterns` in a lab's folder, in the order in which they run."""
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def at_hand(lab: Lab) -> Lab:
    """The lab without the paired checks whose master is not in its folder.

    A published lab has them all; what students take home has only the tests that are theirs to see.
    """
    return replace(lab, checks=tuple(check for check in lab.checks if _is_there(lab.folder, check)))


def public_files(lab: Lab) -> list[Path]:
    """The test files that students are given."""
    return [] if lab.tests is None else test_files(lab.folder, lab.tests.public)


def problems(lab: Lab) -> list[Problem]:
    """What is wrong with the test files of a lab: none, no Python, no tests, hidden tests given away."""
    if lab.tests is None:
        return []
    files = test_files(lab.folder, lab.tests.files)
    if not files:
        listed = ", ".join(lab.tests.files)
        return [_problem("lab.toml", 1, f"没有测试文件 {listed}", f"there is no test file {listed}")]
    found: list[Problem] = []
    tests = 0
    public = public_files(lab)
    for path in public:
        if path not in files:
            found.append(_problem(_name(lab, path), 1, "不在 files 里", "is none of the files"))
    for path in files:
        try:
            tree = ast.parse(path.read_bytes()[:MAX_BYTES])
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            found.append(_problem(_name(lab, path), line, f"不是合法的 Python：{error}", f"is not Python: {error}"))
            continue
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        tests += len(functions)
        found += _doubles(lab, path, functions)
        if path in public:
            found += [
                _problem(
                    _name(lab, path), node.lineno, "public 文件里不能有隐藏测试", "a public file holds a hidden test"
                )
                for node in functions
                if any(_called(decorator) == "hidden" for decorator in node.decorator_list)
            ]
    if not tests and not found:
        found.append(_problem(_name(lab, files[0]), 1, "没有 test_ 函数", "holds no function called test_…"))
    return found


def _is_there(folder: Path, check: object) -> bool:
    if isinstance(check, TestsCheck):
        return bool(test_files(folder, check.files))
    return not isinstance(check, NotebookCheck) or (folder / check.master).is_file()


def _doubles(lab: Lab, path: Path, functions: list[ast.FunctionDef]) -> list[Problem]:
    """A second function of one name hides the first: that test would never run."""
    names = [node.name for node in functions]
    return [
        _problem(_name(lab, path), node.lineno, f"重名的测试 {node.name}", f"a second test called {node.name}")
        for index, node in enumerate(functions)
        if node.name in names[:index]
    ]


def _called(decorator: ast.expr) -> str:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _name(lab: Lab, path: Path) -> str:
    return path.relative_to(lab.folder).as_posix()


def _problem(file: str, line: int, zh: str, en: str) -> Problem:
    return Problem(file, line, "", Text(zh, en))
