"""Whether a hand-in is taken now: the same dates and the same arithmetic as its penalty will follow."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.errors import Conflict, Text
from qianka.policy.dates import Admission, Personal, admit
from qianka.policy.lateness import LatePolicy
from qianka.services.dates.personal import personal_for
from qianka.services.dates.words import shown, span
from qianka.store.tables import Cohort, Lab

_KEPT = Text(
    "之前交的都还在，照常算分；有特殊情况请联系教师",
    "what you handed in before is kept and counts; talk to the teacher if you need more time",
)


def check_time(
    session: Session, cohort: Cohort, lab: Lab, policy: LatePolicy, person_id: int, now: datetime
) -> Admission:
    """How late a hand-in of a person at `now` would be.

    Raises Conflict before the opening, after the lock, and after the person's own due date where the lab
    takes no late ones, or none that late.
    """
    mine = personal_for(session, cohort, lab, person_id)
    found = admit(
        mine,
        now,
        ZoneInfo(cohort.zone),
        grace_seconds=policy.grace_seconds,
        takes_late=policy.takes_late,
        most_days=policy.most_days,
    )
    if found.state == "not_open" and mine.opens is not None:
        raise _not_open(cohort, mine.opens, now)
    if found.state == "locked" and mine.locks is not None:
        at = shown(mine.locks, cohort.zone)
        raise Conflict(
            Text(f"实验已于 {at} 关闭，不再收任何提交", f"this lab was locked at {at}: nothing is taken any more"),
            _KEPT,
            reason="locked",
            locks_at=mine.locks.isoformat(),
        )
    if found.state == "past_due":
        raise _past_due(cohort, mine, policy, found.days)
    return found


def _not_open(cohort: Cohort, opens: datetime, now: datetime) -> Conflict:
    at, left = shown(opens, cohort.zone), span(opens - now)
    return Conflict(
        Text("这个实验还没有开放", "this lab is not open yet"),
        Text(f"{at} 开放（还有 {left.zh}）", f"it opens at {at} (in {left.en})"),
        reason="not_open",
        opens_at=opens.isoformat(),
    )


def _past_due(cohort: Cohort, mine: Personal, policy: LatePolicy, days: int) -> Conflict:
    if mine.due is None:  # without a due date nothing is past it
        raise AssertionError(mine)
    at = shown(mine.due, cohort.zone)
    own = Text("（已含给你的延期）", " (your extension included)") if mine.by is not None else Text("", "")
    hint = Text("这个实验不收迟交", "this lab takes no late hand-ins")
    if policy.takes_late:
        hint = Text(
            f"这个实验最多收迟交 {policy.most_days} 天，现在已是第 {days} 天",
            f"this lab takes them up to {policy.most_days} days late; this is day {days}",
        )
    return Conflict(
        Text(f"已过截止时间 {at}{own.zh}", f"the deadline was {at}{own.en}"),
        Text(f"{hint.zh}；{_KEPT.zh}", f"{hint.en}; {_KEPT.en}"),
        reason="past_due",
        due_at=mine.due.isoformat(),
    )
