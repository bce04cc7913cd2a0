"""Signing in and out: browser sessions, bearer tokens, and the brake on guessing."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sqlalchemy.orm import Session

from qianka.errors import BadInput, NotFound, NotSignedIn, OverLimit, Text
from qianka.services import access, audit
from qianka.services.people.passwords import check_password, hash_password, plain_code, verify_password
from qianka.services.platform import Caller, Platform
from qianka.store.repos import people
from qianka.store.tables import Person, Token

FAILED = "sign_in.failed"
WINDOW = timedelta(minutes=10)
LIMITS = (8, 40, 300)
"""failures in WINDOW: one login from one address, one login, one address (a whole class shares one)"""


@contextmanager
def _one_at_a_time(platform: Platform) -> Iterator[None]:
    """So that a burst of guesses cannot pass the brake together, by whichever server process they come."""
    folder = os.open(platform.folders.run, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


class SignIn(NamedTuple):
    """What a person gets when the password is right; `secret` is shown this once."""

    secret: str
    csrf: str | None
    person: Person
    expires_at: datetime


class Seen(NamedTuple):
    """Where a browser signs in from."""

    agent: str = ""
    address: str | None = None


NOWHERE = Seen()


def sign_in(
    platform: Platform,
    login: str,
    password: str,
    *,
    kind: Literal["session", "bearer"] = "session",
    note: str = "",
    seen: Seen = NOWHERE,
) -> SignIn:
    """Check the password and open a session (browser) or make a bearer token (command line).

    Raises NotSignedIn when login or password is wrong (which of them is not told), OverLimit after
    too many failures.
    """
    name = login_of(login)
    with _one_at_a_time(platform):
        brake(platform, name, seen.address)
        with platform.store.reading() as session:
            person = people.person_by_login(session, name)
        right = verify_password(person.password_hash if person is not None else None, password)
        if person is not None and not right and _code_fits(platform, person, password):
            raise NotSignedIn(
                Text("这是激活码，不是密码", "this is an activation code, not a password"),
                Text("先用它设置自己的密码", "choose a password of your own with it first"),
                reason="activate_first",
            )
        if not right or person is None:
            failed(platform, name, seen.address)
            raise wrong()
    with platform.store.transaction() as session:
        caller = access.caller_of(platform, person, seen.address)
        audit.record(session, platform, caller, "sign_in", person.login, kind=kind)
        return issue(session, platform, person, kind, note, seen)


def activate(platform: Platform, login: str, code: str, password: str, address: str | None = None) -> Person:
    """Set the first password with the one-time code; the code is used up.

    Raises NotSignedIn for a wrong, used or expired code, BadInput for a weak password, OverLimit.
    """
    name = login_of(login)
    with _one_at_a_time(platform):
        brake(platform, name, address)
        with platform.store.reading() as session:
            person = people.person_by_login(session, name)
        if person is None or not _code_fits(platform, person, code):
            failed(platform, name, address)
            raise NotSignedIn(
                Text(
                    "登录名或激活码不对，或激活码已用过、已过期",
                    "login or code is wrong, or the code was used or has expired",
                ),
                Text("向教师要一个新的激活码", "ask the teacher for a new code"),
                reason="bad_code",
            )
    check_password(password, person.login, person.student_number)
    hashed = hash_password(password)
    with platform.store.transaction() as session:
        stored = people.lock_person(session, person.id)
        if stored is None or not _code_fits(platform, stored, code):
            raise wrong()
        stored.password_hash, stored.activation_hash, stored.activation_expires = hashed, None, None
        people.revoke_tokens(session, stored.id, platform.now())
        audit.record(session, platform, access.caller_of(platform, stored, address), "person.activate", stored.login)
        return stored


def issue_token(platform: Platform, caller: Caller, note: str = "", days: float | None = None) -> SignIn:
    """A bearer token for the command line, for the caller's own account.

    Raises BadInput for a life that is not between a minute and the setting `token.days`.
    """
    longest = platform.settings.token_days
    life = longest if days is None else days
    if not 0.0007 <= life <= longest:
        raise BadInput(Text(f"令牌有效期最长 {longest:g} 天", f"a token lasts at most {longest:g} days"))
    with platform.store.transaction() as session:
        person = _self(session, caller)
        audit.record(session, platform, caller, "token.issue", person.login, note=note)
        return issue(session, platform, person, "bearer", note, life=timedelta(days=life))


def list_tokens(platform: Platform, caller: Caller) -> list[Token]:
    """The caller's sessions and tokens that are still good, newest first."""
    with platform.store.reading() as session:
        return people.live_tokens(session, _self(session, caller).id, platform.now())


