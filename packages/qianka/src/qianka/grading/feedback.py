"""A judgement as the student sees it (JSON and escaped HTML), and the notes for staff.

Of stages that see hidden inputs the student gets state, time and a well-known exception type, no more.
"""

from __future__ import annotations

from html import escape
from typing import Any

from qianka.domain.verdicts import VERDICTS
from qianka.errors import Language, Text
from qianka.grading.judge import Evidence, Judgement
from qianka.grading.model import MIB, Lab
from qianka.grading.prediction_texts import say
from qianka.grading.report import Report

FORMAT = 1
MOST_REPORTED = 50
_LISTS = ("tests", "notebook")
"""checks whose detail is a list of many parts"""


def for_student(lab: Lab, judgement: Judgement, evidence: Evidence) -> dict[str, Any]:
    """The feedback kept with the attempt."""
    words, failure = VERDICTS[judgement.verdict], judgement.failure
    problems = []
    if judgement.problem is not None and lab.predictions is not None:
        problems = [say(p, lab.predictions) for p in judgement.problem.problems]
    return {
        "format": FORMAT,
        "verdict": judgement.verdict.value,
        "title": {"zh": words.zh, "en": words.en},
        "advice": judgement.advice._asdict(),
        "points": judgement.points,
        "max_points": judgement.max_points,
        "score": judgement.score,
        "metric": None if lab.board is None else lab.board.metric,
        "digits": 4 if lab.board is None else lab.board.digits,
        "late": judgement.late,
        "stage": None if failure is None else failure.stage,
        "exception": None if failure is None else failure.exception,
        "file": None if failure is None else failure.file,
        "line": None if failure is None else failure.line,
        "message": None if failure is None else failure.message,
        "encoding": [
            {"zh": what.zh, "en": what.en, "hint_zh": hint.zh, "hint_en": hint.en} for what, hint in judgement.encoding
        ],
        "problems": problems,
        "checks": [check.as_json() for check in judgement.checks],
        "stages": [_stage(name, evidence) for name in evidence.results if not name.startswith(("judge", "style"))],
    }


def for_staff(judgement: Judgement, evidence: Evidence) -> dict[str, Any]:
    """What only staff may see: flags, faults, raw figures, raw predictions that were refused."""
    problems = () if judgement.problem is None else judgement.problem.problems
    return {
        "format": FORMAT,
        "flags": [flag.as_json() for flag in judgement.flags],
        "fault": judgement.fault,
        "reports": {stage: _report(report) for stage, report in judgement.reports.items()},
        "runs": {name: _raw(result) for name, result in evidence.results.items()},
        "reference": None if evidence.reference is None else dict(evidence.reference),
        "offenders": {
            problem.code: [{"line": o.line, "id": o.id, "value": o.value} for o in problem.first]
            for problem in problems
        },
    }


def to_html(feedback: dict[str, Any], language: Language) -> str:
    """The feedback as a fragment of HTML; every text in it is escaped."""
    zh = language == "zh"
    title = _say(feedback["title"], language)
    parts = [f'<section class="feedback verdict-{escape(str(feedback["verdict"]))}"><h2>{title}</h2>']
    if feedback["points"] is not None:
        label = "得分：" if zh else "points: "
        parts.append(f"<p>{label}{feedback['points']:g} / {feedback['max_points']:g}</p>")
    where = _where(feedback, zh)
    if where:
        parts.append(f"<p><code>{escape(where)}</code></p>")
    parts.append(f"<p>{_say(feedback['advice'], language)}</p>")
    lines = [escape(line) for line in _problems(feedback, language)]
    if lines:
        parts.append("<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>")
    if feedback["checks"]:
        rows = "".join(_row(check, language) for check in feedback["checks"])
        head = ("项目", "得分", "说明") if zh else ("check", "points", "detail")
        cells = "".join(f"<th>{cell}</th>" for cell in head)
        parts.append(f"<table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>")
    return "".join(parts) + "</section>"


