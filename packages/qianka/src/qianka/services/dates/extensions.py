"""Extensions: given with a reason, listed, revoked; what they move is told first and recorded after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from qianka.errors import BadInput, Conflict, NotFound, Text
from qianka.ids import new_id
from qianka.services import access, audit, events
from qianka.services.dates.book import read
from qianka.services.dates.change import Changed, changed, check_range
from qianka.services.dates.settle import Cause, names, settle_people
from qianka.services.platform import Caller, Platform
from qianka.store.repos import dates as repo
from qianka.store.repos import people as people_repo
from qianka.store.tables import Cohort, Extension, Lab, Person

MOST_DAYS, MOST_HOURS, LONGEST = 366, 24.0 * 366, 500
"""calendar days, hours, characters of a reason"""


@dataclass(frozen=True, kw_only=True)
class More:
    """How much more time: calendar days and hours, or a fixed instant."""

    days: int = 0
    hours: float = 0.0
    until: datetime | None = None


class Listed(NamedTuple):
    """An extension with whom and what it is for; no person: a section, no lab: all labs."""

    extension: Extension
    person: Person | None
    lab: Lab | None
    by: str | None
    """login of who gave it"""


def extend(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    more: More,
    reason: str,
    *,
    lab_slug: str | None = None,
    login: str | None = None,
    section: str | None = None,
    preview: bool = False,
) -> Changed[Extension]:
    """Give a person or a section more time for a lab, or (without a lab) for all labs; for staff.

    A person's date is the most generous of all that hold; nothing is added up. Grades that exist follow at
    once. `preview`: only tell whose. Raises NotFound, Forbidden, BadInput.
    """
    _check(more, reason, lab_slug, login, section)
    row = Extension(
        id=new_id("x"),
        days=more.days,
        hours=more.hours,
        until=more.until,
        reason=reason.strip(),
        by_id=caller.person_id,
        created_at=platform.now(),
    )
    with platform.store.reading() as session:
        cohort, people = _aim(session, caller, cohort_slug, row, lab_slug, login, section)
        if preview:
            book = read(session, platform, cohort, people)
            return changed(session, row, replace(book, extensions=(*book.extensions, row)))
    with platform.store.transaction() as session:
        cohort, people = _aim(session, caller, cohort_slug, row, lab_slug, login, section)
        session.add(row)
        cause = Cause(why="extension", caller=caller, reason=row.reason)
        found = settle_people(session, platform, cohort, people, cause)
        facts = {"lab": lab_slug, "login": login, "section": section, **_facts(more), "reason": row.reason}
        audit.record(session, platform, caller, "extension.give", f"extension:{row.id}", **facts, grades=len(found))
        _tell(session, platform, cohort, people)
        told = names(session, found)
    return Changed(row=row, moves=found, names=told)


def revoke(
    platform: Platform, caller: Caller, extension_id: str, reason: str, *, preview: bool = False
) -> Changed[Extension]:
    """Take an extension back; for staff. Its record stays. Raises NotFound, Forbidden, BadInput, Conflict."""
    _check_reason(reason)
    with platform.store.reading() as session:
        row, cohort, people = _known(session, caller, extension_id)
        if preview:
            book = read(session, platform, cohort, people)
            kept = tuple(one for one in book.extensions if one.id != row.id)
            return changed(session, row, replace(book, extensions=kept))
    with platform.store.transaction() as session:
        row, cohort, people = _known(session, caller, extension_id)
        row.revoked_at, row.revoked_by_id, row.revoke_reason = platform.now(), caller.person_id, reason.strip()
        cause = Cause(why="extension", caller=caller, reason=row.revoke_reason)
        found = settle_people(session, platform, cohort, people, cause)
        facts = {"reason": row.revoke_reason, "grades": len(found)}
        audit.record(session, platform, caller, "extension.revoke", f"extension:{row.id}", **facts)
        _tell(session, platform, cohort, people)
        told = names(session, found)
    return Changed(row=row, moves=found, names=told)


def list_extensions(
    platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str | None = None, *, revoked: bool = False
) -> list[Listed]:
    """The extensions of a cohort, or those that bear on one lab; for staff, newest first."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        lab = None if lab_slug is None else access.lab_for(session, caller, cohort, lab_slug)
        rows = repo.listed_extensions(session, cohort.id, lab_id=None if lab is None else lab.id, revoked=revoked)
        givers = repo.logins(session, {row.by_id for row, _, _ in rows if row.by_id is not None})
    return [Listed(row, who, of, givers.get(row.by_id or 0, ("", ""))[0] or None) for row, who, of in rows]


