"""Groups: formed by staff from a file, or by students who ask each other."""

from __future__ import annotations

from typing import Annotated

import anyio
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from qianka.schemas.groups import Group, GroupPerson, GroupRules, Invitation, NewGroup, NewGroupRules
from qianka.server import publishing
from qianka.server.deps import CallerDep, PlatformDep
from qianka.services import groups

router = APIRouter(tags=["people"])

Scope = Annotated[str, Query(pattern="^([a-z0-9][a-z0-9-]{0,62})?$", description="a lab or board; empty: the cohort")]


@router.get("/cohorts/{cohort}/group-rules")
def list_group_rules(cohort: str, caller: CallerDep, platform: PlatformDep) -> list[GroupRules]:
    """How groups are formed in a cohort."""
    return [GroupRules.model_validate(rule) for rule in groups.rules(platform, caller, cohort)]


@router.put("/cohorts/{cohort}/group-rules")
def set_group_rules(cohort: str, body: NewGroupRules, caller: CallerDep, platform: PlatformDep) -> GroupRules:
    """Set size, lock date and who forms groups; for staff."""
    rule = groups.set_rules(
        platform,
        caller,
        cohort,
        scope=body.scope,
        size=body.size,
        locks_at=publishing.aware(body.locks_at),
        by_students=body.by_students,
    )
    return GroupRules.model_validate(rule)


@router.get("/cohorts/{cohort}/groups")
def list_groups(
    cohort: str,
    caller: CallerDep,
    platform: PlatformDep,
    scope: Annotated[str | None, Query(max_length=63, description="of this lab or board alone")] = None,
) -> list[Group]:
    """All groups for staff; for a student those they are in or asked into."""
    return [_shown(found) for found in groups.list_groups(platform, caller, cohort, scope)]


@router.post("/cohorts/{cohort}/groups", status_code=201)
def create_group(cohort: str, body: NewGroup, caller: CallerDep, platform: PlatformDep) -> Group:
    """Make a group with the caller in it."""
    return _shown(groups.create(platform, caller, cohort, body.name, body.scope))


@router.post("/cohorts/{cohort}/groups/import")
async def import_groups(
    cohort: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    scope: Scope = "",
    encoding: Annotated[str | None, Query(max_length=20)] = None,
) -> list[Group]:
    """Make groups what a CSV says (raw body; columns group, and login or student number); for staff."""
    data = await request.body()

    def work() -> list[Group]:
        found = groups.import_csv(platform, caller, cohort, data, scope=scope, encoding=encoding)
        return [_shown(one) for one in found]

    return await anyio.to_thread.run_sync(work)


@router.get("/groups/{group_id}")
def get_group(group_id: int, caller: CallerDep, platform: PlatformDep) -> Group:
    """One group."""
    return _shown(groups.get(platform, caller, group_id))


@router.post("/groups/{group_id}/invite")
def invite_to_group(group_id: int, body: Invitation, caller: CallerDep, platform: PlatformDep) -> Group:
    """Ask a classmate into the caller's group."""
    return _shown(groups.invite(platform, caller, group_id, body.login))


@router.post("/groups/{group_id}/accept")
def accept_group(group_id: int, caller: CallerDep, platform: PlatformDep) -> Group:
    """Join a group that asked."""
    return _shown(groups.accept(platform, caller, group_id))


@router.post("/groups/{group_id}/leave", status_code=204)
def leave_group(group_id: int, caller: CallerDep, platform: PlatformDep) -> Response:
    """Leave a group, or decline to join."""
    groups.leave(platform, caller, group_id)
    return Response(status_code=204)


def _shown(found: groups.Found) -> Group:
    return Group(
        id=found.group.id,
        scope=found.group.scope,
        name=found.group.name,
        alias=found.group.alias,
        members=[GroupPerson.model_validate(person) for person in found.members],
        invited=[GroupPerson.model_validate(person) for person in found.invited],
    )
