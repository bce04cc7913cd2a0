"""Why a stage of student code failed: from the supervisor's result and the tail of stderr to a verdict with advice.

Only the kind of an exception is taken from what student code printed, and only to explain a failure
that the supervisor has seen; nothing printed can make a failure a success.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass
from typing import Any

from qianka.domain.verdicts import Verdict
from qianka.errors import Text
from qianka.grading.advice import advise
from qianka.grading.report import Failure as Cause
from qianka.grading.report import Report

REASONS = {
    "timeout_wall": Verdict.TIMEOUT,
    "timeout_cpu": Verdict.TIMEOUT,
    "out_of_memory": Verdict.OUT_OF_MEMORY,
    "output_limit": Verdict.OUTPUT_LIMIT,
    "disk_full": Verdict.DISK_FULL,
    "process_limit": Verdict.PROCESS_LIMIT,
    "cancelled": Verdict.CANCELLED,
}
STATES = {
    "TIMEOUT": Verdict.TIMEOUT,
    "OUT_OF_MEMORY": Verdict.OUT_OF_MEMORY,
    "CANCELLED": Verdict.CANCELLED,
    "FAILED": Verdict.CRASHED,
}
BY_EXCEPTION = {
    "ImportError": Verdict.IMPORT_ERROR,
    "ModuleNotFoundError": Verdict.IMPORT_ERROR,
    "MemoryError": Verdict.OUT_OF_MEMORY,
    "OutOfMemoryError": Verdict.OUT_OF_MEMORY,
}
LIBRARY_EXCEPTIONS = ("OutOfMemoryError", "LinAlgError", "BadZipFile", "UnpicklingError", "JSONDecodeError", "Error")
_BY_MESSAGE = (
    (re.compile(r"Non-UTF-8 code|unknown encoding|null bytes|encoding problem"), Verdict.BAD_ENCODING),
    (re.compile(r"can't allocate memory|CUDA out of memory|Cannot allocate memory"), Verdict.OUT_OF_MEMORY),
    (re.compile(r"No space left on device|Disk quota exceeded"), Verdict.DISK_FULL),
    (re.compile(r"can't start new thread|Resource temporarily unavailable"), Verdict.PROCESS_LIMIT),
)
_LAST_LINE = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: (.*))?$")
_FRAME = re.compile(r'^\s*File "([^"\n]+)", line (\d+)', re.MULTILINE)
_TAIL = 16 * 1024
_MESSAGE = 300


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A stage that did not end as it should. `line` and `message` are None where they could tell hidden things."""

    verdict: Verdict
    stage: str
    exception: str | None
    file: str | None
    line: int | None
    message: str | None
    advice: Text
    limit: float | None
    measured: float | None


def explain(stage: str, result: dict[str, Any] | None, stderr: str, tree: str) -> Failure | None:
    """Why `stage` failed; None when it completed. A result that is missing or makes no sense is our fault.

    `tree`: the hand-in's own path, as it shows in tracebacks where nothing is mounted at /work.
    """
    if result is not None and result.get("state") == "COMPLETED":
        return None
    verdict = _of_result(result)
    exception, message = _exception(stderr[-_TAIL:])
    if verdict is Verdict.CRASHED:
        verdict = _of_exception(exception, message)
    is_open = stage.startswith("train")
    file, line = _place(stderr[-_TAIL:], tree) if is_open and exception else (None, None)
    reason = (result or {}).get("reason") or {}
    signal = (result or {}).get("signal")
    return Failure(
        verdict=verdict,
        stage=stage,
        exception=_shown(exception, is_open),
        file=file,
        line=line,
        message=message[:_MESSAGE] if is_open and message else None,
        advice=advise(verdict, stage, exception, message, signal if isinstance(signal, int) else None),
        limit=_number(reason.get("limit")),
        measured=_number(reason.get("measured")),
    )


