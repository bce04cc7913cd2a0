"""Checking a lab: its folder, then every sample graded on an embedded platform and compared with expect.toml."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qianka.cli import following, output, samples, trial
from qianka.cli.output import t
from qianka.cli.samples import Outcome, Sample
from qianka.errors import BadInput, QiankaError, Text

if TYPE_CHECKING:
    from qianka.schemas.submissions import Attempt


@dataclass
class Report:
    """What came of one lab."""

    folder: Path
    title: str = ""
    problem: QiankaError | None = None
    warnings: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    left: list[Sample] = field(default_factory=list)
    """samples that are not run without a sandbox"""

    @property
    def ok(self) -> bool:
        """Whether the lab is sound and every sample got what it states."""
        return self.problem is None and not any(outcome.differences for outcome in self.outcomes)

    def as_json(self) -> dict[str, Any]:
        """For --json."""
        language = output.language()
        found = [
            {
                "sample": one.sample.name,
                "verdict": one.verdict,
                "points": one.points,
                "expected": {"verdict": one.sample.verdict, "points": list(one.sample.points)},
                "differences": [text.say(language) for text in one.differences],
            }
            for one in self.outcomes
        ]
        problem = None if self.problem is None else self.problem.message.say(language)
        return {
            "lab": str(self.folder),
            "ok": self.ok,
            "problem": problem,
            "warnings": self.warnings,
            "samples": found,
            "not_run": [sample.name for sample in self.left],
        }


def run(folder: Path, only: Sequence[str], isolation: str) -> Report:
    """Check one lab folder; `only`: names of samples, all when empty."""
    report = Report(folder)
    chosen = _chosen(samples.load(folder), only)
    if isolation == "none":
        report.left = [sample for sample in chosen if sample.needs_isolation]
        chosen = [sample for sample in chosen if not sample.needs_isolation]
    with tempfile.TemporaryDirectory(prefix="qianka-", ignore_cleanup_errors=True) as scratch:
        platform = trial.start(Path(scratch), isolation)
        try:
            one = trial.Trial(platform)
            published = one.publish(folder, folder.absolute().name.lower())
            report.title = published.title
            report.warnings = [f"{p.file}:{p.line}: {p.key}: {p.message}" for p in published.warnings]
            report.outcomes = _grade(one, chosen)
        except QiankaError as error:
            report.problem = error
        finally:
            platform.stop()
    return report


def show(report: Report) -> None:
    """The report for people."""
    output.say(f"{report.folder}  {report.title}")
    for warning in report.warnings:
        output.say(f"  ! {warning}")
    if report.problem is not None:
        output.refusal(report.problem)
        return
    rows = [
        [
            one.sample.name,
            one.verdict,
            one.points,
            f"{one.sample.verdict} {one.sample.points[0]:g}–{one.sample.points[1]:g}",
            "; ".join(text.say(output.language()) for text in one.differences) or "✓",
        ]
        for one in report.outcomes
    ]
    rows += [[one.name, "not_run", None, one.verdict, t("需要隔离", "needs a sandbox")] for one in report.left]
    headings = [t("样例", "sample"), t("判定", "verdict"), t("得分", "points"), t("应为", "expected"), ""]
    output.table(headings, rows)
    if report.ok:
        output.say(Text("全部与 expect.toml 相符", "all as expect.toml states"))


def _grade(one: trial.Trial, chosen: Sequence[Sample]) -> list[Outcome]:
    handed = one.hand_in_all([(sample.path, sample.name) for sample in chosen])
    names = {h.attempt.id: s.name for s, h in zip(chosen, handed, strict=True) if h.attempt is not None}
    last: dict[str, str] = {}

    def tell(attempt: Attempt) -> None:
        words = following.where(attempt)
        if last.get(attempt.id) != words:
            last[attempt.id] = words
            output.note(f"  {names[attempt.id]:<20} {words}")

    ended = one.follow(list(names), tell)
    outcomes = []
    for sample, hand in zip(chosen, handed, strict=True):
        refused = samples.refused(sample, hand)
        if refused is not None or hand.attempt is None:
            outcomes.append(refused or samples.judge(sample, "invalid", None, None))
            continue
        attempt = ended[hand.attempt.id]
        verdict = attempt.verdict or attempt.state
        outcomes.append(samples.judge(sample, verdict, attempt.points, samples.flags(attempt)))
    return outcomes


def _chosen(found: list[Sample], only: Sequence[str]) -> list[Sample]:
    unknown = set(only) - {sample.name for sample in found}
    if unknown:
        names = ", ".join(sorted(unknown))
        raise BadInput(Text(f"没有样例 {names}", f"there is no sample {names}"))
    return [sample for sample in found if not only or sample.name in only]
