"""Dates of a lab for one person: extensions, grace, lateness in calendar days, and what is taken when.

Pure arithmetic on instants (aware, UTC) and an IANA zone. A day is a day of the calendar in that zone: it
ends at the same local time, whether the clocks change in between or not; never 24 hours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Literal
from zoneinfo import ZoneInfo

State = Literal["not_open", "open", "late", "past_due", "locked"]


@dataclass(frozen=True, kw_only=True)
class Dates:
    """The dates of a lab as its class has them; None: no such date."""

    opens: datetime | None = None
    due: datetime | None = None
    locks: datetime | None = None
    """nothing is accepted later, not even late"""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One extension that holds for a person: so many calendar days and hours more, or until an instant."""

    id: str
    days: int = 0
    hours: float = 0.0
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Personal:
    """The dates that hold for one person; `by`: the extension that gave the due date, None: the class's own."""

    opens: datetime | None
    due: datetime | None
    locks: datetime | None
    by: str | None


@dataclass(frozen=True)
class Admission:
    """What becomes of a hand-in at an instant, and how many calendar days late it is (0: on time)."""

    state: State
    days: int


def add_days(instant: datetime, days: int, zone: ZoneInfo) -> datetime:
    """The same local time `days` calendar days on, in UTC.

    A local time that the change to summer time skips becomes the one after the jump, a local time that
    comes twice the second of the two: in doubt for the student.
    """
    if days == 0:
        return instant.astimezone(timezone.utc)
    local = instant.astimezone(zone)
    day = local.replace(tzinfo=None) + timedelta(days=days)
    return max(day.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc) for fold in (0, 1))


def extended(instant: datetime, rule: Rule, zone: ZoneInfo) -> datetime:
    """Where a rule moves a date: calendar days first, then hours that really pass; never to before it."""
    if rule.until is not None:
        return max(instant, rule.until)
    moved = add_days(instant, rule.days, zone) + timedelta(hours=rule.hours)
    return max(instant, moved)


def personal(dates: Dates, rules: Iterable[Rule], zone: ZoneInfo) -> Personal:
    """The most generous of the class's dates and all rules; rules are never added up.

    Days and hours move the lock as they move the due date; a fixed instant moves the lock only where it
    lies later. Without a due date there is nothing to extend.
    """
    due, locks, by = dates.due, dates.locks, None
    if dates.due is None:
        return Personal(opens=dates.opens, due=None, locks=dates.locks, by=None)
    for rule in sorted(rules, key=lambda rule: rule.id):
        moved = extended(dates.due, rule, zone)
        if due is None or moved > due:
            due, by = moved, rule.id
        if dates.locks is not None and locks is not None:
            locks = max(locks, extended(dates.locks, rule, zone))
    return Personal(opens=dates.opens, due=due, locks=locks, by=by)


def lateness(at: datetime, due: datetime | None, zone: ZoneInfo, grace_seconds: int = 0) -> int:
    """Calendar days begun after `due`: 0 up to the due date and its grace, 1 up to a day later, and so on.

    The grace holds at the end of each day as at the due date.
    """
    grace = timedelta(seconds=grace_seconds)
    if due is None or at <= due + grace:
        return 0
    days = max(1, (at.astimezone(zone).date() - due.astimezone(zone).date()).days - 1)
    while at > add_days(due, days, zone) + grace:
        days += 1
    while days > 1 and at <= add_days(due, days - 1, zone) + grace:
        days -= 1
    return days


def admit(
    dates: Personal,
    at: datetime,
    zone: ZoneInfo,
    *,
    grace_seconds: int = 0,
    takes_late: bool = True,
    most_days: int | None = None,
) -> Admission:
    """Whether a hand-in at `at` is taken, and how late it is.

    `takes_late`: whether the lab accepts late ones; `most_days`: at most so many calendar days late. The
    lock is exact, but never cuts off the grace of the due date.
    """
    if dates.opens is not None and at < dates.opens:
        return Admission("not_open", 0)
    days = lateness(at, dates.due, zone, grace_seconds)
    if days == 0 and dates.due is not None:
        return Admission("open", 0)
    if dates.locks is not None and at > dates.locks:
        return Admission("locked", days)
    if days == 0:
        return Admission("open", 0)
    if not takes_late or (most_days is not None and days > most_days):
        return Admission("past_due", days)
    return Admission("late", days)
