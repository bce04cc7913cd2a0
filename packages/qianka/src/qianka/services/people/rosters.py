"""Rosters: shown first, then applied exactly as shown; nobody's data is ever deleted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from sqlalchemy.orm import Session

from qianka import roster
from qianka.domain.people import STAFF, Role
from qianka.errors import Conflict, Refused, Text
from qianka.roster import Diff, Known, Problem, Roster, Row
from qianka.services import access, audit, events
from qianka.services.people.accounts import add_person
from qianka.services.platform import Caller, Platform
from qianka.store.repos import people
from qianka.store.tables import Cohort, Enrollment, Person

Mode = Literal["append", "replace"]
_STAFF = [role.value for role in STAFF]


@dataclass(frozen=True)
class Preview:
    """What a file says and what applying it would change; `digest` names exactly this."""

    cohort: Cohort
    roster: Roster
    diff: Diff
    problems: tuple[Problem, ...]
    """those of the file, and logins that somebody else has"""
    mode: Mode
    needs_mode: Text | None
    """why `append` or `replace` has to be chosen before it can be applied; None: it need not"""
    digest: str


class NewPerson(NamedTuple):
    """An account that a roster made; `code` is shown this once."""

    login: str
    name: str
    student_number: str
    code: str
    section: str = ""


@dataclass(frozen=True)
class Applied:
    """What was written."""

    diff: Diff
    codes: tuple[NewPerson, ...]


class _Class(NamedTuple):
    """Everybody whom a roster may touch, by student number in lower case."""

    cohort: Cohort
    enrolled: dict[int, Enrollment]
    persons: dict[str, Person]
    untouchable: set[int]
    known: list[Known]


def preview_roster(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    data: bytes,
    encoding: str | None = None,
    mode: Mode | None = None,
) -> Preview:
    """Read a roster and compare it with the class; nothing is written.

    Raises NotFound, Forbidden (staff only), BadInput or TooLarge for a file that is no roster.
    """
    with platform.store.reading() as session:
        return _preview(session, caller, cohort_slug, data, encoding, mode)


def apply_roster(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    data: bytes,
    encoding: str | None = None,
    digest: str | None = None,
    mode: Mode | None = None,
) -> Applied:
    """Apply a roster; with `digest`, only if it would do exactly what the preview with that digest showed.

    New people get a one-time code; dropped ones are suspended with all they have; returned ones find
    it again. Without `mode` the file replaces the roster, unless so many are missing that it may be a
    part: then, and when the class changed since the preview, raises Conflict. Raises Refused for
    `replace` while there are rows that do not even say whom they are about.
    """
    with platform.store.transaction() as session:
        preview = _preview(session, caller, cohort_slug, data, encoding, mode)
        if digest is not None and digest != preview.digest:
            raise Conflict(
                Text("预览之后名单文件或班级有变化", "the file or the class changed since the preview"),
                Text("重新预览，确认后再导入", "look at the preview again, then apply"),
                reason="preview_outdated",
            )
        if preview.needs_mode is not None:
            raise Conflict(
                preview.needs_mode,
                Text(
                    "只增加选 append（--append），整班替换选 replace（--replace）",
                    "to add only: append (--append); to replace the class: replace (--replace)",
                ),
                reason="choose_mode",
                missing_share=preview.diff.missing_share,
            )
        if mode == "replace" and preview.roster.unreadable and preview.diff.dropped:
            raise Refused(
                Text(
                    f"有 {preview.roster.unreadable} 行看不出是谁，整班替换可能误删",
                    f"{preview.roster.unreadable} rows do not say whom they are about: replacing might drop them",
                ),
                Text("先改好这些行，或用 append 只增加", "mend those rows first, or append"),
                reason="unreadable_rows",
            )
        return _apply(session, platform, caller, preview)


def _preview(
    session: Session, caller: Caller, cohort_slug: str, data: bytes, encoding: str | None, mode: Mode | None
) -> Preview:
    cohort = access.cohort_for(session, caller, cohort_slug)
    access.require_staff(session, caller, cohort.id)
    read = roster.read(data, encoding)
    everybody = _class(session, cohort, read)
    diff = roster.diff(everybody.known, read, mode or "replace")
    usable, clashes = _without_clashes(session, everybody, read, diff)
    if clashes:
        without = replace(read, rows=usable, problems=(*read.problems, *clashes))
        diff = roster.diff(everybody.known, without, mode or "replace")
    needs_mode = _why_mode(read, diff) if mode is None else None
    return Preview(
        cohort=cohort,
        roster=read,
        diff=diff,
        problems=tuple(sorted((*read.problems, *clashes), key=lambda problem: problem.line)),
        mode=mode or "replace",
        needs_mode=needs_mode,
        digest=_digest(cohort, read, diff, mode or "replace"),
    )


def _why_mode(read: Roster, diff: Diff) -> Text | None:
    if diff.is_partial:
        percent = round(100 * diff.missing_share)
        return Text(
            f"文件里缺了班上 {percent} % 的人：是只增加，还是整班替换？",
            f"{percent} % of the class are missing from the file: append or replace?",
        )
    if read.unreadable and diff.dropped:
        return Text(
            f"有 {read.unreadable} 行看不出是谁，而 {len(diff.dropped)} 人不在文件里",
            f"{read.unreadable} rows do not say whom they are about, and {len(diff.dropped)} people are missing",
        )
    return None


def _class(session: Session, cohort: Cohort, read: Roster) -> _Class:
    enrolled: dict[int, Enrollment] = {}
    persons: dict[str, Person] = {}
    rows = people.class_list(session, cohort.id)
    for row, person in rows:
        enrolled[person.id] = row
        if person.student_number:
            persons[person.student_number.lower()] = person
    for person in people.persons_by_numbers(session, [row.student_number for row in read.rows]):
        persons.setdefault((person.student_number or "").lower(), person)
    untouchable = people.staff_anywhere(session, [person.id for person in persons.values()], _STAFF)
    known = [
        Known(
            student_number=person.student_number,
            login=person.login,
            name=person.name,
            section=row.section,
            email=person.email or "",
            is_active=row.state == "active",
            is_kept=row.source != "roster" or row.role != Role.STUDENT.value or person.id in untouchable,
        )
        for row, person in rows
    ]
    return _Class(cohort, enrolled, persons, untouchable, known)


def _without_clashes(
    session: Session, everybody: _Class, read: Roster, diff: Diff
) -> tuple[tuple[Row, ...], list[Problem]]:
    """Rows that would take a login which belongs to somebody else are left out, and named."""
    wanted = [row for row in diff.added if _new_login(everybody, row)]
    wanted += [change.row for change in (*diff.changed, *diff.returned) if "login" in change.fields]
    holders = {person.login: person for person in people.persons_by_logins(session, [r.wanted_login for r in wanted])}
    giving_up = {row.student_number.lower() for row in wanted}
    clashes: list[Problem] = []
    for row in wanted:
        holder = holders.get(row.wanted_login)
        if holder is None or (holder.student_number or "").lower() in giving_up:
            continue
        clashes.append(
            Problem(
                line=row.line,
                column=None,
                code="login_taken",
                text=Text(
                    f"第 {row.line} 行：登录名 {row.wanted_login} 已属于别人",
                    f"row {row.line}: the login {row.wanted_login} belongs to somebody else",
                ),
                student_number=row.student_number,
            )
        )
    lines = {clash.line for clash in clashes}
    return tuple(row for row in read.rows if row.line not in lines), clashes


def _new_login(everybody: _Class, row: Row) -> bool:
    """Whether adding this row gives somebody a login that they do not have yet."""
    person = everybody.persons.get(row.student_number.lower())
    if person is None:
        return True
    return bool(row.login) and row.login != person.login and person.id not in everybody.untouchable


def _apply(session: Session, platform: Platform, caller: Caller, preview: Preview) -> Applied:
    cohort, diff = preview.cohort, preview.diff
    everybody = _class(session, cohort, preview.roster)
    _rename(session, everybody, diff)
    codes = _add(session, platform, cohort, everybody, diff)
    for known in diff.dropped:
        _enrollment(everybody, known.student_number).state = "suspended"
    for change in diff.returned:
        row = _enrollment(everybody, change.known.student_number)
        row.state, row.since = "active", platform.now()
    for change in (*diff.returned, *diff.changed):
        person = everybody.persons[change.row.student_number.lower()]
        if "section" in change.fields:
            everybody.enrolled[person.id].section = change.row.section
        if change.fields:
            _change(everybody, person, change.row)
    session.flush()
    audit.record(
        session,
        platform,
        caller,
        "roster.apply",
        f"cohort:{cohort.slug}",
        added=len(diff.added),
        dropped=[known.login for known in diff.dropped],
        returned=[change.known.login for change in diff.returned],
        changed=[
            {"login": change.known.login, **{f: list(v) for f, v in change.fields.items()}} for change in diff.changed
        ],
        left_out=len(preview.problems),
        mode=preview.mode,
        digest=preview.digest,
    )
    if not diff.is_empty:
        events.emit_for_staff(session, platform, cohort.slug, "people")
        for known in (*diff.dropped, *(change.known for change in diff.returned)):
            row_of = _enrollment(everybody, known.student_number)
            events.emit_for_person(session, platform, row_of.person_id, "people")
    return Applied(diff, tuple(codes))


def _add(session: Session, platform: Platform, cohort: Cohort, everybody: _Class, diff: Diff) -> list[NewPerson]:
    codes = []
    taken = people.aliases(session)
    for row in diff.added:
        person = everybody.persons.get(row.student_number.lower())
        if person is None:
            person, code = add_person(
                session,
                platform,
                login=row.wanted_login,
                name=row.name,
                student_number=row.student_number,
                email=row.email or None,
                demo=cohort.demo,
                taken=taken,
            )
            taken.add(person.alias)
            session.flush()
            codes.append(NewPerson(person.login, person.name, row.student_number, code, row.section))
        else:
            _change(everybody, person, row)
        session.add(
            Enrollment(
                cohort_id=cohort.id,
                person_id=person.id,
                role=Role.STUDENT.value,
                section=row.section,
                source="roster",
                since=platform.now(),
            )
        )
    return codes


def _change(everybody: _Class, person: Person, row: Row) -> None:
    """Take name and e-mail from the file, for those whom a roster may change."""
    if person.id not in everybody.untouchable:
        person.name = row.name
        person.email = row.email or person.email


def _rename(session: Session, everybody: _Class, diff: Diff) -> None:
    """Give new logins; in two steps, so that two people may swap theirs."""
    rows = [change.row for change in (*diff.returned, *diff.changed) if "login" in change.fields]
    rows += [
        row for row in diff.added if row.student_number.lower() in everybody.persons and _new_login(everybody, row)
    ]
    renames = [(everybody.persons[row.student_number.lower()], row.wanted_login) for row in rows]
    for person, _ in renames:
        person.login = f"~{person.id}"
    session.flush()
    for person, login in renames:
        person.login = login
    session.flush()


def _enrollment(everybody: _Class, student_number: str | None) -> Enrollment:
    return everybody.enrolled[everybody.persons[(student_number or "").lower()].id]


def _digest(cohort: Cohort, read: Roster, diff: Diff, mode: Mode) -> str:
    """A name for what would be done: the same file on the same class in the same mode."""
    facts = [
        cohort.slug,
        mode,
        read.encoding,
        [[row.student_number, row.name, row.section, row.login, row.email] for row in read.rows],
        [row.student_number for row in diff.added],
        [known.login for known in diff.dropped],
        [[change.known.login, sorted(change.fields.items())] for change in (*diff.returned, *diff.changed)],
        len(diff.returned),
        len(read.problems),
    ]
    return hashlib.sha256(json.dumps(facts, ensure_ascii=False).encode("utf-8")).hexdigest()
