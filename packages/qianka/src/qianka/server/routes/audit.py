"""The audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from qianka.schemas.audit import AuditLine
from qianka.schemas.base import Page
from qianka.server.deps import CallerDep, Limit, PlatformDep
from qianka.server.publishing import aware
from qianka.services import trail

router = APIRouter(tags=["system"])


@router.get("/audit")
def read_audit(
    caller: CallerDep,
    platform: PlatformDep,
    after: Annotated[int | None, Query(ge=1, description="the `next` of the part before")] = None,
    limit: Limit = 100,
    action: Annotated[str, Query(max_length=60, description="how it begins, such as `person.`")] = "",
    words: Annotated[str, Query(max_length=100, description="in target, address, or who did it")] = "",
    since: datetime | None = None,
    until: datetime | None = None,
) -> Page[AuditLine]:
    """Who changed what, newest first; for administrators."""
    aware(since)
    aware(until)
    found = trail.read(
        platform, caller, before=after, limit=limit, action=action, words=words, since=since, until=until
    )
    more = str(found[-1].id) if len(found) == limit else None
    return Page[AuditLine](items=[AuditLine.model_validate(line) for line in found], next=more)
