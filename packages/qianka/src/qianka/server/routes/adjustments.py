"""What staff decides about a grade beside what was graded."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from qianka.schemas.adjustments import Adjustment, NewAdjustment
from qianka.server import gradeviews
from qianka.server.deps import CallerDep, PlatformDep
from qianka.services import grades

router = APIRouter(tags=["boards"])


@router.get("/cohorts/{cohort}/labs/{lab}/adjustments")
def list_adjustments(
    cohort: str,
    lab: str,
    caller: CallerDep,
    platform: PlatformDep,
    login: Annotated[str | None, Query(max_length=100, description="somebody else's, for staff")] = None,
) -> list[Adjustment]:
    """Bonus, override and comment of one's own grade (or another's, for staff), newest first, revoked ones too."""
    return [gradeviews.adjustment(one) for one in grades.decisions(platform, caller, cohort, lab, login)]


@router.post("/cohorts/{cohort}/labs/{lab}/adjustments", status_code=201)
def adjust_grade(cohort: str, lab: str, body: NewAdjustment, caller: CallerDep, platform: PlatformDep) -> Adjustment:
    """Give a bonus, override the points or write a comment; replaces the one of its kind. For staff, audited."""
    made = grades.adjust(platform, caller, cohort, lab, body.login, kind=body.kind, points=body.points, text=body.text)
    return gradeviews.adjustment(made)


@router.post("/cohorts/{cohort}/adjustments/{adjustment}/revoke", status_code=204)
def revoke_adjustment(cohort: str, adjustment: int, caller: CallerDep, platform: PlatformDep) -> None:
    """Take a decision back; its record stays. For staff, audited."""
    grades.revoke(platform, caller, cohort, adjustment)
