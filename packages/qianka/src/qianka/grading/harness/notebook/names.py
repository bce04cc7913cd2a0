"""The names that a test on our side sees: its own, what the master imports and defines, then the student's.

Imports, and what locked cells define (functions, classes, values written out), are the master's even if the student
has put something else under the name; everything else is asked for from the student's process.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

from qianka.grading.harness.notebook.remote import Peer, Unfit
from qianka.notebooks.master import Master
from qianka.notebooks.regions import plain
from qianka.notebooks.subset import is_literal

SEEDS = {"random": ("random", "seed"), "numpy": ("numpy.random", "seed"), "torch": ("torch", "manual_seed")}


class Names(dict[str, Any]):
    """Globals of the tests of one run; a name that is not there is looked up, once and for all only if it is ours."""

    def __init__(self, master: Master, peer: Peer) -> None:
        super().__init__({"__name__": "__main__", "__builtins__": builtins})
        self._peer = peer
        self._ours, self._theirs = _sort(master)
        self._seeded: set[str] = set()

    def __missing__(self, name: str) -> Any:
        node = self._ours.get(name)
        if node is not None and self._define(node):
            return dict.__getitem__(self, name)
        if name not in self._theirs and hasattr(builtins, name):
            raise KeyError(name)
        answer = self._peer.raw({"do": "name", "name": name})
        if answer.get("missing") is True:
            if hasattr(builtins, name):
                raise KeyError(name)
            raise _missing(name)
        if "value" not in answer:
            raise Unfit(str(answer.get("unfit", "no value"))[:200])
        return self._peer.take(answer["value"])

    def _define(self, node: ast.stmt) -> bool:
        """Run one statement of the master's; False for a module that is not here."""
        try:
            exec(compile(ast.Module([node], []), "<master>", "exec"), self)  # noqa: S102  the teacher's own statement
        except Exception:  # noqa: BLE001  a module that is not here, or not at peace with our bounds: the student's serves
            return False
        self.mirror()
        return True

    def preload(self, sources: str) -> None:
        """Import what `sources` (tests, and what they lean on) use, before a test's time begins to count."""
        helpers = [
            ast.unparse(node) for node in self._ours.values() if not isinstance(node, ast.Import | ast.ImportFrom)
        ]
        words = set(re.findall(r"\w+", "\n".join([sources, *helpers])))
        for name in sorted(words & set(self._ours)):
            if isinstance(self._ours[name], ast.Import | ast.ImportFrom) and not dict.__contains__(self, name):
                self._define(self._ours[name])

    def mirror(self, source: str = "") -> None:
        """Make seeding a generator here seed the student's too; `source`: a test that may import one by itself."""
        for what, (module, function) in SEEDS.items():
            is_named = re.search(rf"\b{what}\b", source) is not None
            if what in self._seeded or not (module in sys.modules or is_named):
                continue
            try:
                found = importlib.import_module(module)
            except ImportError:
                continue
            self._seeded.add(what)
            _wrap(found, function, what, self._peer)


def _wrap(module: Any, function: str, what: str, peer: Peer) -> None:
    own: Callable[..., Any] = getattr(module, function)

    def seed(value: Any = None, *rest: Any, **more: Any) -> Any:
        peer.ask(do="seed", what=what, value=value if isinstance(value, int) else None)
        return own(value, *rest, **more)

    setattr(module, function, seed)


def _missing(name: str) -> NameError:
    error = NameError(f"name '{name}' is not defined")
    error.__dict__["of_student"] = True
    return error


def _sort(master: Master) -> tuple[dict[str, ast.stmt], set[str]]:
    """What of the master defines a name of ours, and the names that students bind."""
    ours: dict[str, ast.stmt] = {}
    theirs: set[str] = set()
    for own in master.cells:
        if own.role not in ("solution", "given", "code", "test"):
            continue
        for node in _statements(plain(own.cell.source)):
            names = _names(node)
            if own.role == "solution" and not isinstance(node, ast.Import | ast.ImportFrom):
                theirs |= set(names)
            elif own.role == "test" and not isinstance(node, ast.Import | ast.ImportFrom):
                continue  # a test's own names come to be when it runs
            elif _is_ours(node, own.role):
                ours |= {name: _alone(node, name) for name in names}
            else:
                theirs |= set(names)
    return {name: node for name, node in ours.items() if name not in theirs}, theirs


def _statements(source: str) -> list[ast.stmt]:
    lines = [line if not line.lstrip().startswith(("%", "!")) else "" for line in source.split("\n")]
    try:
        return ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError):
        return []


def _is_ours(node: ast.stmt, role: str) -> bool:
    """Imports of any cell; functions, classes and written-out values of locked cells, which no student may change."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if role != "given":
        return False
    return is_literal(node.value) if isinstance(node, ast.Assign) else isinstance(node, ast.FunctionDef | ast.ClassDef)


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name.partition(".")[0]) for alias in node.names]
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _alone(node: ast.stmt, name: str) -> ast.stmt:
    """The statement, cut down to what binds `name`: one import that is missing must not hide the others."""
    if isinstance(node, ast.Import | ast.ImportFrom) and len(node.names) > 1:
        kept = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) == name]
        made: ast.Import | ast.ImportFrom = (
            ast.Import(kept) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, kept, node.level)
        )
        return ast.copy_location(made, node)
    return node
