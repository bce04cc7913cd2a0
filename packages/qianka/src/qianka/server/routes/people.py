"""People of a cohort and their roster."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from qianka.domain.people import Role
from qianka.errors import BadInput, Text
from qianka.schemas.base import Page
from qianka.schemas.people import ActivationCode, NewPerson, Person, PersonAdded, RosterApplied, RosterPreview
from qianka.server import rosterviews
from qianka.server.deps import CallerDep, LanguageDep, Limit, PlatformDep
from qianka.services import people

router = APIRouter(tags=["people"])

Encoding = Annotated[str | None, Query(max_length=40, description="when the guess is wrong")]
Mode = Annotated[
    Literal["append", "replace"] | None, Query(description="append: add only; replace: drop who is missing")
]
_CSV = {"requestBody": {"required": True, "content": {"text/csv": {"schema": {"type": "string", "format": "binary"}}}}}


@router.get("/cohorts/{cohort}/people")
def list_people(
    cohort: str,
    caller: CallerDep,
    platform: PlatformDep,
    after: Annotated[str | None, Query(pattern="^[0-9]{1,9}$", description="`next` of the page before")] = None,
    limit: Limit = 1000,
) -> Page[Person]:
    """Everybody in the cohort, by student number; for staff."""
    found = people.list_people(platform, caller, cohort)
    start = int(after or 0)
    items = [rosterviews.person(person, row) for row, person in found[start : start + limit]]
    return Page[Person](items=items, next=str(start + limit) if start + limit < len(found) else None)


@router.post("/cohorts/{cohort}/people", status_code=201)
def add_person(cohort: str, body: NewPerson, caller: CallerDep, platform: PlatformDep) -> PersonAdded:
    """Add somebody by hand; an administrator may make a new account, staff add who is there already."""
    code = None
    if caller.is_admin and not rosterviews.exists(platform, body.login):
        _, code = people.create_person(
            platform,
            caller,
            login=body.login,
            name=body.name or body.login,
            student_number=body.student_number,
            email=body.email,
        )
    people.enroll(platform, caller, cohort, body.login, _role(body.role), body.section)
    login = body.login.strip().lower()
    row, person = next(pair for pair in people.list_people(platform, caller, cohort) if pair[1].login == login)
    return PersonAdded(person=rosterviews.person(person, row), code=code)


@router.delete("/cohorts/{cohort}/people/{login}", status_code=204)
def suspend_person(cohort: str, login: str, caller: CallerDep, platform: PlatformDep) -> Response:
    """Take somebody off the class; all they have is kept."""
    people.suspend(platform, caller, cohort, login)
    return Response(status_code=204)


@router.post("/people/{login}/code", status_code=201)
def new_code(login: str, caller: CallerDep, platform: PlatformDep) -> ActivationCode:
    """A new one-time code for somebody who forgot the password; shown this once."""
    code = people.new_activation(platform, caller, login)
    return ActivationCode(login=login.strip().lower(), name="", code=code)


@router.post("/cohorts/{cohort}/roster/preview", openapi_extra=_CSV)
async def preview_roster(
    cohort: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    encoding: Encoding = None,
    mode: Mode = None,
) -> RosterPreview:
    """How a roster (CSV, raw body) is read and what applying it would change; nothing is written."""
    data = await request.body()
    found = await run_in_threadpool(people.preview_roster, platform, caller, cohort, data, encoding, mode)
    return rosterviews.preview(found, language)


@router.post("/cohorts/{cohort}/roster/apply", openapi_extra=_CSV)
async def apply_roster(
    cohort: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    digest: Annotated[str, Query(max_length=100, description="of the preview")],
    encoding: Encoding = None,
    mode: Mode = None,
) -> RosterApplied:
    """Do what the preview with that digest showed. New people's codes are in this answer and nowhere else."""
    data = await request.body()
    done = await run_in_threadpool(people.apply_roster, platform, caller, cohort, data, encoding, digest, mode)
    return rosterviews.applied(done, language)


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError as error:
        known = ", ".join(role.value for role in Role if role is not Role.ADMIN)
        raise BadInput(Text(f"没有角色 {name}", f"there is no role {name}"), Text(known, known)) from error
