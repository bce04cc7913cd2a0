"""Bonus, override, comment: what staff decides about a grade, with its reason on record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy.orm import Session

from qianka.errors import BadInput, Conflict, NotFound, Text
from qianka.policy.adjusting import MOST_POINTS
from qianka.services import access, audit, events
from qianka.services.platform import Caller, Platform
from qianka.store.repos import adjustments as repo
from qianka.store.repos import people
from qianka.store.tables import Adjustment, Cohort, Lab, Person

LONGEST = 2000
KINDS = ("bonus", "override", "comment")


class Decision(NamedTuple):
    """A decision and who made it."""

    row: Adjustment
    by: Person | None


def adjust(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    lab_slug: str,
    login: str,
    *,
    kind: str,
    points: float | None,
    text: str,
) -> Decision:
    """Decide about somebody's grade in a lab, for staff; the one of the same kind that held is taken back.

    Raises NotFound, Forbidden (also about oneself), BadInput.
    """
    _check(kind, points, text)
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        lab = access.lab_for(session, caller, cohort, lab_slug)
        person = _student(session, caller, cohort, login)
        people.lock_person(session, person.id)  # two decisions at once must not both hold
        for old in repo.holding(session, lab.id, person.id, kind):
            old.revoked_at, old.revoked_by_id = platform.now(), caller.person_id
        row = Adjustment(
            lab_id=lab.id,
            person_id=person.id,
            kind=kind,
            points=points,
            text=text.strip(),
            by_id=caller.person_id,
            at=platform.now(),
        )
        session.add(row)
        session.flush()
        facts = {"login": person.login, "kind": kind, "points": points, "reason": row.text}
        _tell(session, platform, caller, "grade.adjust", cohort, lab, row, facts)
        by = None if caller.person_id is None else session.get(Person, caller.person_id)
    return Decision(row, by)


def revoke(platform: Platform, caller: Caller, cohort_slug: str, adjustment_id: int) -> None:
    """Take a decision back, for staff; its record stays. Raises NotFound, Forbidden, Conflict."""
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        row = session.get(Adjustment, adjustment_id)
        lab = None if row is None else session.get(Lab, row.lab_id)
        if row is None or lab is None or lab.cohort_id != cohort.id:
            raise NotFound(
                Text(f"没有编号为 {adjustment_id} 的调整", f"there is no adjustment {adjustment_id}"),
                reason="no_adjustment",
            )
        if row.revoked_at is not None:
            raise Conflict(Text("这次调整已经撤销", "this adjustment was taken back already"), reason="revoked")
        if row.person_id == caller.person_id and not caller.is_admin:
            raise _own()
        row.revoked_at, row.revoked_by_id = platform.now(), caller.person_id
        facts = {"adjustment": row.id, "kind": row.kind}
        _tell(session, platform, caller, "grade.adjust.revoke", cohort, lab, row, facts)


def decisions(
    platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, login: str | None = None
) -> list[Decision]:
    """What was decided about the caller's grade in a lab (or that of `login`, for staff), newest first.

    Raises NotFound, Forbidden.
    """
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab = access.lab_for(session, caller, cohort, lab_slug)
        person_id = caller.person_id
        if login is not None and login.strip().lower() != caller.login:
            access.require_staff(session, caller, cohort.id)
            person_id = access.person_for(session, caller, login).id
        return [] if person_id is None else [Decision(*pair) for pair in repo.listed(session, lab.id, person_id)]


def _student(session: Session, caller: Caller, cohort: Cohort, login: str) -> Person:
    person = access.person_for(session, caller, login)
    mine = people.enrollment(session, cohort.id, person.id)
    if mine is None or mine.role != "student":
        raise NotFound(
            Text(f"{login} 不是这个课程班的学生", f"{login} is no student of this cohort"),
            Text("在成绩册里选一个人", "choose somebody of the grade book"),
            reason="no_person",
        )
    if person.id == caller.person_id and not caller.is_admin:
        raise _own()
    return person


def _own() -> BadInput:
    return BadInput(
        Text("不能调整自己的成绩", "nobody decides about a grade of their own"),
        Text("请另一位教师或助教来做", "ask another teacher or assistant"),
        reason="own_grade",
    )


def _check(kind: str, points: float | None, text: str) -> None:
    """Raises BadInput for a decision that says nothing, or too much."""
    if kind not in KINDS:
        raise BadInput(
            Text(f"没有 {kind} 这种调整", f"there is no adjustment {kind}"),
            Text(f"可用：{'、'.join(KINDS)}", f"there are: {', '.join(KINDS)}"),
            reason="kind",
        )
    if not text.strip() or len(text) > LONGEST:
        raise BadInput(
            Text(
                f"要写理由或评语（至多 {LONGEST} 字）", f"a reason or comment is needed ({LONGEST} characters at most)"
            ),
            Text("学生会看到它，如“补交了实验报告”", "the student sees it, such as 'report handed in later'"),
            reason="reason",
        )
    if kind == "comment":
        if points is not None:
            raise BadInput(Text("评语没有分数", "a comment has no points"), reason="points")
        return
    least = 0.0 if kind == "override" else -MOST_POINTS
    if points is None or not least <= points <= MOST_POINTS or (kind == "bonus" and points == 0):
        raise BadInput(
            Text("分数不对", "these points cannot be"),
            Text(
                f"改分在 0 到 {MOST_POINTS:g} 之间；加分不为 0，可以是负数",
                f"an override lies in 0..{MOST_POINTS:g}; a bonus is not 0 and may be negative",
            ),
            reason="points",
        )


def _tell(
    session: Session,
    platform: Platform,
    caller: Caller,
    action: str,
    cohort: Cohort,
    lab: Lab,
    row: Adjustment,
    facts: Mapping[str, object],
) -> None:
    audit.record(session, platform, caller, action, f"lab:{cohort.slug}/{lab.slug}", **facts)
    events.emit_for_person(session, platform, row.person_id, "grade", lab=lab.slug, why=row.kind)
    events.emit_for_staff(session, platform, cohort.slug, "grade", lab=lab.slug, why=row.kind)
