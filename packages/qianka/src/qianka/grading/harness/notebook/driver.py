"""Our side of a notebook's run: reads, pairs, runs it, writes figures. No figures: nothing is graded.

What students may read comes from a first run, in a kernel that never meets a hidden test. Hidden tests run in a
second kernel, of which students learn which graded cells passed, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import time
from typing import Any

from qianka.grading.harness.notebook.lines import Link
from qianka.grading.harness.notebook.session import Limits, Outcome, Session
from qianka.notebooks.master import Master, understand
from qianka.notebooks.pairing import Pairing, Step, pair
from qianka.notebooks.reading import Notebook, Unreadable, read_file

VARIABLE = "QIANKA_SOCKET"


def figures(link: Link, handin: str, master_path: str, rules: dict[str, float]) -> dict[str, Any]:
    """Everything that is known after both runs; `rules`: seconds, seconds_start, seconds_total."""
    master = understand(read_file(master_path))
    try:
        student = read_file(handin)
    except Unreadable as error:
        return _table(unreadable={"code": error.code, "line": error.line, "detail": error.detail[:100]})
    if not student.language.startswith(("python", "ipython")):
        return _table(unreadable={"code": "language", "line": None, "detail": student.language})
    began = time.monotonic()
    limits = Limits(rules["seconds"], rules["seconds_start"], began + rules["seconds_total"])
    paired = pair(student, master)
    open_run = Session(link, master, student, limits, hidden=False).run(_open_steps(paired, master))
    hidden_run = None
    if master.has_hidden:
        limits.end = max(limits.end, time.monotonic())
        hidden_run = _second(link, master, student, limits, paired, open_run)
    return _table(
        notes=[[note.code, note.cell, note.detail[:200]] for note in paired.notes],
        found=paired.found,
        open=_outcome(open_run),
        hidden=None if hidden_run is None else _outcome(hidden_run),
        seconds=round(time.monotonic() - began, 2),
    )


def _second(link: Link, master: Master, student: Notebook, limits: Limits, paired: Pairing, first: Outcome) -> Outcome:
    if first.ended in ("gone", "time"):
        return Outcome(tests={t.key: {"state": "not_run"} for t in master.tests if t.hidden}, ended=first.ended)
    return Session(link, master, student, limits, hidden=True).run(_hidden_steps(paired, master))


def _open_steps(paired: Pairing, master: Master) -> list[Step]:
    """All cells, and the tests of which students know something."""
    return [step for step in paired.steps if step.kind != "test" or master.test(step.key).known]


def _hidden_steps(paired: Pairing, master: Master) -> list[Step]:
    """Everything up to the last hidden test."""
    last = max(at for at, step in enumerate(paired.steps) if step.kind == "test" and master.test(step.key).hidden)
    return paired.steps[: last + 1]


def _outcome(run: Outcome) -> dict[str, Any]:
    return {
        "cells": [{"number": number, **record} for number, record in sorted(run.cells.items())],
        "tests": [{"key": key, **record} for key, record in run.tests.items()],
        "restarts": run.restarts,
        "lost": sorted(set(run.lost)),
        "ended": run.ended,
    }


def _table(**values: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"format": 1, "unreadable": None, "notes": [], "found": {}, "open": None, "hidden": None}
    return empty | {"seconds": 0.0} | values


def connect(told: str) -> socket.socket:
    """The socket that the supervisor tells of: a descriptor's number, or a path."""
    if told.isdecimal():
        return socket.socket(fileno=int(told))
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(told)
    return stream


def main() -> None:
    """Command line: where things are, and the lab's limits as JSON."""
    parser = argparse.ArgumentParser()
    for name in ("--handin", "--master", "--out", "--rules"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    stream = connect(os.environ.pop(VARIABLE))
    os.set_inheritable(stream.fileno(), False)
    result = figures(Link(stream), options.handin, options.master, json.loads(options.rules))
    with open(options.out + ".part", "w", encoding="utf-8") as file:
        file.write(json.dumps(result, allow_nan=False))
    os.replace(options.out + ".part", options.out)