def findings(feedback: dict[str, Any], language: Language) -> list[str]:
    """What went wrong where, a sentence each: the failing stage, files that are no UTF-8, lines of predictions.

    Empty for the feedback of a hand-in that ran, and for none.
    """
    if not feedback:
        return []
    where = _where(feedback, language == "zh")
    return [*([where] if where else []), *_problems(feedback, language)]


def _problems(feedback: dict[str, Any], language: Language) -> list[str]:
    full_stop = "。" if language == "zh" else ". "
    lines = [item[language] + full_stop + item[f"hint_{language}"] for item in feedback.get("encoding", [])]
    return lines + [_problem(item, language) for item in feedback.get("problems", [])]


def _stage(name: str, evidence: Evidence) -> dict[str, Any]:
    result = evidence.results[name] or {}
    # Of a run of two, the student's side: ours is the platform's own. In it student code meets hidden
    # inputs, and exact figures would let it tell of them: what it used is told in coarse steps.
    peer = result.get("peer")
    own, digits, step = (peer, 0, 64 * MIB) if peer else (result, 1, 1)
    return {
        "name": name,
        "state": own.get("state"),
        "wall": _rounded(result.get("wall"), digits),
        "cpu": _rounded(own.get("cpu"), digits),
        "peak_memory": _stepped(own.get("peak_memory"), step),
        "peak_card_memory": own.get("peak_card_memory"),
        "isolation": result.get("isolation"),
    }


def _raw(result: dict[str, Any] | None) -> dict[str, Any] | None:
    keys = (
        "state",
        "exit_code",
        "signal",
        "reason",
        "wall",
        "cpu",
        "peak_memory",
        "node",
        "disturbed",
        "cores",
        "peer",
    )
    return None if result is None else {key: result.get(key) for key in keys}


def _report(report: Report) -> dict[str, Any]:
    """All items of a paired stage that did not pass, hidden ones too, with what our side saw."""
    failed = [item for item in report.items if item.state != "passed"]
    keys = ("name", "visible", "state", "exception", "message", "file", "line", "details")
    return {
        "share": report.share,
        "seconds": report.seconds,
        "staff": list(report.staff),
        "failed": [{key: getattr(item, key) for key in keys} for item in failed[:MOST_REPORTED]],
    }


def _rounded(value: object, digits: int) -> float | None:
    return round(float(value), digits) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _stepped(value: object, step: int) -> int | None:
    """The next multiple of `step` bytes."""
    return -(-value // step) * step if isinstance(value, int) and not isinstance(value, bool) else None


def _say(text: dict[str, Any], language: Language) -> str:
    return escape(Text(text["zh"], text["en"]).say(language))


def _where(feedback: dict[str, Any], zh: bool) -> str:
    parts = []
    if feedback.get("stage"):
        parts.append(("阶段 " if zh else "stage ") + str(feedback["stage"]))
    if feedback.get("file"):
        parts.append(f"{feedback['file']}:{feedback['line']}")
    if feedback.get("exception"):
        message = feedback.get("message")
        parts.append(str(feedback["exception"]) + (f": {message}" if message else ""))
    return " · ".join(parts)


def _problem(item: dict[str, Any], language: Language) -> str:
    places = []
    for offender in item["first"]:
        line = (
            "" if offender["line"] is None else ("第 {} 行" if language == "zh" else "line {}").format(offender["line"])
        )
        places.append(" ".join(part for part in (line, f"id={offender['id']}" if offender["id"] else "") if part))
    listed = "；".join(places) if language == "zh" else "; ".join(places)
    said = Text(item["zh"], item["en"]).say(language)
    return said + f" × {item['count']}" + (f"（{listed}）" if listed else "")


def _detail(check: dict[str, Any], language: Language) -> str:
    """The detail, escaped; of tests, one part of it below the other."""
    text = Text(check["detail"]["zh"], check["detail"]["en"]).say(language)
    apart = "；" if language == "zh" else "; "
    return "<br>".join(escape(part) for part in (text.split(apart) if check["kind"] in _LISTS else [text]))


def _row(check: dict[str, Any], language: Language) -> str:
    title, detail = _say(check["title"], language), _detail(check, language)
    return f"<tr><td>{title}</td><td>{check['points']:g} / {check['max']:g}</td><td>{detail}</td></tr>"
