"""Cohorts and the budgets in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from qianka.schemas.boards import Budget
from qianka.schemas.cohorts import Archived, ChangeCohort, Cohort, NewCohort
from qianka.server import views
from qianka.server.deps import CallerDep, PlatformDep
from qianka.services import budgets, cohorts, people
from qianka.services.platform import Caller, Platform

router = APIRouter(tags=["cohorts"])


@router.get("/cohorts")
def list_cohorts(caller: CallerDep, platform: PlatformDep) -> list[Cohort]:
    """The cohorts the caller is in (all for an administrator), newest first."""
    roles = _roles(platform, caller)
    return [views.cohort(row, roles) for row in cohorts.list_cohorts(platform, caller)]


@router.post("/cohorts", status_code=201)
def create_cohort(body: NewCohort, caller: CallerDep, platform: PlatformDep) -> Cohort:
    """Make a cohort; for administrators."""
    return views.cohort(cohorts.create(platform, caller, **body.model_dump()), {})


@router.get("/cohorts/{cohort}")
def get_cohort(cohort: str, caller: CallerDep, platform: PlatformDep) -> Cohort:
    """One cohort."""
    return views.cohort(cohorts.get(platform, caller, cohort), _roles(platform, caller))


@router.patch("/cohorts/{cohort}")
def change_cohort(cohort: str, body: ChangeCohort, caller: CallerDep, platform: PlatformDep) -> Cohort:
    """Change title, zone, budget week, timetable or budgets; for its teachers."""
    given = body.model_dump(exclude_unset=True)
    never_null = ("title", "term", "zone", "week_start", "class_times")
    values = {name: value for name, value in given.items() if value is not None or name not in never_null}
    return views.cohort(cohorts.change(platform, caller, cohort, **values), _roles(platform, caller))


@router.put("/cohorts/{cohort}/archived")
def archive_cohort(cohort: str, body: Archived, caller: CallerDep, platform: PlatformDep) -> Cohort:
    """Put a cohort away at the end of its term, or take it back; for administrators."""
    row = cohorts.archive(platform, caller, cohort, archived=body.archived)
    return views.cohort(row, _roles(platform, caller))


@router.get("/cohorts/{cohort}/budget", tags=["boards"])
def get_budget(
    cohort: str,
    caller: CallerDep,
    platform: PlatformDep,
    login: Annotated[str | None, Query(max_length=100, description="somebody else's, for staff")] = None,
) -> Budget:
    """What may be used this week, what was, and what open jobs hold."""
    return views.budget(cohort, budgets.show(platform, caller, cohort, login))


@router.get("/budgets", tags=["boards"])
def list_budgets(caller: CallerDep, platform: PlatformDep) -> list[Budget]:
    """The caller's own week in each cohort they are active in."""
    _, mine = people.memberships(platform, caller)
    slugs = [cohort.slug for cohort, row in mine if row.state == "active"]
    return [views.budget(slug, budgets.show(platform, caller, slug)) for slug in slugs]


def _roles(platform: Platform, caller: Caller) -> dict[str, str]:
    _, mine = people.memberships(platform, caller)
    return {cohort.slug: row.role for cohort, row in mine}
