"""What the demo shows at its end: each sample against what it states, the board, a budget."""

from __future__ import annotations

from collections.abc import Sequence

from qianka.cli import output
from qianka.cli.demo import classroom, people
from qianka.cli.embedded import Handle
from qianka.cli.output import t
from qianka.cli.samples import Outcome, Sample
from qianka.errors import Text


def show(platform: Handle, lab: str, outcomes: Sequence[Outcome], left: Sequence[Sample]) -> None:
    """Print all of it; `left` are the samples that were not run."""
    rows = [_row(one) for one in outcomes]
    rows += [[one.name, "not_run", None, one.verdict, t("需要隔离", "needs a sandbox")] for one in left]
    output.table([t("样例", "sample"), t("判定", "verdict"), t("得分", "points"), t("应为", "expected"), ""], rows)
    _board(platform, lab)
    _budget(platform)


def _row(one: Outcome) -> list[object]:
    low, high = one.sample.points
    differences = "; ".join(text.say(output.language()) for text in one.differences)
    return [one.sample.name, one.verdict, one.points, f"{one.sample.verdict} {low:g}-{high:g}", differences or "✓"]


def _board(platform: Handle, lab: str) -> None:
    with platform.client() as staff:
        board = staff.board(classroom.COHORT, lab, limit=10)
    output.say(Text("\n排行榜", "\nboard"))
    ranked = [[entry.rank, entry.name, entry.score, entry.points] for entry in board.entries if entry.rank is not None]
    output.table([t("名次", "rank"), t("别名", "alias"), t("分数", "score"), t("得分", "points")], ranked)


def _budget(platform: Handle) -> None:
    with classroom.student(platform, 0) as somebody:
        budget = somebody.budgets()[0]
    used, limit = budget.cpu_used * 3600, budget.cpu_limit or 0.0
    output.say(
        Text(
            f"\n{people.name(0)} 本周用了 {used:.1f} CPU 秒，额度 {limit:g} CPU 小时",
            f"\n{people.name(0)} used {used:.1f} CPU-seconds of {limit:g} CPU-hours this week",
        )
    )
