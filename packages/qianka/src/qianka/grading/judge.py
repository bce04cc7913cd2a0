"""From the results of all stages to verdict, points and feedback. Decides; runs and stores nothing.

Fail closed: whatever is missing from our own side is infra_error. Nothing student code printed counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from qianka.domain.verdicts import Verdict
from qianka.errors import PlatformFault, Text
from qianka.grading import failures, flags
from qianka.grading.advice import NAN_SEEN, TESTS_BELOW, advise
from qianka.grading.checks import memory, metric, paired, style, time
from qianka.grading.checks.result import CheckResult, rounded
from qianka.grading.failures import Failure
from qianka.grading.figures import Score, Style, read_score, read_style
from qianka.grading.flags import Flag
from qianka.grading.model import (
    MAX_POINTS,
    BoardRule,
    Lab,
    MemoryCheck,
    MetricCheck,
    NotebookCheck,
    StyleCheck,
    TestsCheck,
    TimeCheck,
)
from qianka.grading.report import Report, read_report

Result = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that is known of one attempt. `results`: result.json by stage, repeats as `train#2`."""

    results: Mapping[str, Result | None] = field(default_factory=dict)
    stderr: Mapping[str, str] = field(default_factory=dict)
    """the tail of what a stage wrote there: explains failures, decides nothing"""
    stdout: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """files a stage left in out/"""
    score: object = None
    """figures.json of the judge stage as it was read; None: there is none"""
    style: object = None
    """style.json of the style stage"""
    reports: Mapping[str, object] = field(default_factory=dict)
    """tests.json, notebook.json by stage, as they were read"""
    tries: int = 0
    """tries that the person had used in this lab before this one"""
    reference: Mapping[str, Any] | None = None
    """{"train": {"cpu", "wall", "peak_memory"}, …} of the same node; None: no comparison (practice)"""
    encoding: tuple[tuple[Text, Text], ...] = ()
    """sources that Python cannot read: (what, what to do)"""
    flags: tuple[Flag, ...] = ()
    tree: str = "/work"
    late: bool = False
    start_share: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What an attempt ended with. `points` and `score` are None where there is no grade."""

    verdict: Verdict
    points: float | None
    max_points: float
    score: float | None
    checks: tuple[CheckResult, ...]
    advice: Text
    failure: Failure | None = None
    problem: Score | None = None
    """the predictions' mistakes"""
    encoding: tuple[tuple[Text, Text], ...] = ()
    flags: tuple[Flag, ...] = ()
    reports: Mapping[str, Report] = field(default_factory=dict)
    """what our side of paired stages found, for staff"""
    fault: str | None = None
    """why it is infra_error, for staff"""
    late: bool = False


def judge(lab: Lab, evidence: Evidence) -> Judgement:
    """Verdict and points of an attempt whose stages have all ended."""
    if evidence.encoding:
        return _end(lab, evidence, Verdict.BAD_ENCODING, advice=evidence.encoding[0][1])
    failure = first_failure(lab, evidence)
    if failure is not None and failure.verdict in (Verdict.INFRA_ERROR, Verdict.CANCELLED):
        fault = f"{failure.stage}: {evidence.results.get(failure.stage)}"[:500]
        return _end(lab, evidence, failure.verdict, failure=failure, fault=fault)
    try:
        form = _read_form(lab, evidence)
        reports = _read_reports(lab, evidence)
        failure = failure or _nothing_to_test(evidence, reports)
        if failure is not None:
            advice = failure.advice
            return _end(lab, evidence, failure.verdict, advice=advice, failure=failure, form=form, reports=reports)
        score = None
        if lab.train is not None:
            _require_completed(evidence, "judge")
            score = read_score(evidence.score, lab)
    except PlatformFault as fault:
        return _end(lab, evidence, Verdict.INFRA_ERROR, fault=fault.message.en)
    if score is not None and score.problems:
        missing = score.problems[0].code == "missing_file"
        verdict = Verdict.NO_PREDICTIONS if missing else Verdict.BAD_PREDICTIONS
        return _end(lab, evidence, verdict, form=form, problem=score, reports=reports)
    return _graded(lab, evidence, score, form, reports)


