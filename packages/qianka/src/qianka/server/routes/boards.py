"""Boards and grades."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from qianka.schemas.base import Page
from qianka.schemas.boards import Board, Grade, GradeLine
from qianka.server import boardviews, gradeviews
from qianka.server.deps import CallerDep, LanguageDep, Limit, PlatformDep
from qianka.services import grades

router = APIRouter(tags=["boards"])


@router.get("/cohorts/{cohort}/labs/{lab}/board", response_model=Board)
def get_board(
    cohort: str,
    lab: str,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    limit: Limit = 100,
    by: Annotated[str, Query(pattern="^(score|efficiency)$", description="efficiency: score per GPU-minute")] = "score",
) -> Response:
    """The board of a lab: best first, ties share a rank (1, 2, 2, 4), entries without a score last."""
    shown = boardviews.board(platform, caller, cohort, lab, language, limit, by)
    return Response(shown.model_dump_json(), media_type="application/json")


@router.get("/grades")
def list_my_grades(caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> list[Grade]:
    """The caller's own grades in all cohorts."""
    return [gradeviews.mine(grade, language) for grade in grades.mine(platform, caller)]


@router.get("/cohorts/{cohort}/grades")
def list_class_grades(
    cohort: str,
    caller: CallerDep,
    platform: PlatformDep,
    after: Annotated[str | None, Query(pattern="^[0-9]{1,9}$", description="`next` of the page before")] = None,
    limit: Limit = 500,
) -> Page[GradeLine]:
    """Everybody in a cohort with the grades by lab; for staff."""
    found = grades.of_cohort(platform, caller, cohort)
    start = int(after or 0)
    items = [gradeviews.line(line) for line in found[start : start + limit]]
    return Page[GradeLine](items=items, next=str(start + limit) if start + limit < len(found) else None)


@router.get("/cohorts/{cohort}/grades.csv", response_class=Response)
def export_grades(cohort: str, caller: CallerDep, platform: PlatformDep) -> Response:
    """The grades of a cohort for a spreadsheet; for staff, audited."""
    headers = {"Content-Disposition": 'attachment; filename="grades.csv"'}
    return Response(grades.export_csv(platform, caller, cohort), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/cohorts/{cohort}/grades.xlsx", response_class=Response)
def export_grade_workbook(cohort: str, caller: CallerDep, platform: PlatformDep) -> Response:
    """The grades as a workbook, with how each came about on a second sheet; for staff, audited."""
    headers = {"Content-Disposition": 'attachment; filename="grades.xlsx"'}
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    return Response(grades.export_xlsx(platform, caller, cohort), media_type=kind, headers=headers)
