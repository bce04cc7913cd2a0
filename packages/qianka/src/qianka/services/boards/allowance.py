"""When and how often predictions may be entered: opening, deadline, tries a day, a week and in all.

A try is charged to the instant at which the file came, in the cohort's zone. Days and weeks are calendar
ones that begin at a local time, never 24 hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.errors import Conflict, OverLimit, Text
from qianka.policy.week import Window, window
from qianka.services import access
from qianka.services.boards.loading import Opened
from qianka.services.submissions import Tries
from qianka.services.submissions.limits import shown
from qianka.store.repos import boards as repo


@dataclass(frozen=True)
class Allowance:
    """What one owner may still enter; `None`: no such limit. The day always has one, except for staff."""

    day: Tries
    week: Tries | None
    total: tuple[int, int] | None
    """(limit, used)"""

    @property
    def left(self) -> int | None:
        """How many may be entered now; None: as many as they like."""
        if self.day.left is None:
            return None
        week = self.day.left if self.week is None or self.week.left is None else self.week.left
        total = self.day.left if self.total is None else max(0, self.total[0] - self.total[1])
        return min(self.day.left, week, total)

    @property
    def sentence(self) -> Text:
        """Of the limit that is nearest, such as `剩 2 次，18:00 后重置（还有 5 小时 12 分）`."""
        left = self.left
        if left is None or left == self.day.left:
            return self.day.sentence
        if self.week is not None and left == self.week.left:
            again = shown(self.week.resets_at, self.week.zone)
            return Text(f"本周剩 {left} 次，{again} 重置", f"{left} left this week, reset at {again}")
        return Text(f"总共还剩 {left} 次", f"{left} left in all")


def day_window(now: datetime, zone: ZoneInfo, clock: str) -> Window:
    """The day around `now` that begins at the local time `clock`; 23 or 25 hours long when the clocks change."""
    hour, minute = map(int, clock.split(":"))
    today = now.astimezone(zone).date()
    starts = [
        datetime.combine(today + timedelta(days=days), time(hour, minute), zone).astimezone(timezone.utc)
        for days in (-2, -1, 0, 1, 2)
    ]
    return Window(max(start for start in starts if start <= now), min(start for start in starts if start > now))


def allowance_of(
    session: Session, board: Opened, person_id: int, group_id: int | None, now: datetime, *, is_staff: bool
) -> Allowance:
    """What a person (or their group) has left at the instant `now`."""
    rules, zone = board.rules, board.cohort.zone

    def tries(limit: int | None, span: Window) -> Tries:
        used = repo.charged_between(session, board.row.id, person_id, group_id, span.start, span.end)
        return Tries(None if is_staff else limit, used, span.end, now, zone)

    day = tries(rules.a_day, day_window(now, ZoneInfo(zone), rules.reset))
    if is_staff:
        return Allowance(day, None, None)
    week = None
    if rules.a_week is not None:
        week = tries(rules.a_week, window(board.cohort.week_start, ZoneInfo(zone), now))
    total = None
    if rules.total is not None:
        total = rules.total, repo.charged_between(session, board.row.id, person_id, group_id)
    return Allowance(day, week, total)


def check_left(allowance: Allowance) -> None:
    """Raises OverLimit when nothing is left, naming the limit and when it is lifted."""
    if allowance.left != 0:
        return
    free = Text("平台故障和无效文件不占次数", "platform faults and invalid files do not count")
    if allowance.total is not None and allowance.total[0] <= allowance.total[1]:
        limit = allowance.total[0]
        raise OverLimit(
            Text(f"总共 {limit} 次提交已用完", f"all {limit} entries are used up"),
            Text(f"榜上保留最好的一份；{free.zh}", f"the best one stands; {free.en}"),
            reason="no_tries_left",
            limit=limit,
        )
    is_week = allowance.week is not None and allowance.week.left == 0
    tries = allowance.week if is_week and allowance.week is not None else allowance.day
    again = shown(tries.resets_at, tries.zone)
    span = Text("本周", "this week's") if is_week else Text("今天", "today's")
    raise OverLimit(
        Text(f"{span.zh}的 {tries.limit} 次提交已用完", f"{span.en} {tries.limit} entries are used up"),
        Text(f"{again} 重置；{tries.sentence.zh}；{free.zh}", f"reset at {again}; {tries.sentence.en}; {free.en}"),
        reason="no_tries_left",
        limit=tries.limit,
        resets_at=tries.resets_at.isoformat(),
    )


def check_open(board: Opened, now: datetime) -> None:
    """Raises Conflict before the opening."""
    row, zone = board.row, board.cohort.zone
    if row.opens_at is not None and now < row.opens_at:
        raise Conflict(
            Text("这个排行榜还没有开放", "this board is not open yet"),
            Text(f"{shown(row.opens_at, zone)} 开放", f"it opens at {shown(row.opens_at, zone)}"),
            reason="not_open",
            opens_at=row.opens_at.isoformat(),
        )


def check_time(board: Opened, now: datetime) -> None:
    """Raises Conflict before the opening, after the deadline, and where the cohort was put away."""
    check_open(board, now)
    access.require_open(board.cohort)
    row, zone = board.row, board.cohort.zone
    if row.due_at is not None and now > row.due_at:
        raise Conflict(
            Text(f"已过截止时间 {shown(row.due_at, zone)}", f"the deadline was {shown(row.due_at, zone)}"),
            Text("排名按截止前选定的提交计算", "what was chosen before it counts"),
            reason="past_due",
            due_at=row.due_at.isoformat(),
        )
