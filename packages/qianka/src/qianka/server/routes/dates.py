"""Dates of labs, extensions, late days, and how grades came to be what they are."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from qianka.schemas.dates import (
    DatesChanged,
    Extension,
    ExtensionChanged,
    GradeChange,
    LateDays,
    LateDaysChanged,
    MyDates,
    NewDates,
    NewExtension,
    Revocation,
)
from qianka.server import dateviews, publishing
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.services import cohorts, dates

router = APIRouter(tags=["dates"])

Login = Annotated[str | None, Query(max_length=100, description="somebody else's, for staff")]


@router.get("/cohorts/{cohort}/labs/{lab}/dates")
def get_dates(
    cohort: str, lab: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep, login: Login = None
) -> MyDates:
    """When a lab is due for the caller: with offset and countdown, and why it is not the class's date."""
    return dateviews.mine(dates.mine(platform, caller, cohort, lab, login), language)


@router.put("/cohorts/{cohort}/labs/{lab}/dates")
def change_dates(cohort: str, lab: str, body: NewDates, caller: CallerDep, platform: PlatformDep) -> DatesChanged:
    """Set or lift dates of a lab; for teachers. All penalties that follow move with it; `preview` tells whose."""
    given = {name: publishing.aware(getattr(body, name)) for name in body.model_fields_set - {"preview"}}
    found = dates.change_dates(platform, caller, cohort, lab, **given, preview=body.preview)
    return dateviews.dates_changed(platform, cohorts.get(platform, caller, cohort), found, body.preview)


@router.put("/cohorts/{cohort}/late-days")
def set_late_days(cohort: str, body: LateDays, caller: CallerDep, platform: PlatformDep) -> LateDaysChanged:
    """Say how many late days each person may spend in a cohort; for teachers."""
    found = dates.set_late_days(platform, caller, cohort, body.days, preview=body.preview)
    return dateviews.late_days_changed(platform, found, body.preview)


@router.get("/cohorts/{cohort}/extensions")
def list_extensions(
    cohort: str,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    lab: Annotated[str | None, Query(max_length=100, description="only what bears on this lab")] = None,
    revoked: Annotated[bool, Query(description="with those taken back")] = False,
) -> list[Extension]:
    """The extensions of a cohort, newest first; for staff."""
    zone = cohorts.get(platform, caller, cohort).zone
    found = dates.list_extensions(platform, caller, cohort, lab, revoked=revoked)
    return [dateviews.extension(one, zone, language) for one in found]


@router.post("/cohorts/{cohort}/extensions", status_code=201)
def give_extension(
    cohort: str, body: NewExtension, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> ExtensionChanged:
    """Give a person or a section more time; for staff. `preview` only tells whose grades would move."""
    found = dates.extend(
        platform,
        caller,
        cohort,
        dates.More(days=body.days, hours=body.hours, until=publishing.aware(body.until)),
        body.reason,
        lab_slug=body.lab,
        login=body.login,
        section=body.section,
        preview=body.preview,
    )
    row = cohorts.get(platform, caller, cohort)
    return dateviews.extension_changed(platform, row, found, language, body.preview)


@router.post("/cohorts/{cohort}/extensions/{extension}/revoke")
def revoke_extension(
    cohort: str, extension: str, body: Revocation, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> ExtensionChanged:
    """Take an extension back; its record stays. For staff."""
    row = cohorts.get(platform, caller, cohort)
    found = dates.revoke(platform, caller, extension, body.reason, preview=body.preview)
    return dateviews.extension_changed(platform, row, found, language, body.preview)


@router.get("/cohorts/{cohort}/labs/{lab}/grade-changes", tags=["boards"])
def list_grade_changes(
    cohort: str, lab: str, caller: CallerDep, platform: PlatformDep, login: Login = None
) -> list[GradeChange]:
    """Every change of a grade: what it was and became, who, when and why; one's own, or (staff) another's."""
    return dateviews.history(platform, caller, cohort, lab, login)
