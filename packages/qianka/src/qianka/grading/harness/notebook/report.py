"""The report of a notebook's run, in the form that `qianka.grading.report` reads: an item for each graded test.

Texts that students may read come from the open run only, whose kernel has never met a hidden test.
"""

from __future__ import annotations

from typing import Any

from qianka.grading.harness.notebook.session import Outcome
from qianka.notebooks.master import Master, Test
from qianka.notebooks.pairing import Pairing
from qianka.notebooks.reading import Note, Unreadable
from qianka.notebooks.texts import Pair, of_note, of_unreadable

MOST_NOTES = 90
_STATES = {"passed": "passed", "timeout": "timeout", "died": "ended", "unfit": "failed", "unsupported": "broken"}
_ENDED = {"time": "late", "restarts": "ended", "gone": "gone", None: "late"}
_REASONS: dict[str | None, Pair] = {
    "time": ("总时间用完", "the total time was used up"),
    "restarts": ("内核重启次数太多", "the kernel had to be replaced too often"),
    "gone": ("你的代码结束了运行 notebook 的进程", "your code ended the process that runs the notebook"),
}


def of_runs(
    master: Master, paired: Pairing, open_run: Outcome, hidden_run: Outcome | None, seconds: dict[str, float]
) -> dict[str, Any]:
    """The report after both runs; `seconds`: of everything, and the limit of a cell."""
    notes = [*(_said(note.code, of_note(note)) for note in paired.notes), *_of_cells(open_run, seconds["cell"])]
    items = [_item(test, open_run, hidden_run) for test in master.tests if test.points > 0]
    return {
        "format": 1,
        "complete": True,
        "items": items,
        "notes": notes[:MOST_NOTES],
        "failure": None,
        "staff": _staff(open_run, hidden_run),
        "seconds": round(seconds["all"], 2),
    }


def of_unread(master: Master, error: Unreadable) -> dict[str, Any]:
    """The report on a file that is no notebook."""
    said = of_unreadable(error)
    items = [_record(test, {"state": "gone"}, visible=False) for test in master.tests if test.points > 0]
    failure = {"state": "unreadable", "exception": None, "message": said[1], "file": None, "line": error.line}
    return {
        "format": 1,
        "complete": True,
        "items": items,
        "notes": [_said(error.code, said)],
        "failure": failure,
        "staff": [],
        "seconds": 0.0,
    }


def _item(test: Test, open_run: Outcome, hidden_run: Outcome | None) -> dict[str, Any]:
    """One graded cell: passed when what students know of it passes in the open run, and all in the hidden one."""
    first = open_run.tests.get(test.key)
    if first is not None and first["state"] == "not_run":
        first = {**first, "state": _ENDED[open_run.ended]}
    second = None if not test.hidden or hidden_run is None else hidden_run.tests.get(test.key, {"state": "not_run"})
    if second is not None and second["state"] == "not_run":
        second = {**second, "state": _ENDED[hidden_run.ended if hidden_run is not None else None]}
    if first is not None and (first["state"] != "passed" or second is None):
        return _record(test, first, visible=True)
    return _record(test, second or {"state": "late"}, visible=False)


def _record(test: Test, record: dict[str, Any], *, visible: bool) -> dict[str, Any]:
    state = _STATES.get(record["state"], record["state"])
    if record["state"] == "failed" and record.get("student") is True:
        state = "raised"
    message = str(record.get("text") or "")
    kind = str(record.get("type") or "")
    details = f"{record['state']} {kind}: {message} (line {record.get('line')})"
    return {
        "name": test.key[:100],
        "title": {"zh": test.name, "en": test.name},
        "group": {"zh": f"{test.name}（隐藏测试）", "en": f"{test.name} (hidden tests)"},
        "visible": visible,
        "points": test.points,
        "earned": test.points if state == "passed" else 0.0,
        "state": state,
        "message": message[:300] if visible else "",
        "exception": kind[:60] if visible and kind else None,
        "file": None,
        "line": record.get("line") if visible else None,
        "hint": None if test.hint is None else {"zh": test.hint[0][:300], "en": test.hint[1][:300]},
        "seconds": float(record.get("seconds") or 0.0),
        "details": details[:2000] if state != "passed" else "",
    }


def _of_cells(run: Outcome, limit: float) -> list[dict[str, Any]]:
    """What happened to the student's own cells."""
    found: list[Note] = []
    for number, record in sorted(run.cells.items()):
        state = record["state"]
        if state == "error":
            line = f" (line {record['line']})" if record.get("line") else ""
            found.append(Note("cell_error", number, f"{record.get('type')}: {record.get('text')}"[:120] + line))
        elif state == "timeout":
            found.append(Note("cell_timeout" if record.get("kept") else "cell_killed", number, f"{limit:g}"))
        elif state == "died":
            status = record.get("status")
            found.append(Note("cell_died", number, "?" if status is None else f"exit {status}"))
        elif state == "flood":
            found.append(Note("cell_flood", number))
    notes = [_said(note.code, of_note(note)) for note in found]
    left = [number for number, record in sorted(run.cells.items()) if record["state"] == "not_run"]
    if left and run.ended is not None:
        zh, en = _REASONS[run.ended]
        pair = of_note(Note("cell_not_run", left[0], "{why}"))
        notes.append(_said("cell_not_run", (pair[0].replace("{why}", zh), pair[1].replace("{why}", en))))
    return notes + [_said("lost", of_note(Note("lost", number))) for number in sorted(set(run.lost))[:10]]


def _staff(open_run: Outcome, hidden_run: Outcome | None) -> list[str]:
    lines = []
    for key, record in open_run.tests.items():
        if record.get("where") == "student":
            lines.append(f"{key}: ran in the student's process ({record['state']}); the student's code could forge it")
    for name, run in (("open run", open_run), ("hidden run", hidden_run)):
        if run is None:
            continue
        if run.ended or run.restarts:
            lines.append(f"{name}: ended early: {run.ended}; kernels replaced at cells {run.restarts}, lost {run.lost}")
    if hidden_run is not None:
        for number, record in hidden_run.cells.items():
            if record["state"] not in ("ok", "not_run") and open_run.cells.get(number, {}).get("state") == "ok":
                lines.append(
                    f"hidden run: cell {number} {record['state']} though it ran before: {record.get('text', '')}"
                )
    return [line[:500] for line in lines[:MOST_NOTES]]


def _said(code: str, pair: Pair) -> dict[str, Any]:
    return {"code": code, "text": {"zh": pair[0][:300], "en": pair[1][:300]}}
