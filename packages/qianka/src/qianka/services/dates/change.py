"""A class changes a date, or the late days there are: every penalty that follows from it, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy.orm import Session

from qianka.errors import BadInput, Text
from qianka.policy.dates import Dates
from qianka.services import access, audit, events
from qianka.services.dates.book import Book, read
from qianka.services.dates.personal import dates_of
from qianka.services.dates.settle import Cause, Move, moves, names, settle_people
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Cohort, Lab

Row = TypeVar("Row")
MOST_LATE_DAYS = 366
YEARS = (1971, 2999)
"""of a date: local time, and a year's extension more, must exist for it wherever the class is"""


class _Keep:
    """The mark of a date that stays as it is."""


KEEP = _Keep()
Given = datetime | None | _Keep


@dataclass(frozen=True, kw_only=True)
class Changed(Generic[Row]):
    """What was changed (or, in a preview, would be) and whose grades move by it; `names`: (login, name)."""

    row: Row
    moves: list[Move]
    names: dict[int, tuple[str, str]]


def change_dates(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    lab_slug: str,
    *,
    due: Given = KEEP,
    opens: Given = KEEP,
    locks: Given = KEEP,
    preview: bool = False,
) -> Changed[Lab]:
    """Set or lift (None) dates of a lab; for the cohort's teachers. `preview`: only tell who is affected.

    Raises NotFound, Forbidden, BadInput (dates in an impossible order).
    """
    with platform.store.reading() as session:
        cohort, lab = _place(session, caller, cohort_slug, lab_slug)
        wanted = _wanted(lab, due, opens, locks)
        check_order(wanted)
        if preview:
            book = read(session, platform, cohort, labs=[lab.id]).with_dates(lab.id, wanted)
            return changed(session, lab, book)
    with platform.store.transaction() as session:
        cohort, lab = _place(session, caller, cohort_slug, lab_slug)
        before, wanted = dates_of(lab), _wanted(lab, due, opens, locks)
        check_order(wanted)
        lab.due_at, lab.opens_at, lab.locks_at = wanted.due, wanted.opens, wanted.locks
        found = apply_dates(session, platform, caller, cohort, lab, before)
        told = names(session, found)
    return Changed(row=lab, moves=found, names=told)


def apply_dates(
    session: Session, platform: Platform, caller: Caller, cohort: Cohort, lab: Lab, before: Dates
) -> list[Move]:
    """After dates of a lab were set: bring grades up to date and write the audit line."""
    after = dates_of(lab)
    if after == before:
        return []
    found = settle_people(session, platform, cohort, None, Cause(why="dates", caller=caller), lab)
    audit.record(
        session,
        platform,
        caller,
        "lab.dates",
        f"lab:{cohort.slug}/{lab.slug}",
        before=_facts(before),
        after=_facts(after),
        grades=len(found),
    )
    events.emit_for_cohort(session, platform, cohort.slug, "dates", lab=lab.slug)
    return found


def set_late_days(
    platform: Platform, caller: Caller, cohort_slug: str, days: int, *, preview: bool = False
) -> Changed[Cohort]:
    """Say how many late days a person may spend in a cohort; for its teachers. Raises NotFound, Forbidden, BadInput."""
    if not 0 <= days <= MOST_LATE_DAYS:
        raise BadInput(
            Text(f"宽限天数应在 0 到 {MOST_LATE_DAYS} 之间", f"late days must lie in 0..{MOST_LATE_DAYS}"),
            reason="late_days",
        )
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_teacher(session, caller, cohort.id)
        if preview:
            return changed(session, cohort, replace(read(session, platform, cohort), budget=days))
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_teacher(session, caller, cohort.id)
        before, cohort.late_days = cohort.late_days, days
        found: list[Move] = []
        if before != days:
            found = settle_people(session, platform, cohort, None, Cause(why="late_days", caller=caller))
            facts = {"before": before, "after": days, "grades": len(found)}
            audit.record(session, platform, caller, "cohort.late_days", f"cohort:{cohort_slug}", **facts)
        told = names(session, found)
    return Changed(row=cohort, moves=found, names=told)


def changed(session: Session, row: Row, book: Book, people: Sequence[int] | None = None) -> Changed[Row]:
    """What would move if the book were written."""
    found = [move for move in moves(book) if people is None or move.person_id in people]
    return Changed(row=row, moves=found, names=names(session, found))


def check_order(wanted: Dates) -> None:
    """Raises BadInput for a lab that opens after it is due, or is locked before; and for a date out of range."""
    for at in (wanted.opens, wanted.due, wanted.locks):
        check_range(at)
    if wanted.due is not None and wanted.opens is not None and wanted.opens >= wanted.due:
        raise BadInput(
            Text("开放时间不早于截止时间", "the lab would open only after it is due"),
            Text("检查 --opens 和 --due 的年月日", "look at the dates: it opens first, then it is due"),
            reason="dates",
        )
    first = wanted.due or wanted.opens
    if wanted.locks is not None and first is not None and wanted.locks < first:
        raise BadInput(
            Text("关闭时间早于截止时间", "the lab would be locked before it is due"),
            Text("检查 --lock 和 --due 的年月日", "look at the dates: it is due first, then locked"),
            reason="dates",
        )


def check_range(at: datetime | None) -> None:
    """Raises BadInput for an instant so far away that there is no local time for it, or for a day later."""
    first, last = YEARS
    if at is not None and not first <= at.year <= last:
        raise BadInput(
            Text(f"年份 {at.year} 不在 {first} 到 {last} 之间", f"the year {at.year} is not in {first}..{last}"),
            Text("检查年份；不要截止或关闭时间就填 none", "look at the year; for no such date at all say none"),
            reason="dates",
        )


def _place(session: Session, caller: Caller, cohort_slug: str, lab_slug: str) -> tuple[Cohort, Lab]:
    cohort = access.cohort_for(session, caller, cohort_slug)
    access.require_teacher(session, caller, cohort.id)
    return cohort, access.lab_for(session, caller, cohort, lab_slug)


def _wanted(lab: Lab, due: Given, opens: Given, locks: Given) -> Dates:
    now = dates_of(lab)
    return Dates(
        opens=now.opens if isinstance(opens, _Keep) else opens,
        due=now.due if isinstance(due, _Keep) else due,
        locks=now.locks if isinstance(locks, _Keep) else locks,
    )


def _facts(dates: Dates) -> dict[str, Any]:
    found = {"opens": dates.opens, "due": dates.due, "locks": dates.locks}
    return {name: None if at is None else at.isoformat() for name, at in found.items()}