def revoke_token(platform: Platform, caller: Caller, token_id: int | None = None) -> None:
    """Revoke one of the caller's tokens; None: the one they came with (signing out). Raises NotFound."""
    wanted = caller.token_id if token_id is None else token_id
    with platform.store.transaction() as session:
        token = None if wanted is None else session.get(Token, wanted)
        if token is None or not (caller.is_admin or token.person_id == caller.person_id):
            raise NotFound(Text("没有这个令牌", "there is no such token"), reason="no_token")
        if token.revoked_at is None:
            token.revoked_at = platform.now()
            audit.record(session, platform, caller, "token.revoke", str(token.id))


def end_others(platform: Platform, caller: Caller) -> int:
    """End every browser session of the caller but this one; tokens of the command line stay. How many ended."""
    ended = 0
    with platform.store.transaction() as session:
        for token in people.live_tokens(session, _self(session, caller).id, platform.now()):
            if token.kind == "session" and token.id != caller.token_id:
                token.revoked_at = platform.now()
                ended += 1
        if ended:
            audit.record(session, platform, caller, "session.end_others", caller.login, ended=ended)
    return ended


def issue(
    session: Session,
    platform: Platform,
    person: Person,
    kind: str,
    note: str = "",
    seen: Seen | None = None,
    life: timedelta | None = None,
) -> SignIn:
    """Open a session or make a token inside the caller's transaction, which has made sure who it is."""
    settings, now = platform.settings, platform.now()
    if life is None:
        is_session = kind == "session"
        life = timedelta(hours=settings.session_hours) if is_session else timedelta(days=settings.token_days)
    secret = ("qs_" if kind == "session" else "qk_") + secrets.token_urlsafe(32)
    csrf = secrets.token_urlsafe(32) if kind == "session" else None
    session.add(
        Token(
            person_id=person.id,
            kind=kind,
            secret_hash=access.hash_secret(secret),
            csrf=csrf,
            note=note[:200],
            agent="" if seen is None else seen.agent[:300],
            address=None if seen is None else seen.address,
            created_at=now,
            expires_at=now + life,
        )
    )
    return SignIn(secret, csrf, person, now + life)


def _self(session: Session, caller: Caller) -> Person:
    person = None if caller.person_id is None else session.get(Person, caller.person_id)
    if person is None:
        raise NotSignedIn(Text("先登录", "sign in first"))
    return person


def login_of(login: str) -> str:
    """How a login is looked up."""
    return login.strip().lower()[:64]


def _code_fits(platform: Platform, person: Person, code: str) -> bool:
    if person.activation_hash is None or person.activation_expires is None:
        return False
    offered = access.hash_secret(plain_code(code))
    return secrets.compare_digest(offered, person.activation_hash) and platform.now() < person.activation_expires


def brake(platform: Platform, login: str, address: str | None) -> None:
    """Raises OverLimit after too many failures of this login or from this address."""
    now = platform.now()
    with platform.store.reading() as session:
        counts = people.failures_since(session, FAILED, now - WINDOW, login, address)
    if any(count >= limit for count, limit in zip(counts, LIMITS, strict=True)):
        minutes = int(WINDOW.total_seconds() // 60)
        raise OverLimit(
            Text("登录失败次数太多，暂时不能再试", "too many failed sign-ins"),
            Text(f"{minutes} 分钟后再试；忘记密码请找教师", f"try again in {minutes} minutes, or ask the teacher"),
            reason="sign_in_limit",
            retry_after=int(WINDOW.total_seconds()),
        )


def failed(platform: Platform, login: str, address: str | None) -> None:
    """Count a failure."""
    with platform.store.transaction() as session:
        audit.record(session, platform, Caller(person_id=None, login=login, address=address), FAILED, login)


def wrong() -> NotSignedIn:
    """Name or password is wrong; which of them is not told."""
    return NotSignedIn(
        Text("登录名或密码不对", "login or password is wrong"),
        Text("第一次登录先用激活码设置密码", "the first time, set a password with the activation code"),
        reason="wrong_password",
    )
