"""Points for what our side of a paired run found: the share of the tests' points, times the weight."""

from __future__ import annotations

from qianka.errors import Text
from qianka.grading.checks.result import CheckResult, rounded
from qianka.grading.model import NotebookCheck, TestsCheck
from qianka.grading.report import Item, Report
from qianka.grading.report_texts import group_json, group_text, item_json, item_text

SHOWN = 5
_TITLES = {"tests": Text("测试", "tests"), "notebook": Text("笔记本", "notebook")}


def reaches_line(check: TestsCheck | NotebookCheck, report: Report) -> bool:
    """Whether enough of it passed."""
    return report.share >= check.line - 1e-9


def evaluate(check: TestsCheck | NotebookCheck, report: Report, tries: int) -> CheckResult:
    """Points for `report`; hints once `tries` (used before this one) are enough.

    Of hidden items nothing is told but the group's name, how many passed, and the teacher's hints.
    """
    seen = [item for item in report.items if item.visible]
    groups: dict[Text, list[Item]] = {}
    for item in report.items:
        if not item.visible:
            groups.setdefault(item.group, []).append(item)
    told = [item_json(item, tries >= check.hints_after) for item in seen]
    hidden = [group_json(name, items, tries >= check.hints_after) for name, items in groups.items()]
    parts = [Text(f"得到 {report.share:.0%}（及格线 {check.line:.0%}）", f"{report.share:.0%} (line {check.line:.0%})")]
    if seen:
        passed = sum(item.state == "passed" for item in seen)
        parts.append(Text(f"可见 {passed}/{len(seen)}", f"visible {passed} of {len(seen)}"))
    parts += [group_text(name, items) for name, items in groups.items()]
    failed = [item_text(item) for item in seen if item.state != "passed"][:SHOWN]
    parts += [note.text for note in report.notes[:SHOWN]]
    hints = {Text(hint["zh"], hint["en"]): None for told_of in (*told, *hidden) for hint in told_of["hints"]}
    parts += [*failed, *(Text(f"提示：{hint.zh}", f"hint: {hint.en}") for hint in list(hints)[:SHOWN])]
    return CheckResult(
        kind=check.kind,
        title=_TITLES[check.kind],
        points=rounded(check.weight * report.share),
        most=check.weight,
        detail=Text("；".join(part.zh for part in parts), "; ".join(part.en for part in parts)),
        facts={
            "share": round(report.share, 6),
            "line": check.line,
            "tries": tries,
            "hints_after": check.hints_after,
            "tests": told,
            "groups": hidden,
            "notes": [{"code": note.code, **note.text._asdict()} for note in report.notes],
        },
    )
