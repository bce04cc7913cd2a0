"""What a fresh data directory needs before the first request: tables and an administrator."""

from __future__ import annotations

import os
from pathlib import Path

from qianka.errors import NotSignedIn
from qianka.services import access, people
from qianka.services.platform import Caller, Platform
from qianka.store.repos import people as repo

ADMIN = "admin"
_EMBEDDED = "embedded"


def first_admin(platform: Platform) -> str | None:
    """Make the administrator where there is nobody yet; their one-time activation code, else None."""
    with platform.store.reading() as session:
        if repo.anybody(session):
            return None
    _, code = people.create_person(platform, Caller.system(), login=ADMIN, name="管理员", is_admin=True)
    return code


def write_admin_token(platform: Platform, path: Path) -> None:
    """A bearer token of the administrator for the process that embeds this platform, in a file of mode 0600.

    One that is there and good is kept: a server that is started again must not lock out who uses it.
    """
    if _is_good(platform, path):
        return
    with platform.store.reading() as session:
        person = repo.person_by_login(session, ADMIN)
    if person is None:
        return
    caller = access.caller_of(platform, person)
    for token in people.list_tokens(platform, caller):
        if token.note == _EMBEDDED:
            people.revoke_token(platform, caller, token.id)
    secret = people.issue_token(platform, caller, _EMBEDDED).secret
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)


def _is_good(platform: Platform, path: Path) -> bool:
    try:
        access.signed_in(platform, path.read_text("ascii").strip(), "bearer")
    except (FileNotFoundError, ValueError, NotSignedIn):
        return False
    return True
