"""What somebody is in a cohort: changed by its staff, one field at a time; and codes for many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from qianka.domain.people import STAFF, Role
from qianka.errors import BadInput, Forbidden, NotFound, Text
from qianka.roster import cells
from qianka.services import access, audit, events
from qianka.services.people.accounts import give_code
from qianka.services.people.rosters import NewPerson
from qianka.services.platform import Caller, Platform
from qianka.store.repos import people
from qianka.store.tables import Cohort, Enrollment, Person

State = Literal["active", "suspended"]
_STAFF = [role.value for role in STAFF]


@dataclass(frozen=True)
class Codes:
    """One-time codes, shown this once, and whom the caller may give none."""

    given: tuple[NewPerson, ...]
    left_out: tuple[Person, ...]


def change_person(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    login: str,
    *,
    role: Role | None = None,
    section: str | None = None,
    state: State | None = None,
    name: str | None = None,
    email: str | None = None,
) -> tuple[Enrollment, Person]:
    """Change what somebody is in a cohort; None leaves a field as it is.

    Staff change students, a teacher changes staff, nobody their own role or state. Name and e-mail are of the
    person, in every cohort: an administrator changes anybody's, staff those of students alone. Raises NotFound,
    Forbidden, BadInput.
    """
    if role is Role.ADMIN:
        raise BadInput(Text("管理员是整个平台的角色", "administrator is a role of the whole platform"))
    wanted = {
        "section": None if section is None else cells.section(section),
        "name": None if name is None else _cleaned(cells.name, name),
        "email": None if email is None else _cleaned(cells.email, email),
    }
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        row, person = _enrolled(session, caller, cohort, login)
        if row.role != Role.STUDENT.value or role in STAFF:
            access.require_teacher(session, caller, cohort.id)
        if person.id == caller.person_id and not caller.is_admin and (role or state):
            raise Forbidden(
                Text("不能改自己的角色或停用自己", "nobody changes their own role or suspends themselves"),
                Text("请另一位教师来改", "ask another teacher"),
                reason="oneself",
            )
        if (wanted["name"] or wanted["email"] is not None) and not caller.is_admin:
            _require_student(session, person)
        before = _facts(row, person)
        _write(platform, row, person, role, state, wanted)
        after = _facts(row, person)
        moved = {field: [before[field], value] for field, value in after.items() if value != before[field]}
        if moved:
            session.flush()
            audit.record(session, platform, caller, "person.change", person.login, cohort=cohort.slug, **moved)
            tell_of_person(session, platform, cohort.slug, person.id)
        return row, person


def new_codes(platform: Platform, caller: Caller, cohort_slug: str, logins: Sequence[str] | None = None) -> Codes:
    """New one-time codes for students who never chose a password: all of the class, or those named.

    Codes that they had before no longer work. Who is in other cohorts too is left out: a code opens the account
    everywhere. Raises NotFound for a name that is not in the class, Forbidden.
    """
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        listed = [
            (row, person)
            for row, person in people.class_list(session, cohort.id)
            if row.role == Role.STUDENT.value and row.state == "active"
        ]
        if logins is not None:
            asked = {login.strip().lower() for login in logins}
            unknown = sorted(asked - {person.login for _, person in listed})
            if unknown:
                shown = ", ".join(unknown[:5])
                raise NotFound(Text(f"班里没有学生 {shown}", f"there is no student {shown} in this cohort"))
            listed = [(row, person) for row, person in listed if person.login in asked]
        given: list[NewPerson] = []
        left_out: list[Person] = []
        for row, person in listed:
            if person.password_hash is not None:
                continue
            if not caller.is_admin and not _is_theirs_alone(session, caller, person):
                left_out.append(person)
                continue
            code = give_code(session, platform, person)
            given.append(NewPerson(person.login, person.name, person.student_number or "", code, row.section))
        audit.record(session, platform, caller, "person.new_codes", f"cohort:{cohort.slug}", people=len(given))
        return Codes(tuple(given), tuple(left_out))


def tell_of_person(session: Session, platform: Platform, cohort_slug: str, person_id: int) -> None:
    """Open pages of staff, and those of the person, whose menu may change."""
    events.emit_for_staff(session, platform, cohort_slug, "people")
    events.emit_for_person(session, platform, person_id, "people")


def _enrolled(session: Session, caller: Caller, cohort: Cohort, login: str) -> tuple[Enrollment, Person]:
    person = people.person_by_login(session, login.strip().lower())
    row = None if person is None else people.enrollment(session, cohort.id, person.id)
    if person is None or row is None:
        raise NotFound(Text(f"班里没有 {login}", f"{login} is not in this cohort"), reason="no_person")
    return row, person


def _require_student(session: Session, person: Person) -> None:
    if people.staff_anywhere(session, [person.id], _STAFF):
        raise Forbidden(
            Text("教师和助教的姓名由管理员改", "names of staff are changed by an administrator"),
            reason="staff",
        )


def _is_theirs_alone(session: Session, caller: Caller, person: Person) -> bool:
    if people.staff_anywhere(session, [person.id], _STAFF):
        return False
    return all(access.is_staff(session, caller, row.id) for row, _ in people.cohorts_of(session, person.id))


def _write(
    platform: Platform,
    row: Enrollment,
    person: Person,
    role: Role | None,
    state: State | None,
    wanted: dict[str, str | None],
) -> None:
    if role is not None and role.value != row.role:
        # From now on a matter of people: a roster neither drops nor changes them.
        row.role, row.source = role.value, "manual"
    if state is not None and state != row.state:
        row.state, row.since = state, platform.now()
    if wanted["section"] is not None:
        row.section = wanted["section"]
    if wanted["name"]:
        person.name = wanted["name"]
    if wanted["email"] is not None:
        person.email = wanted["email"] or None


def _facts(row: Enrollment, person: Person) -> dict[str, str | None]:
    return {
        "role": row.role,
        "section": row.section,
        "state": row.state,
        "name": person.name,
        "email": person.email,
    }


def _cleaned(clean: object, text: str) -> str:
    try:
        return clean(text) if callable(clean) else text
    except cells.CellError as error:
        raise BadInput(error.text, reason=error.code) from error
