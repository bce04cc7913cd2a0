"""Writes the pages of docs/reference that follow from the code; with --check says which are out of date.

http-api.md from the OpenAPI description, cli.md from the commands, errors.md and exit-codes.md from
the errors in the source, settings.md from the table of settings.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"
SOURCE = ROOT / "packages" / "qianka" / "src" / "qianka"
MARK = "<!-- below: written by tools/reference_pages.py -->"


def main() -> int:
    """Write, or with --check compare; the exit status says whether anything differed."""
    old = []
    for name, make in PAGES_MADE.items():
        page = PAGES / name
        head = page.read_text("utf-8").partition(MARK)[0]
        text = f"{head.rstrip()}\n\n{MARK}\n\n{make()}"
        if page.read_text("utf-8") != text:
            old.append(name)
            if "--check" not in sys.argv:
                page.write_text(text, "utf-8")
    state = "is out of date: python tools/reference_pages.py" if "--check" in sys.argv else "written"
    for name in old:
        print(f"docs/reference/{name} {state}")
    return 1 if old and "--check" in sys.argv else 0


def http_api() -> str:
    """A table of routes for each tag."""
    from qianka.server.app import create_app
    from qianka.settings import Settings

    described = create_app(Settings(data_dir="unused")).openapi()
    parts = []
    for tag in described["tags"]:
        rows = [
            f"| `{method.upper()}` | `{path}` | {operation['summary_text']} |"
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
            if tag["name"] in operation["tags"][-1:] and operation.setdefault("summary_text", _first(operation))
        ]
        parts.append(f"## {tag['description']}\n\n| | path | |\n|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _first(operation: dict[str, Any]) -> str:
    text = operation.get("description", "").split("\n\n")[0]
    return " ".join(text.split()).replace("|", "\\|")


def command_line() -> str:
    """A section for each command, with its options in both languages."""
    zh, en = (_commands(language) for language in ("zh", "en"))
    parts = []
    for name, command in zh.items():
        rows = [
            f"| `{' '.join(option['names'])}` | {option['help']} | {other['help']} |"
            for option, other in zip(command["options"], en[name]["options"], strict=True)
        ]
        table = "\n\n| | | |\n|---|---|---|\n" + "\n".join(rows) if rows else ""
        parts.append(f"## qianka {name}\n\n{command['help']} · {en[name]['help']}{table}")
    return "\n\n".join(parts) + "\n"


def _commands(language: str) -> dict[str, Any]:
    """All commands as a terminal of that language shows them: the texts are chosen when modules are loaded."""
    environment = {**os.environ, "QIANKA_LANGUAGE": language}
    done = subprocess.run(
        [sys.executable, __file__, "--dump-commands"], env=environment, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def dump_commands() -> None:
    """Print the commands of this process's language as JSON."""
    from importlib import import_module

    from qianka.cli.main import COMMANDS
    from typer.main import get_command

    found: dict[str, Any] = {}
    for name, command in COMMANDS.items():
        top = get_command(import_module(f"qianka.cli.{command.module}").app)
        for path, one in [(name, top), *((f"{name} {sub}", c) for sub, c in getattr(top, "commands", {}).items())]:
            if not getattr(one, "commands", None):
                found[path] = {"help": _plain(one.help), "options": list(_options(one))}
    print(json.dumps(found, ensure_ascii=False))


def _options(command: Any) -> Iterator[dict[str, Any]]:
    for param in command.params:
        if getattr(param, "hidden", False) or "--help" in param.opts:
            continue
        names = [*param.opts, *param.secondary_opts]
        shown = names if names[0].startswith("-") else [(param.metavar or param.name).upper()]
        yield {"names": shown, "help": _plain(getattr(param, "help", None))}


def _plain(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def errors() -> str:
    """The codes with their status, then every reason the source gives."""
    kinds = _kinds()
    rows = [f"| `{k.code}` | {k.http_status} | {k.exit_code} |" for k in kinds.values()]
    text = "## code\n\n| code | HTTP | exit |\n|---|---|---|\n" + "\n".join(rows)
    found = sorted({(reason, kinds[kind].code, zh, en) for kind, reason, zh, en in _reasons(set(kinds))})
    seen: set[str] = set()
    lines = []
    for reason, code, zh, en in found:
        if reason not in seen:
            seen.add(reason)
            lines.append(f"| `{reason}` | `{code}` | {zh} | {en} |")
    return text + "\n\n## details.reason\n\n| reason | code | | |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"


def exit_codes() -> str:
    """Exit status by error."""
    rows: dict[int, list[str]] = {}
    for kind in _kinds().values():
        rows.setdefault(kind.exit_code, []).append(f"`{kind.code}`")
    lines = [f"| {code} | {' '.join(names)} |" for code, names in sorted(rows.items())]
    return "| exit | code |\n|---|---|\n" + "\n".join(lines) + "\n"


def settings_table() -> str:
    """A row a setting."""
    from qianka.settings import Settings

    rows = []
    for one in fields(Settings):
        text = one.metadata["text"]
        rows.append(f"| `{one.metadata['key']}` | {one.type} | `{one.default}` | {text.zh} | {text.en} |")
    return "| name | type | default | 中文 | meaning |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n"


def _kinds() -> dict[str, Any]:
    from qianka import errors as module

    return {
        name: kind
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, module.QiankaError) and kind is not module.QiankaError
    }


def _reasons(kinds: set[str]) -> Iterator[tuple[str, str, str, str]]:
    """(kind, reason, zh, en) of every error that is made with a literal reason."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in kinds:
                continue
            reason = next((word.value for word in node.keywords if word.arg == "reason"), None)
            if isinstance(reason, ast.Constant) and isinstance(reason.value, str) and node.args:
                zh, en = _texts(node.args[0])
                yield node.func.id, reason.value, zh, en


def _texts(node: ast.expr) -> tuple[str, str]:
    if not isinstance(node, ast.Call) or len(node.args) != 2:
        return "", ""
    return _literal(node.args[0]), _literal(node.args[1])


def _literal(node: ast.expr) -> str:
    """The text of a string; what is filled in at run time is shown as `…`."""
    if isinstance(node, ast.JoinedStr):
        parts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        return _plain("".join(parts))
    return _plain(str(node.value)) if isinstance(node, ast.Constant) else "…"


PAGES_MADE = {
    "http-api.md": http_api,
    "cli.md": command_line,
    "errors.md": errors,
    "exit-codes.md": exit_codes,
    "settings.md": settings_table,
}

if __name__ == "__main__":
    if "--dump-commands" in sys.argv:
        dump_commands()
    else:
        sys.exit(main())
