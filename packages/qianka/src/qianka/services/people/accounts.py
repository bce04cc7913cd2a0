"""Accounts: made by an administrator or a roster, kept by the person."""

from __future__ import annotations

import re
import secrets
from collections.abc import Container
from datetime import timedelta

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from qianka.domain.people import STAFF, Role
from qianka.errors import BadInput, Conflict, NotSignedIn, Text
from qianka.roster import cells
from qianka.services import access, audit, events
from qianka.services.people.aliases import check_alias, new_alias
from qianka.services.people.passwords import check_password, hash_password, new_code, plain_code, verify_password
from qianka.services.platform import Caller, Platform
from qianka.store.repos import people
from qianka.store.tables import Cohort, Enrollment, Person

CODE_DAYS = 14
_LOGIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


def check_login(login: str) -> str:
    """The login in lower case; raises BadInput when it is not letters, digits, `.`, `_`, `-`."""
    name = login.strip().lower()
    if not _LOGIN.fullmatch(name) or name == "system":
        raise BadInput(
            Text(f"登录名 {login!r} 不合格", f"the login {login!r} is not valid"),
            Text(
                "用 1–32 个小写字母、数字、点、下划线或短横线，以字母或数字开头",
                "1 to 32 of a-z 0-9 . _ -, beginning with a letter or digit",
            ),
            reason="bad_login",
        )
    return name


def add_person(
    session: Session,
    platform: Platform,
    *,
    login: str,
    name: str,
    student_number: str | None = None,
    email: str | None = None,
    is_admin: bool = False,
    demo: bool = False,
    taken: Container[str] | None = None,
) -> tuple[Person, str]:
    """A new person and their one-time code, inside the caller's transaction; `taken`: aliases in use."""
    code = new_code()
    person = Person(
        login=login,
        student_number=student_number,
        name=name,
        alias=new_alias(people.aliases(session) if taken is None else taken, secrets.SystemRandom()),
        email=email,
        is_admin=is_admin,
        demo=demo,
        created_at=platform.now(),
    )
    _set_code(platform, person, code)
    session.add(person)
    return person, code


def create_person(
    platform: Platform,
    caller: Caller,
    *,
    login: str,
    name: str,
    student_number: str | None = None,
    email: str | None = None,
    is_admin: bool = False,
    demo: bool = False,
    password: str | None = None,
) -> tuple[Person, str | None]:
    """Make an account; returns it with its one-time activation code (None when a password is given).

    Raises Forbidden for anybody but an administrator, BadInput for a bad login or password, Conflict
    when login or student number is taken.
    """
    access.require_admin(caller)
    wanted = check_login(login)
    if password is not None:
        check_password(password, wanted, student_number)
    hashed = None if password is None else hash_password(password)
    try:
        with platform.store.transaction() as session:
            person, code = add_person(
                session,
                platform,
                login=wanted,
                name=name.strip(),
                student_number=student_number,
                email=email,
                is_admin=is_admin,
                demo=demo,
            )
            if hashed is not None:
                person.password_hash, person.activation_hash, person.activation_expires = hashed, None, None
            session.flush()
            audit.record(session, platform, caller, "person.create", wanted, is_admin=is_admin)
    except IntegrityError as error:
        raise _taken(wanted) from error
    return person, None if hashed is not None else code