def first_failure(lab: Lab, evidence: Evidence) -> Failure | None:
    """The first stage of student code that did not complete; of a paired stage, only that it was cancelled."""
    for check in lab.paired:
        result = evidence.results.get(check.kind) or {}
        if result.get("state") == "CANCELLED":
            return failures.explain(check.kind, result, "", evidence.tree)
    for stage in ("train", "predict") if lab.train is not None else ():
        if stage not in evidence.results and stage == "predict":
            return None
        failure = failures.explain(stage, evidence.results.get(stage), evidence.stderr.get(stage, ""), evidence.tree)
        if failure is not None:
            return failure
    return None


def passes(lab: Lab, score: object) -> bool:
    """Whether figures.json says that every metric reaches its line; False for anything odd."""
    try:
        read = read_score(score, lab)
    except PlatformFault:
        return False
    return not read.problems and all(metric.reaches_line(c, read.scores[c.metric]) for c in lab.metric_checks)


def repeats(lab: Lab, evidence: Evidence) -> tuple[str, ...]:
    """The stages to run again before the time check can be told from noise."""
    if evidence.reference is None or not passes(lab, evidence.score):
        return ()
    for check in lab.checks:
        if isinstance(check, TimeCheck) and time.wants_repeat(
            check, _runs(evidence, check.of), dict(evidence.reference)
        ):
            return tuple(f"{check.of}#{n}" for n in range(2, time.RUNS + 1))
    return ()


def _read_form(lab: Lab, evidence: Evidence) -> Style | None:
    """The style stage's figures; None where the lab asks for none. Raises PlatformFault."""
    if lab.style is None:
        return None
    _require_completed(evidence, "style")
    return read_style(evidence.style)


def _read_reports(lab: Lab, evidence: Evidence) -> dict[str, Report]:
    """What our side of each paired stage found. Raises PlatformFault: no complete report, no grade."""
    found: dict[str, Report] = {}
    for check in lab.paired:
        _require_completed(evidence, check.kind)
        found[check.kind] = read_report(evidence.reports.get(check.kind))
    return found


def _nothing_to_test(evidence: Evidence, reports: Mapping[str, Report]) -> Failure | None:
    """Why a hand-in of which nothing passed could not even be tried."""
    for stage, report in reports.items():
        if not report.share and (found := failures.explain_paired(stage, evidence.results.get(stage), report)):
            return found
    return None


def _require_completed(evidence: Evidence, stage: str) -> None:
    result = evidence.results.get(stage)
    if result is None or result.get("state") != "COMPLETED":
        state = None if result is None else result.get("state")
        said = evidence.stderr.get(stage, "")[-1500:].strip()
        more = f": {said}" if said else ""
        raise PlatformFault(Text(f"{stage} 没有完成：{state}{more}", f"{stage} did not complete: {state}{more}"))


