"""Job arrays as words: `12 jobs: 3 COMPLETED, 2 RUNNING, 7 PENDING`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qianka.cli import output
from qianka.cli.output import t

if TYPE_CHECKING:
    from qianka.schemas.jobs import JobArray


def counts(states: dict[str, int]) -> str:
    """How many jobs are in which state."""
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items()))


def show(array: JobArray) -> None:
    """The array in a line, then its jobs."""
    say(array)
    headings = [
        t("任务", "job"),
        t("序号", "index"),
        t("状态", "state"),
        t("原因", "reason"),
        t("用时（秒）", "seconds"),
    ]
    rows = [
        [one.id, str(one.index), one.state, one.reason_text, None if one.wall is None else f"{one.wall:.1f}"]
        for one in array.jobs
    ]
    output.table(headings, rows)


def say(array: JobArray) -> None:
    """The array in a line."""
    total = len(array.jobs)
    most = "" if array.most is None else t(f"（同时至多 {array.most} 个）", f" ({array.most} at once at most)")
    words = t(f"{total} 个任务", f"{total} jobs")
    output.say(f"{array.id}  {array.name}  {words}{most}: {counts(array.states)}")