def add_to_cohort(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    *,
    login: str,
    name: str,
    student_number: str | None = None,
    email: str | None = None,
    role: Role = Role.STUDENT,
    section: str = "",
) -> tuple[Enrollment, Person, str | None]:
    """Add somebody to a cohort by hand, with a new account where the login is new (then with its code).

    Raises Forbidden (staff only; staff are added by a teacher), NotFound, BadInput, Conflict.
    """
    wanted = check_login(login)
    name, student_number, email = _as_in_a_roster(name, student_number, email)
    code: str | None = None
    try:
        with platform.store.transaction() as session:
            cohort = access.cohort_for(session, caller, cohort_slug)
            access.require_staff(session, caller, cohort.id)
            if role in STAFF:
                access.require_teacher(session, caller, cohort.id)
            if people.person_by_login(session, wanted) is None:
                _, code = add_person(
                    session,
                    platform,
                    login=wanted,
                    name=name,
                    student_number=student_number,
                    email=email,
                    demo=cohort.demo,
                )
                session.flush()
                audit.record(session, platform, caller, "person.create", wanted, cohort=cohort.slug)
    except IntegrityError as error:
        raise _taken(wanted) from error
    row = enroll(platform, caller, cohort_slug, wanted, role, section)
    with platform.store.reading() as session:
        return row, access.person_for(session, caller, wanted), code


def enroll(
    platform: Platform, caller: Caller, cohort_slug: str, login: str, role: Role = Role.STUDENT, section: str = ""
) -> Enrollment:
    """Add a person to a cohort by hand, or change what they are there; never dropped by a roster.

    Staff may add students; a teacher or administrator may add staff. Raises Forbidden, NotFound.
    """
    if role is Role.ADMIN:
        raise BadInput(Text("管理员是整个平台的角色", "administrator is a role of the whole platform"))
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        person = people.person_by_login(session, login.strip().lower())
        if person is None:
            person = access.person_for(session, caller, login)
        row = people.enrollment(session, cohort.id, person.id)
        if role in STAFF or (row is not None and row.role != Role.STUDENT.value):
            access.require_teacher(session, caller, cohort.id)
        if row is None:
            row = Enrollment(cohort_id=cohort.id, person_id=person.id, since=platform.now())
            session.add(row)
        row.role, row.section, row.source, row.state = role.value, section or row.section or "", "manual", "active"
        audit.record(session, platform, caller, "person.enroll", person.login, cohort=cohort.slug, role=role.value)
        events.emit_for_staff(session, platform, cohort.slug, "people")
        events.emit_for_person(session, platform, person.id, "people")
        return row


def suspend(platform: Platform, caller: Caller, cohort_slug: str, login: str) -> None:
    """Take a person off a class; what they have is kept. Raises Forbidden, NotFound."""
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        person = access.person_for(session, caller, login)
        row = people.enrollment(session, cohort.id, person.id)
        if row is None:
            return
        if row.role != Role.STUDENT.value:
            access.require_teacher(session, caller, cohort.id)
        row.state = "suspended"
        audit.record(session, platform, caller, "person.suspend", person.login, cohort=cohort.slug)
        events.emit_for_staff(session, platform, cohort.slug, "people")
        events.emit_for_person(session, platform, person.id, "people")


def list_people(platform: Platform, caller: Caller, cohort_slug: str) -> list[tuple[Enrollment, Person]]:
    """Everybody in a cohort, for its staff. Raises Forbidden, NotFound."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        return people.class_list(session, cohort.id)


def memberships(platform: Platform, caller: Caller) -> tuple[Person, list[tuple[Cohort, Enrollment]]]:
    """Who the caller is and the cohorts they are in, newest first. Raises NotSignedIn for the platform itself."""
    with platform.store.reading() as session:
        person = None if caller.person_id is None else session.get(Person, caller.person_id)
        if person is None:
            raise NotSignedIn(Text("先登录", "sign in first"))
        return person, people.cohorts_of(session, person.id)


def new_activation(platform: Platform, caller: Caller, login: str) -> str:
    """A new one-time code for somebody who lost theirs or forgot the password; the old password goes.

    Staff for students who are in no cohort but theirs, an administrator for anybody: a code is a way
    into the account. Raises Forbidden, NotFound.
    """
    with platform.store.transaction() as session:
        person = access.person_for(session, caller, login)
        is_student = not people.staff_anywhere(session, [person.id], [role.value for role in STAFF])
        is_theirs = all(access.is_staff(session, caller, row.id) for row, _ in people.cohorts_of(session, person.id))
        if not (is_student and is_theirs):
            access.require_admin(caller)
        code = give_code(session, platform, person)
        audit.record(session, platform, caller, "person.new_code", person.login)
        return code


def give_code(session: Session, platform: Platform, person: Person) -> str:
    """A new one-time code in the caller's transaction; the password and all sessions go."""
    code = new_code()
    person.password_hash = None
    _set_code(platform, person, code)
    people.revoke_tokens(session, person.id, platform.now())
    return code


