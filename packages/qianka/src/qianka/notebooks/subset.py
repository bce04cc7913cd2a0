"""Which tests can run on our side, where a student's names are asked for one by one; see docs/howto/notebooks.md.

A test outside it runs among the student's names if students know it anyway; a hidden one is refused at `lab check`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from qianka.notebooks.master import Master, Test

SHELL_NAMES = frozenset({"get_ipython", "display", "In", "Out", "_"})
OWN_NAMES = frozenset({"globals", "locals", "vars", "exec", "eval", "input", "breakpoint", "__import__"})
FILES = frozenset({"open", "os", "pathlib", "Path", "glob", "shutil"})
MODULES = frozenset({"matplotlib", "plt", "pylab", "inspect", "gc", "subprocess", "multiprocessing", "threading"})
CAPTURES = frozenset({"redirect_stdout", "redirect_stderr", "patch", "mock", "MagicMock", "capsys", "monkeypatch"})


@dataclass(frozen=True)
class Beyond:
    """One thing that a test does and the subset has not: `code` says what, `line` counts in the test's source."""

    code: str
    line: int
    detail: str


def is_doctest(source: str) -> bool:
    """Whether a test is written as a session of the interpreter, as otter's are."""
    return source.lstrip().startswith(">>>")


def beyond(source: str) -> list[Beyond]:
    """What in `source` our side cannot do; empty when all of it can."""
    text = _session(source) if is_doctest(source) else source
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [Beyond("syntax", getattr(error, "lineno", None) or 1, str(getattr(error, "msg", error))[:80])]
    found = [made for node in ast.walk(tree) if (made := _one(node)) is not None]
    return sorted(found, key=lambda made: made.line)


def runs_on_our_side(test: Test) -> bool:
    """Whether a test is decided on our side, out of the reach of the student's code."""
    return not beyond(test.source)


def unsure(test: Test, master: Master) -> list[Beyond]:
    """Names that a hidden test takes from given cells and whose values are made in the student's process."""
    given: dict[str, int] = {}
    solved: set[str] = set()
    for own in master.cells:
        made = _assigned(own.cell.source)
        if own.role == "solution":
            solved |= set(made)
        elif own.role in ("given", "code"):
            given |= {name: own.cell.number for name, is_literal in made.items() if not is_literal}
    try:
        tree = ast.parse(_session(test.source) if is_doctest(test.source) else test.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    loads = {n.id: n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    names = sorted(name for name in loads if name in given and name not in solved | bound)
    return [Beyond("given_value", loads[name], name) for name in names]


def _one(node: ast.AST) -> Beyond | None:
    line = getattr(node, "lineno", 1)
    if isinstance(node, ast.Name):
        for code, names in (("shell", SHELL_NAMES), ("names", OWN_NAMES), ("files", FILES), ("capture", CAPTURES)):
            if node.id in names and isinstance(node.ctx, ast.Load):
                return Beyond(code, line, node.id)
        if node.id in MODULES and isinstance(node.ctx, ast.Load):
            return Beyond("module", line, node.id)
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        for name in modules:
            top = name.partition(".")[0]
            if top in MODULES or top == "__main__" or name == "unittest.mock":
                return Beyond("module", line, name)
            if top in FILES:
                return Beyond("files", line, name)
    if isinstance(node, ast.Delete) and any(isinstance(target, ast.Name) for target in node.targets):
        return None
    if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
        return Beyond("await", line, "await")
    return None


def _session(source: str) -> str:
    """The statements of an interpreter session, each on its own line number."""
    lines = []
    for line in source.split("\n"):
        stripped = line.lstrip()
        indent = 0 if not stripped.startswith((">>> ", "... ")) else 4
        lines.append(stripped[indent:] if indent else "")
    return "\n".join(lines)


def _assigned(source: str) -> dict[str, bool]:
    """Names that a cell assigns at its top level; whether the value is written out."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, bool] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        found[name.id] = is_literal(node.value)
    return found


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a value written out."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