def _graded(
    lab: Lab, evidence: Evidence, score: Score | None, form: Style | None, reports: Mapping[str, Report]
) -> Judgement:
    scores = {} if score is None else score.scores
    learned = all(metric.reaches_line(check, scores[check.metric]) for check in lab.metric_checks)
    passed = learned and all(paired.reaches_line(check, reports[check.kind]) for check in lab.paired)
    board = lab.board or BoardRule(metric="accuracy", digits=4)
    results: list[CheckResult] = []
    for check in lab.checks:
        if isinstance(check, MetricCheck):
            results.append(metric.evaluate(check, scores[check.metric], board.digits))
        elif isinstance(check, TimeCheck):
            runs, base = _runs(evidence, check.of), dict(evidence.reference or {})
            results.append(time.evaluate(check, runs, base, passed=learned, start_share=evidence.start_share))
        elif isinstance(check, MemoryCheck):
            run, base = evidence.results.get(check.of) or {}, dict(evidence.reference or {})
            results.append(memory.evaluate(check, run, base, passed=learned))
        elif isinstance(check, TestsCheck | NotebookCheck):
            results.append(paired.evaluate(check, reports[check.kind], evidence.tries))
        elif form is not None:
            results.append(style.evaluate(check, form))
    verdict = Verdict.ACCEPTED if passed else Verdict.BELOW_LINE
    return Judgement(
        verdict=verdict,
        points=rounded(sum(result.points for result in results)),
        max_points=rounded(sum(result.most for result in results)),
        score=scores.get(board.metric),
        checks=tuple(results),
        advice=_advice(evidence, passed=passed, learned=learned),
        flags=_flags(evidence, form, reports),
        reports=reports,
        late=evidence.late,
    )


def _advice(evidence: Evidence, *, passed: bool, learned: bool) -> Text:
    """What to do next; `learned`: the metrics reach their lines, so if anything is missing it is tests."""
    if passed:
        return advise(Verdict.ACCEPTED, "judge", None, "")
    if learned:
        return TESTS_BELOW
    return NAN_SEEN if _printed_nan(evidence.stdout.get("train", "")) else advise(Verdict.BELOW_LINE, "judge", None, "")


def _end(
    lab: Lab,
    evidence: Evidence,
    verdict: Verdict,
    *,
    form: Style | None = None,
    advice: Text | None = None,
    failure: Failure | None = None,
    problem: Score | None = None,
    reports: Mapping[str, Report] | None = None,
    fault: str | None = None,
) -> Judgement:
    """An attempt without a score: a program that does not run earns nothing, but its form is still told."""
    counts = verdict not in (Verdict.INFRA_ERROR, Verdict.CANCELLED, Verdict.INVALID, Verdict.NOT_RUN)
    told = [style.evaluate(c, form) for c in lab.checks if isinstance(c, StyleCheck) and form is not None]
    return Judgement(
        verdict=verdict,
        points=0.0 if counts else None,
        max_points=MAX_POINTS,
        score=None,
        checks=tuple(replace(result, points=0.0, detail=_not_counted(result.detail)) for result in told),
        advice=advice or advise(verdict, "judge", None, ""),
        failure=failure,
        problem=problem,
        encoding=evidence.encoding,
        flags=_flags(evidence, form, reports or {}),
        reports=reports or {},
        fault=fault,
        late=evidence.late,
    )


def _not_counted(detail: Text) -> Text:
    return Text(
        f"{detail.zh}。程序没有交出可评的预测，这项暂不计分",
        f"{detail.en}. No points while the program leaves no predictions that can be scored",
    )


def _runs(evidence: Evidence, stage: str) -> list[Result]:
    wanted = [stage, *(f"{stage}#{n}" for n in range(2, time.RUNS + 1))]
    return [result for name in wanted if (result := evidence.results.get(name)) is not None]


def _printed_nan(stdout: str) -> bool:
    return (
        "nan" in stdout.lower().replace("\t", " ").split() or "loss=nan" in stdout.lower() or ": nan" in stdout.lower()
    )


def _flags(evidence: Evidence, form: Style | None, reports: Mapping[str, Report]) -> tuple[Flag, ...]:
    found = list(evidence.flags)
    for stage in ("train", "predict", "tests", "notebook"):
        result = evidence.results.get(stage)
        # Of a run of two, what the student's side did.
        theirs = (result or {}).get("peer") if stage in ("tests", "notebook") else result
        found += flags.of_output(stage, evidence.stdout.get(stage, ""), evidence.names.get(stage, ()))
        found += flags.of_result(stage, theirs)
    for stage, report in reports.items():
        found += flags.of_report(stage, report)
    if form is not None:
        found += flags.of_style(form)
    return tuple(dict.fromkeys(found))[: flags.MAX_FLAGS]
