"""Rules of this house that no linter knows: sizes, and who may touch what.

Exit status 1 when one is broken. Each rule says what it protects from.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORM = ROOT / "packages/qianka/src/qianka"
KIT = ROOT / "packages/qianka-kit/src/qianka_kit"

FILE_LINES = 400
FUNCTION_LINES = 60
ROUTE_LINES = 150
CHECK_LINES = 80


def main() -> int:
    paths = sorted([*PLATFORM.rglob("*.py"), *KIT.rglob("*.py")])
    written = [path for path in paths if "versions" not in path.parts]  # a migration is generated
    broken = [line for path in written for line in check(path)]
    print("\n".join(broken) if broken else "house rules: kept")
    return 1 if broken else 0


def check(path: Path) -> Iterator[str]:
    """The rules that one file breaks."""
    text = path.read_text("utf-8")
    name = path.relative_to(ROOT).as_posix()
    inside = path.relative_to(PLATFORM).as_posix() if PLATFORM in path.parents else ""
    limit = ROUTE_LINES if inside.startswith("server/routes/") else FILE_LINES
    limit = CHECK_LINES if inside.startswith("grading/checks/") else limit
    if (count := text.count("\n")) > limit:
        yield f"{name}: {count} lines, at most {limit}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > FUNCTION_LINES:
                yield f"{name}:{node.lineno}: {node.name} has {size} lines, at most {FUNCTION_LINES}"
        yield from _misplaced(node, name, inside)


def _misplaced(node: ast.AST, name: str, inside: str) -> Iterator[str]:
    if not isinstance(node, ast.Attribute | ast.Call | ast.Import | ast.ImportFrom):
        return
    where = f"{name}:{node.lineno}"
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    if inside and called == "select" and not inside.startswith("store/repos/"):
        # A query outside the repositories escapes the access check of the services.
        yield f"{where}: select() belongs into store/repos"
    # The harness runs inside a sandbox, where its environment is what the supervisor tells it.
    in_sandbox = inside.startswith("grading/harness/")
    of_os = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
    if (
        inside
        and of_os
        and isinstance(node, ast.Attribute)
        and node.attr == "environ"
        and inside not in ENVIRONMENT
        and not in_sandbox
    ):
        # A setting read in passing is a setting that `config show` does not know.
        yield f"{where}: os.environ is read in settings.py alone"
    for module in _imported(node):
        if module in ("pickle", "dill", "marshal", "shelve"):
            yield f"{where}: {module} would run what student code wrote"


# Slurm tells a job only there which node and cards it got.
ENVIRONMENT = ("settings.py", "supervisor/allotment.py")


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return []


if __name__ == "__main__":
    sys.exit(main())
