"""A grading as it goes: a line for each change, the result at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from qianka.cli import output
from qianka.cli.output import t
from qianka.errors import Text

if TYPE_CHECKING:
    from qianka.client.api import Client
    from qianka.schemas.submissions import Attempt

ENDED = ("done", "cancelled")


def follow(client: Client, attempt_id: str, tell: Callable[[Attempt], None]) -> Attempt:
    """The attempt once it has ended; `tell` is called with each state it passes through."""
    attempt = client.attempt(attempt_id)
    tell(attempt)
    if attempt.state in ENDED:
        return attempt
    for _ in client.follow([f"attempt:{attempt_id}"]):
        attempt = client.attempt(attempt_id)
        tell(attempt)
        if attempt.state in ENDED:
            break
    return attempt


class Teller:
    """Says each change of an attempt once."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, attempt: Attempt) -> None:
        """A line for where the attempt is now, unless it was said."""
        words = where(attempt)
        if words != self.last:
            self.last = words
            output.note("  " + words)


def where(attempt: Attempt) -> str:
    """One sentence on where an attempt is."""
    if attempt.state == "queued":
        waits = attempt.queue.sentence if attempt.queue is not None else ""
        return t("排队中", "queued") + (t("：", ": ") + waits if waits else "")
    if attempt.state == "running":
        return t("评分中", "grading") + (f"：{attempt.stage}" if attempt.stage else "")
    if attempt.state == "cancelled":
        return t("已取消", "cancelled")
    return t("评分完成", "graded")


def show(attempt: Attempt) -> None:
    """The result of an attempt: verdict, points, checks, advice."""
    verdict = attempt.verdict_text or attempt.verdict or "-"
    points = (
        f"{attempt.points:g} / {attempt.max_points:g}" if attempt.points is not None and attempt.max_points else "-"
    )
    output.say(Text(f"结果：{verdict}    得分：{points}", f"result: {verdict}    points: {points}"))
    if attempt.checks:
        headings = [t("检查", "check"), t("得分", "points"), t("说明", "what was found")]
        output.table(
            headings, [[c.title or c.kind, _points(c.points, c.max_points), c.message] for c in attempt.checks]
        )
    if attempt.advice:
        output.say(Text(f"建议：{attempt.advice}", f"advice: {attempt.advice}"))


def _points(points: float | None, of: float | None) -> str:
    return "-" if points is None else f"{points:g}" if of is None else f"{points:g}/{of:g}"