def set_password(platform: Platform, caller: Caller, login: str, password: str) -> None:
    """Set somebody's password, as an administrator (`qianka people password`); ends their sessions."""
    access.require_admin(caller)
    with platform.store.reading() as session:
        person = access.person_for(session, caller, login)
    _store_password(platform, caller, person, password)


def change_password(platform: Platform, caller: Caller, old: str, new: str) -> None:
    """Change one's own password; ends one's other sessions. Raises NotSignedIn when `old` is wrong."""
    with platform.store.reading() as session:
        person = None if caller.person_id is None else session.get(Person, caller.person_id)
    if person is None or not verify_password(person.password_hash, old):
        raise NotSignedIn(Text("原密码不对", "the old password is wrong"), reason="wrong_password")
    _store_password(platform, caller, person, new)


def set_profile(
    platform: Platform,
    caller: Caller,
    *,
    show_name: bool | None = None,
    language: str | None = None,
    alias: str | None = None,
) -> Person:
    """What a person decides for themselves: alias and name on the board, the language (zh or en).

    Raises BadInput for an alias that shows nothing, Conflict for one that somebody has.
    """
    if language not in (None, "zh", "en"):
        raise BadInput(Text("语言是 zh 或 en", "the language is zh or en"))
    wanted = None if alias is None else check_alias(alias)
    with platform.store.transaction() as session:
        person = access.person_for(session, caller, caller.login)
        if wanted is not None and wanted != person.alias:
            if wanted in people.aliases(session):
                raise Conflict(
                    Text(f"别名“{wanted}”已有人用", f"somebody has the alias {wanted!r}"),
                    Text("换一个", "choose another"),
                    reason="alias_taken",
                )
            person.alias = wanted
        if show_name is not None:
            person.show_name = show_name
        if language is not None:
            person.language = language
        audit.record(session, platform, caller, "person.profile", person.login, show_name=person.show_name)
        return person


def _as_in_a_roster(name: str, number: str | None, email: str | None) -> tuple[str, str | None, str | None]:
    """What is typed by hand keeps the rules of what comes from a file. Raises BadInput."""
    try:
        return (
            cells.name(name),
            cells.student_number(number) if number and number.strip() else None,
            (cells.email(email) or None) if email else None,
        )
    except cells.CellError as error:
        raise BadInput(error.text, reason=error.code) from error


def _taken(login: str) -> Conflict:
    return Conflict(
        Text(f"登录名 {login} 或学号已有人用", f"the login {login} or the student number is taken"),
        Text("换一个，或把已有的人加入课程班", "choose another, or add the existing person to the cohort"),
        reason="login_taken",
    )


def _store_password(platform: Platform, caller: Caller, person: Person, password: str) -> None:
    check_password(password, person.login, person.student_number)
    hashed = hash_password(password)
    with platform.store.transaction() as session:
        stored = people.lock_person(session, person.id)
        if stored is None:
            return
        stored.password_hash, stored.activation_hash, stored.activation_expires = hashed, None, None
        keep = caller.token_id if caller.person_id == person.id else None
        people.revoke_tokens(session, person.id, platform.now(), keep)
        audit.record(session, platform, caller, "person.password", person.login)


def _set_code(platform: Platform, person: Person, code: str) -> None:
    person.activation_hash = access.hash_secret(plain_code(code))
    person.activation_expires = platform.now() + timedelta(days=CODE_DAYS)
