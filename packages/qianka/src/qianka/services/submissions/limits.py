"""How often a hand-in is taken: tries a day, storage. When: see `qianka.services.dates.door`.

Instants are UTC; days are calendar days in the cohort's zone, never 24 hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.errors import OverLimit, Text
from qianka.grading.model import Handin
from qianka.services.dates.words import shown as shown
from qianka.services.dates.words import span
from qianka.services.platform import Platform
from qianka.store.repos import submissions
from qianka.store.tables import Cohort, Lab


@dataclass(frozen=True)
class Tries:
    """The tries of one person in one lab today; None as `limit`: as many as they like (staff)."""

    limit: int | None
    used: int
    resets_at: datetime
    now: datetime
    zone: str

    @property
    def left(self) -> int | None:
        """How many are left until `resets_at`."""
        return None if self.limit is None else max(0, self.limit - self.used)

    @property
    def sentence(self) -> Text:
        """Such as `剩 2 次，18:00 后重置（还有 5 小时 12 分）`."""
        if self.left is None:
            return Text("教师和助教不限次数", "no limit for staff")
        clock = self.resets_at.astimezone(ZoneInfo(self.zone)).strftime("%H:%M")
        left = span(self.resets_at - self.now)
        return Text(
            f"剩 {self.left} 次，{clock} 后重置（还有 {left.zh}）",
            f"{self.left} left, reset after {clock} (in {left.en})",
        )


def day_of(now: datetime, zone: str) -> tuple[datetime, datetime]:
    """The calendar day in `zone` that holds `now`: its first instant and the first of the next, in UTC."""
    local = ZoneInfo(zone)
    today = now.astimezone(local).date()
    return _midnight(today, local), _midnight(today + timedelta(days=1), local)


def tries_of(
    session: Session,
    cohort: Cohort,
    lab: Lab,
    rules: Handin,
    person_id: int,
    now: datetime,
    *,
    is_staff: bool,
    group_id: int | None = None,
) -> Tries:
    """What is left of today's tries at the instant `now`; a group has one counter."""
    start, end = day_of(now, cohort.zone)
    used = submissions.charged_between(session, lab.id, person_id, start, end, group_id)
    return Tries(None if is_staff else rules.attempts_a_day, used, end, now, cohort.zone)


def check_tries(tries: Tries) -> None:
    """Raises OverLimit when today's tries are used up."""
    if tries.left != 0:
        return
    again, left = shown(tries.resets_at, tries.zone), span(tries.resets_at - tries.now)
    raise OverLimit(
        Text(f"今天的 {tries.limit} 次提交已用完", f"today's {tries.limit} hand-ins are used up"),
        Text(
            f"{again} 重置（还有 {left.zh}）；平台故障和无效提交不占次数",
            f"reset at {again} (in {left.en}); platform faults and invalid hand-ins do not count",
        ),
        reason="no_tries_left",
        limit=tries.limit,
        resets_at=tries.resets_at.isoformat(),
    )


def check_quota(session: Session, platform: Platform, person_id: int, archive_sha256: str, size: int) -> None:
    """Raises OverLimit when a person's hand-ins would take more room than the setting `quota.person_mb`."""
    limit = platform.settings.quota_person_mb
    used = submissions.stored_bytes(session, person_id, archive_sha256)
    if used + size > limit << 20:
        raise OverLimit(
            Text(
                f"你的提交已占 {used / (1 << 20):.1f} MB，再加这份就超过配额 {limit} MB",
                f"your hand-ins take {used / (1 << 20):.1f} MB; with this one they pass the quota of {limit} MB",
            ),
            Text(
                "去掉数据和权重再交，或请管理员调大 quota.person_mb",
                "leave out data and weights, or ask for a greater quota.person_mb",
            ),
            reason="quota",
            used=used,
            limit=limit << 20,
        )


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    # Where a clock jumps over midnight, fold=0 gives the instant of the jump: days neither overlap nor gape.
    return datetime.combine(day, time(0), tzinfo=zone).astimezone(timezone.utc)
