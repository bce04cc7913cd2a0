"""Points for the score: nothing at `floor`, `at_line` of the weight at `line`, all of it at `full`."""

from __future__ import annotations

from qianka.errors import Text
from qianka.grading.checks.result import CheckResult, rounded
from qianka.grading.model import MetricCheck


def reaches_line(check: MetricCheck, score: float) -> bool:
    """Whether `score` passes."""
    return score == check.line or check.rule.better(score, check.line)


def share(check: MetricCheck, score: float) -> float:
    """The share of the weight that `score` earns, 0..1, linear between floor, line and full."""
    if score == check.full or check.rule.better(score, check.full):
        return 1.0
    if reaches_line(check, score):
        done = (score - check.line) / (check.full - check.line)
        return check.at_line + (1 - check.at_line) * done
    if check.rule.better(score, check.floor):
        return check.at_line * (score - check.floor) / (check.line - check.floor)
    return 0.0


def evaluate(check: MetricCheck, score: float, digits: int) -> CheckResult:
    """Points for `score`, shown with `digits` decimals."""
    rule = check.rule
    passed = reaches_line(check, score)
    shown, line, full = f"{score:.{digits}f}", f"{check.line:g}", f"{check.full:g}"
    return CheckResult(
        kind="metric",
        title=Text(rule.zh, rule.name),
        points=rounded(check.weight * share(check, score)),
        most=check.weight,
        detail=Text(
            f"{shown}（及格线 {line}，满分线 {full}）" + ("" if passed else "，没到及格线"),
            f"{shown} (line {line}, full {full})" + ("" if passed else ", below the line"),
        ),
        facts={"metric": rule.name, "score": score, "line": check.line, "full": check.full, "passed": passed},
    )
