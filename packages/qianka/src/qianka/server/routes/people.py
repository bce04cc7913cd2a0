"""People of a cohort."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from qianka.domain.people import Role
from qianka.errors import BadInput, Text
from qianka.schemas.base import Page
from qianka.schemas.people import (
    ActivationCode,
    ActivationCodes,
    ChangePerson,
    NewCodes,
    NewPerson,
    Person,
    PersonAdded,
)
from qianka.server import rosterviews
from qianka.server.deps import CallerDep, Limit, PlatformDep
from qianka.services import people

router = APIRouter(tags=["people"])


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
    """Add somebody by hand, with a new account where the login is new; staff are added by a teacher."""
    row, person, code = people.add_to_cohort(
        platform,
        caller,
        cohort,
        login=body.login,
        name=body.name,
        student_number=body.student_number,
        email=body.email,
        role=_role(body.role),
        section=body.section,
    )
    return PersonAdded(person=rosterviews.person(person, row), code=code)


@router.patch("/cohorts/{cohort}/people/{login}")
def change_person(cohort: str, login: str, body: ChangePerson, caller: CallerDep, platform: PlatformDep) -> Person:
    """Change role, section, state (suspend, restore), name or e-mail of somebody in a cohort; for its staff."""
    row, person = people.change_person(
        platform,
        caller,
        cohort,
        login,
        role=None if body.role is None else _role(body.role),
        section=body.section,
        state=body.state,
        name=body.name,
        email=body.email,
    )
    return rosterviews.person(person, row)


@router.post("/cohorts/{cohort}/people/codes", status_code=201)
def new_codes(cohort: str, body: NewCodes, caller: CallerDep, platform: PlatformDep) -> ActivationCodes:
    """New one-time codes for students who never signed in (all, or those named); in this answer and nowhere else."""
    made = people.new_codes(platform, caller, cohort, body.logins)
    return ActivationCodes(
        codes=[ActivationCode(**one._asdict()) for one in made.given],
        left_out=[person.name for person in made.left_out],
    )


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


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError as error:
        known = ", ".join(role.value for role in Role if role is not Role.ADMIN)
        raise BadInput(Text(f"没有角色 {name}", f"there is no role {name}"), Text(known, known)) from error