def explain_paired(stage: str, result: dict[str, Any] | None, report: Report) -> Failure | None:
    """Why a paired stage in which nothing passed had nothing to test; None where the tests say enough by themselves.

    `report.failure` holds words of the student's code only where nothing hidden had been handed to it before.
    """
    if report.failure is not None and report.failure.state == "unreadable":
        return _unreadable(stage, report)
    peer = (result or {}).get("peer") or {}
    reason = peer.get("reason") or {}
    # A notebook's cells are graded one by one: that each of them raised is no crash of a program.
    told = report.failure or (None if stage == "notebook" else _all_raised(report))
    exception = None if told is None else told.exception
    if peer.get("state") not in (None, "COMPLETED", "CANCELLED"):
        verdict, exception, told = _of_result(peer), None, None
    elif told is not None and exception is not None:
        verdict = _of_exception(exception, told.message)
    elif all(item.state in ("timeout", "late") for item in report.items):
        verdict = Verdict.TIMEOUT
    else:
        return None
    signal = peer.get("signal")
    return Failure(
        verdict=Verdict.CRASHED if verdict is Verdict.INFRA_ERROR else verdict,
        stage=stage,
        exception=_shown(exception, told is not None and bool(told.message or told.file)),
        file=None if told is None else told.file,
        line=None if told is None else told.line,
        message=(told.message or None) if told is not None else None,
        advice=advise(verdict, stage, exception, "" if told is None else told.message, signal),
        limit=_number(reason.get("limit")),
        measured=_number(reason.get("measured")),
    )


def _unreadable(stage: str, report: Report) -> Failure:
    """A notebook that is none: nothing was run, so no try is used."""
    advice = report.notes[0].text if report.notes else advise(Verdict.INVALID, stage, None, "")
    return Failure(
        verdict=Verdict.INVALID,
        stage=stage,
        exception=None,
        file=None,
        line=None,
        message=None,
        advice=advice,
        limit=None,
        measured=None,
    )


def _all_raised(report: Report) -> Cause | None:
    """What the first visible item raised, where every single one raised something (an untouched starter, say)."""
    if any(item.state != "raised" for item in report.items):
        return None
    first = next((item for item in report.items if item.visible), None)
    if first is None:
        return Cause(state="raised", exception="Exception", message="", file=None, line=None)
    return Cause(state="raised", exception=first.exception, message=first.message, file=first.file, line=first.line)


def _of_result(result: dict[str, Any] | None) -> Verdict:
    if result is None:
        return Verdict.INFRA_ERROR
    reason = result.get("reason")
    code = reason.get("code") if isinstance(reason, dict) else None
    state = STATES.get(str(result.get("state")))
    if state is None or code in ("sandbox", "spawn", "lost", "stale"):
        return Verdict.INFRA_ERROR
    return REASONS.get(str(code), state)


def _exception(stderr: str) -> tuple[str | None, str]:
    """Type and message of the last uncaught exception that a Python traceback tells of."""
    _, found, tail = stderr.rpartition("Traceback (most recent call last):")
    if not found:
        _, found, tail = stderr.rpartition("SyntaxError: ")
        return ("SyntaxError", tail.splitlines()[0] if tail else "") if found else (None, "")
    for line in tail.splitlines():
        if not line[:1].isspace() and (match := _LAST_LINE.match(line.rstrip())):
            return match[1], match[2] or ""
    return None, ""


def _of_exception(exception: str | None, message: str) -> Verdict:
    if exception is None:
        return Verdict.CRASHED
    for pattern, verdict in _BY_MESSAGE:
        if pattern.search(message):
            return verdict
    return BY_EXCEPTION.get(exception.rpartition(".")[2], Verdict.CRASHED)


def _shown(exception: str | None, is_open: bool) -> str | None:
    """The type's name. Beside hidden data only well-known names: a made-up one could carry a message out."""
    if exception is None:
        return None
    name = exception.rpartition(".")[2][:60]
    known = getattr(builtins, name, None)
    if is_open or name in LIBRARY_EXCEPTIONS or (isinstance(known, type) and issubclass(known, BaseException)):
        return name
    return "Exception"


def _place(stderr: str, tree: str) -> tuple[str | None, int | None]:
    """The last frame that lies in the hand-in: file (relative) and line."""
    tail = stderr.rpartition("Traceback (most recent call last):")[2]
    found: tuple[str | None, int | None] = (None, None)
    for path, line in _FRAME.findall(tail):
        for root in ("/work/", tree.rstrip("/") + "/"):
            if path.startswith(root) and len(line) < 8:
                found = (path[len(root) :][:200], int(line))
    return found


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
