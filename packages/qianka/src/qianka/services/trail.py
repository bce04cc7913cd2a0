"""The audit log as administrators read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from qianka.services import access
from qianka.services.platform import Caller, Platform
from qianka.store.repos import records


@dataclass(frozen=True, kw_only=True)
class Line:
    """Who did what to what, when and from where; `login` is empty where nobody was signed in."""

    id: int
    at: datetime
    login: str
    name: str
    action: str
    target: str
    details: dict[str, Any]
    address: str | None


def read(
    platform: Platform,
    caller: Caller,
    *,
    before: int | None = None,
    limit: int = 100,
    action: str = "",
    words: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[Line]:
    """Lines before the id `before` (None: the newest), newest first; for administrators. Raises Forbidden."""
    access.require_admin(caller)
    with platform.store.reading() as session:
        found = records.audit_lines(
            session, before=before, limit=limit, action=action, words=words, since=since, until=until
        )
    return [
        Line(
            id=line.id,
            at=line.at,
            login="" if person is None else person.login,
            name="" if person is None else person.name,
            action=line.action,
            target=line.target,
            details=line.details,
            address=line.address,
        )
        for line, person in found
    ]
