"""Runs black and flake8 on a hand-in inside the sandbox, with our configuration and our list of files.

The files are copied to names of ours first: no configuration of the hand-in lies beside them (a tool's
configuration can execute code), and no odd file name reaches a command line. Writes style.json.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import tokenize
from typing import Any

MAX_FILES = 300
MAX_BYTES = 256 * 1024
FIRST = 20
CONFIGS = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    ".flake8",
    ".pylintrc",
    "ruff.toml",
    ".ruff.toml",
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
)
NOQA = re.compile(r"#\s*(flake8[:=]\s*)?noqa\b", re.IGNORECASE)
FMT_OFF = re.compile(r"#\s*(fmt:\s*(off|skip)|yapf:\s*disable)", re.IGNORECASE)
REPORT = re.compile(r"^(?:\./)?f(\d{5})\.py:(\d+):([A-Z]+\d+)$")
REFORMAT = re.compile(r"^would reformat .*?f(\d{5})\.py$")
BROKEN = re.compile(r"^error: cannot format .*?f(\d{5})\.py")


def list_files(root: str) -> tuple[list[str], list[dict[str, str]], list[str]]:
    """Python files below `root` (sorted, no links), those left out with the reason, and configuration files."""
    files: list[str] = []
    skipped: list[dict[str, str]] = []
    configs: list[str] = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            shown = os.path.relpath(path, root)
            if name in CONFIGS:
                configs.append(shown)
            if not name.endswith(".py") or os.path.islink(path) or not os.path.isfile(path):
                continue
            if os.path.getsize(path) > MAX_BYTES or len(files) >= MAX_FILES:
                skipped.append({"path": shown, "why": "size" if len(files) < MAX_FILES else "count"})
            else:
                files.append(shown)
    return files, skipped, configs


def read_comments(data: bytes) -> dict[str, int]:
    """Lines, suppressions and literals of one source, by tokens: nothing of it is parsed deeper or executed."""
    found = {"lines": data.count(b"\n") + 1, "noqa": 0, "fmt_off": 0, "numbers": 0, "longest": 0}
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                found["noqa"] += bool(NOQA.search(token.string))
                found["fmt_off"] += bool(FMT_OFF.search(token.string))
            elif token.type == tokenize.NUMBER:
                found["numbers"] += 1
            elif token.type == tokenize.STRING:
                found["longest"] = max(found["longest"], len(token.string))
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError, RecursionError, MemoryError):
        pass  # the tools below report what is wrong with it
    return found


def run_tool(arguments: list[str], folder: str, rules: dict[str, Any]) -> str | None:
    """Output of `python -m …` in `folder`; None when the tool hung or died: a hostile source can do that."""

    memory = rules["memory"]

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    try:
        done = subprocess.run(
            [sys.executable, "-I", "-m", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=rules["seconds"],
            preexec_fn=bound,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode not in (0, 1, 123):
        return None
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def run_black(folder: str, names: list[str], rules: dict[str, Any]) -> dict[str, Any] | None:
    """Indices of files that black would change or cannot read."""
    config = os.path.join(folder, "black.toml")
    with open(config, "w", encoding="utf-8"):
        pass
    options = ["--check", "--config", config, "--line-length", str(rules["line_length"]), "--workers", "1"]
    output = run_tool(["black", *options, *names], folder, rules)
    if output is None:
        return None
    lines = output.splitlines()
    changed = [int(match[1]) for line in lines if (match := REFORMAT.match(line))]
    broken = [int(match[1]) for line in lines if (match := BROKEN.match(line))]
    return {"unformatted": changed, "broken": broken}


def run_flake8(folder: str, names: list[str], rules: dict[str, Any]) -> list[tuple[int, int, str]] | None:
    """(file, line, code) of every problem; `noqa` has no effect."""
    options = ["--isolated", "--disable-noqa", "--jobs", "1", "--format", "%(path)s:%(row)d:%(code)s"]
    options += ["--max-line-length", str(rules["line_length"]), "--extend-ignore", "E203,E701,E704,W503"]
    output = run_tool(["flake8", *options, *names], folder, rules)
    if output is None:
        return None
    found = (REPORT.match(line.strip()) for line in output.splitlines())
    return [(int(match[1]), int(match[2]), match[3]) for match in found if match]


def figures(work: str, rules: dict[str, Any]) -> dict[str, Any]:
    """What goes into style.json."""
    files, skipped, configs = list_files(work)
    totals = {"lines": 0, "noqa": 0, "fmt_off": 0, "numbers": 0, "longest": 0}
    silenced: set[int] = set()
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for index, path in enumerate(files):
            with open(os.path.join(work, path), "rb") as source:
                data = source.read(MAX_BYTES)
            names.append(f"f{index:05d}.py")
            with open(os.path.join(folder, names[-1]), "wb") as copy:
                copy.write(data)
            comments = read_comments(data)
            if comments["fmt_off"]:
                silenced.add(index)
            for key, value in comments.items():
                totals[key] = max(totals[key], value) if key == "longest" else totals[key] + value
        black = run_black(folder, names, rules) if names else {"unformatted": [], "broken": []}
        flake8 = run_flake8(folder, names, rules) if names else []
    bad = sorted(set(range(len(files))) if black is None else {*black["unformatted"], *black["broken"], *silenced})
    problems = flake8 or []
    by_code: dict[str, int] = {}
    for _, _, code in problems:
        by_code[code] = by_code.get(code, 0) + 1
    return {
        "format": 1,
        "files": len(files) + len(skipped),
        "skipped": skipped[:FIRST],
        "unformatted": len(bad) + len(skipped),
        "unformatted_first": [files[index] for index in bad[:FIRST]],
        "problems": len(problems),
        "problems_first": [{"path": files[f], "line": line, "code": code} for f, line, code in problems[:FIRST]],
        "by_code": dict(sorted(by_code.items(), key=lambda item: -item[1])[:FIRST]),
        "configs": configs[:FIRST],
        "failed": [name for name, result in (("black", black), ("flake8", flake8)) if result is None],
        **totals,
    }


def main() -> None:
    """Command line: where the hand-in is, where the figures go, and the lab's rules as JSON."""
    parser = argparse.ArgumentParser()
    for name in ("--work", "--out", "--rules"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    result = figures(options.work, json.loads(options.rules))
    with open(options.out + ".part", "w", encoding="utf-8") as file:
        json.dump(result, file, allow_nan=False)
    os.replace(options.out + ".part", options.out)


if __name__ == "__main__":
    main()
