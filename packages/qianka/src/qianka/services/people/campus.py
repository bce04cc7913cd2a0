"""Signing in by what a campus has already: whom it vouches for becomes one of our people."""

from __future__ import annotations

import threading
from typing import Literal

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from qianka.domain.people import Identified
from qianka.errors import Conflict, Forbidden, Text
from qianka.services import access, audit
from qianka.services.people import signin
from qianka.services.people.accounts import add_person, check_login
from qianka.services.people.methods import directory_of
from qianka.services.people.signin import Seen, SignIn
from qianka.services.platform import Caller, Platform
from qianka.store.repos import people
from qianka.store.tables import Identity, Person

_DIRECTORY_AT_ONCE = threading.BoundedSemaphore(8)
"""a directory that hangs must not take every thread of the server"""


def sign_in_by_directory(
    platform: Platform,
    login: str,
    password: str,
    *,
    kind: Literal["session", "bearer"] = "session",
    note: str = "",
    seen: Seen,
) -> SignIn:
    """Check name and password with the directory (LDAP) of the campus.

    Raises NotSignedIn when they are wrong, OverLimit after too many failures, Unavailable when the
    directory does not answer, Forbidden as `enter` does.
    """
    name = signin.login_of(login)
    directory = directory_of(platform)
    signin.brake(platform, name, seen.address)
    with _DIRECTORY_AT_ONCE:
        found = directory.check(login.strip(), password)
    if found is None:
        signin.failed(platform, name, seen.address)
        raise signin.wrong()
    return enter(platform, "ldap", found, kind=kind, note=note, seen=seen)


def enter(
    platform: Platform,
    method: str,
    found: Identified,
    *,
    kind: Literal["session", "bearer"] = "session",
    note: str = "",
    seen: Seen,
) -> SignIn:
    """Sign in whom `method` vouches for: who came by it before, else who has that number or login in our rosters.

    Raises Forbidden when we know nobody by it, or several, or an administrator: a name outside must
    not become power here, so administrators use their platform account.
    """
    try:
        with platform.store.transaction() as session:
            person = _known(session, method, found) or _linked(session, platform, method, found, seen)
            caller = access.caller_of(platform, person, seen.address)
            audit.record(session, platform, caller, "sign_in", person.login, kind=kind, method=method)
            return signin.issue(session, platform, person, kind, note, seen)
    except IntegrityError as error:  # the same person, twice at once, for the first time
        raise Conflict(
            Text("这个账户正在别处登录", "this account is signing in elsewhere right now"),
            Text("再登录一次", "sign in once more"),
            reason="again",
        ) from error


def _known(session: Session, method: str, found: Identified) -> Person | None:
    """Who came by this identity before; an administrator made since then no longer does."""
    person = people.person_by_identity(session, method, found.subject)
    if person is not None and person.is_admin:
        raise _administrator()
    return person


def _linked(session: Session, platform: Platform, method: str, found: Identified, seen: Seen) -> Person:
    campus_id = found.campus_id.strip()
    matches = people.persons_by_campus_id(session, campus_id) if campus_id else []
    if len(matches) > 1:
        raise Forbidden(
            Text(f"{campus_id} 对应多个账户", f"{campus_id} fits several accounts"),
            Text("请教师或管理员改正名单", "ask a teacher or an administrator to mend the roster"),
            reason="two_accounts",
        )
    if not matches and not (campus_id and platform.settings.signin_create):
        raise Forbidden(
            Text(f"名单里没有 {campus_id or found.subject}", f"{campus_id or found.subject} is in no roster"),
            Text("请教师先把你加进课程班", "ask the teacher to add you to the cohort"),
            reason="no_account",
        )
    person = matches[0] if matches else _created(session, platform, method, found, seen)
    if person.is_admin:
        raise _administrator()
    session.add(Identity(person_id=person.id, method=method, subject=found.subject, created_at=platform.now()))
    session.flush()
    caller = access.caller_of(platform, person, seen.address)
    audit.record(session, platform, caller, "identity.link", person.login, method=method, subject=found.subject)
    return person


def _created(session: Session, platform: Platform, method: str, found: Identified, seen: Seen) -> Person:
    login = check_login(found.campus_id)
    person, _ = add_person(
        session,
        platform,
        login=login,
        name=found.name.strip()[:100] or login,
        student_number=found.campus_id.strip(),
        email=found.email or None,
    )
    person.activation_hash, person.activation_expires = None, None
    session.flush()
    nobody = Caller(person_id=None, login=login, address=seen.address)
    audit.record(session, platform, nobody, "person.create", login, method=method)
    return person


def _administrator() -> Forbidden:
    return Forbidden(
        Text("管理员不能用校园账号登录", "administrators do not sign in by the campus"),
        Text("用平台账户登录", "use the platform account"),
        reason="admin_local",
    )
