"""Our side of a notebook's run: reads, pairs, runs it, writes a report. No report: nothing is graded.

What students may read comes from a first run, in a kernel that never meets a hidden test. Hidden tests run in a
second kernel, of which students learn which graded cells passed, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from typing import Any

from qianka.grading.harness.notebook import report
from qianka.grading.harness.notebook.lines import VARIABLE, Closed, Late, Link, connect
from qianka.grading.harness.notebook.session import Limits, Outcome, Session
from qianka.notebooks.master import Master, understand
from qianka.notebooks.pairing import Pairing, Step, pair
from qianka.notebooks.reading import Notebook, Unreadable, read_file

MEMORY = 420 << 20
"""bytes for this process; the tests' own has its share, see tester.py"""


def report_on(link: Link, handin: str, master_path: str, rules: dict[str, Any]) -> dict[str, Any]:
    """The report after both runs; `rules`: seconds, seconds_start, seconds_total."""
    master = understand(read_file(master_path))
    try:
        student = read_file(handin)
        if not student.language.startswith(("python", "ipython")):
            raise Unreadable("language", detail=student.language)
    except Unreadable as error:
        return report.of_unread(master, error)
    began = time.monotonic()
    limits = Limits(rules["seconds"], rules["seconds_start"], began + rules["seconds_total"])
    paired = pair(student, master)
    open_run = Session(link, master, student, limits, hidden=False).run(_open_steps(paired, master))
    hidden_run = None
    if master.has_hidden:
        hidden_run = _second(link, master, student, limits, paired, open_run)
    seconds = {"all": time.monotonic() - began, "cell": rules["seconds"]}
    return report.of_runs(master, paired, open_run, hidden_run, seconds)


def _second(link: Link, master: Master, student: Notebook, limits: Limits, paired: Pairing, first: Outcome) -> Outcome:
    """The run for hidden tests; what comes too late or has nobody to talk to any more is not run."""
    if first.ended in ("gone", "time"):
        return Outcome(ended=first.ended)
    try:
        return Session(link, master, student, limits, hidden=True).run(_hidden_steps(paired, master))
    except (Late, Closed):  # the first run's code has harmed the process that starts kernels
        return Outcome(ended="gone")


def _open_steps(paired: Pairing, master: Master) -> list[Step]:
    """All cells, and the tests of which students know something."""
    return [step for step in paired.steps if step.kind != "test" or master.test(step.key).known]


def _hidden_steps(paired: Pairing, master: Master) -> list[Step]:
    """Everything up to the last hidden test."""
    last = max(at for at, step in enumerate(paired.steps) if step.kind == "test" and master.test(step.key).hidden)
    return paired.steps[: last + 1]


def main() -> None:
    """Command line: where things are, and the lab's limits as JSON."""
    parser = argparse.ArgumentParser()
    for name in ("--handin", "--lab", "--out", "--rules"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    # What the student's side sends must not have our whole side ended for want of memory: that would be no grade.
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    rules = json.loads(options.rules)
    link = Link(connect(os.environ.pop(VARIABLE)))
    handin, master = os.path.join(options.handin, rules["file"]), os.path.join(options.lab, rules["master"])
    result = report_on(link, handin, master, rules)
    with open(options.out + ".part", "w", encoding="utf-8") as file:
        file.write(json.dumps(result, allow_nan=False))
    os.replace(options.out + ".part", options.out)