def _tell(session: Session, platform: Platform, cohort: Cohort, people: Sequence[int]) -> None:
    """Pages of those whose dates moved, and of staff, look again."""
    for person in people:
        events.emit_for_person(session, platform, person, "dates", cohort=cohort.slug)
    events.emit_for_staff(session, platform, cohort.slug, "dates")


def _aim(
    session: Session,
    caller: Caller,
    cohort_slug: str,
    row: Extension,
    lab_slug: str | None,
    login: str | None,
    section: str | None,
) -> tuple[Cohort, Sequence[int]]:
    """Fill in whom and what `row` is for; the people it bears on."""
    cohort = access.cohort_for(session, caller, cohort_slug)
    access.require_staff(session, caller, cohort.id)
    row.cohort_id = cohort.id
    row.lab_id = None if lab_slug is None else access.lab_for(session, caller, cohort, lab_slug).id
    if login is not None:
        person = access.person_for(session, caller, login)
        if people_repo.enrollment(session, cohort.id, person.id) is None:
            raise NotFound(
                Text(f"{login} 不在这个课程班里", f"{login} is not in this cohort"),
                Text("用 qianka people list 查看名单", "see who is: qianka people list"),
                reason="no_person",
            )
        row.person_id, row.section = person.id, None
        return cohort, [person.id]
    row.person_id, row.section = None, (section or "").strip()
    return cohort, _section(session, cohort, row.section)


def _section(session: Session, cohort: Cohort, section: str) -> list[int]:
    everybody = repo.enrollments(session, cohort.id)
    found = [person_id for person_id, row in everybody.items() if row.section == section]
    if not found:
        known = sorted({row.section for row in everybody.values() if row.section})
        raise NotFound(
            Text(f"没有人在班级 {section} 里", f"nobody is in section {section}"),
            Text(f"有：{'、'.join(known) or '（没有分班）'}", f"there are: {', '.join(known) or '(none)'}"),
            reason="no_section",
        )
    return found


def _known(session: Session, caller: Caller, extension_id: str) -> tuple[Extension, Cohort, Sequence[int]]:
    row = session.get(Extension, extension_id)
    cohort = None if row is None else session.get(Cohort, row.cohort_id)
    if row is None or cohort is None or not access.is_staff(session, caller, cohort.id):
        raise NotFound(
            Text(f"没有编号为 {extension_id} 的延期", f"there is no extension {extension_id}"), reason="no_extension"
        )
    if row.revoked_at is not None:
        raise Conflict(Text("这个延期已经撤销", "this extension was revoked already"), reason="revoked")
    if row.person_id is not None:
        return row, cohort, [row.person_id]
    everybody = repo.enrollments(session, cohort.id)
    return row, cohort, [person_id for person_id, mine in everybody.items() if mine.section == row.section]


def _check(more: More, reason: str, lab_slug: str | None, login: str | None, section: str | None) -> None:
    """Raises BadInput for an extension that says nothing, or too much."""
    _check_reason(reason)
    check_range(more.until)
    if (login is None) == (not (section or "").strip()):
        raise BadInput(
            Text("要么给一个人，要么给一个班级", "it is either for a person or for a section"),
            Text("用 --login 或 --section 之一", "use one of --login and --section"),
            reason="for_whom",
        )
    amount = more.days or more.hours
    if (more.until is None) == (not amount) or more.days < 0 or more.hours < 0:
        raise BadInput(
            Text("要么给天数或小时，要么给一个时间", "it is either days or hours, or a fixed time"),
            Text("如 --days 2，或 --until '2026-12-20 23:59'", "such as --days 2, or --until '2026-12-20 23:59'"),
            reason="how_much",
        )
    if more.days > MOST_DAYS or more.hours > MOST_HOURS:
        raise BadInput(Text("延期不超过 366 天", "an extension is at most 366 days"), reason="how_much")
    if more.until is not None and lab_slug is None:
        raise BadInput(
            Text("对所有实验的延期只能用天数或小时", "for all labs an extension is in days or hours"),
            Text("改用 --days，或指定一个实验", "use --days, or name a lab"),
            reason="how_much",
        )


def _check_reason(reason: str) -> None:
    if not reason.strip() or len(reason) > LONGEST:
        raise BadInput(
            Text("要写理由（至多 500 字）", "a reason is needed (500 characters at most)"),
            Text("如 --reason '病假条 3 号'", "such as --reason 'doctor's note 3'"),
            reason="reason",
        )


def _facts(more: More) -> dict[str, Any]:
    until = None if more.until is None else more.until.isoformat()
    return {"days": more.days, "hours": more.hours, "until": until}
