"""The page of a board; fit for a projector, renewed by itself."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from qianka.server import boardviews
from qianka.server.pages.base import VisitorDep, me_of, page, to_sign_in
from qianka.server.rendering import page_language
from qianka.services import cohorts
from qianka.services.platform import Platform

router = APIRouter()

LINES = 200


@router.get("/board/{cohort}/{lab}", response_class=HTMLResponse)
def show_board(cohort: str, lab: str, request: Request, found: VisitorDep) -> Response:
    """The board of a lab for whoever is in the cohort."""
    if found is None:
        return to_sign_in(request)
    platform: Platform = request.app.state.platform
    shown = boardviews.board(platform, found.caller, cohort, lab, page_language(request), LINES)
    zone = cohorts.get(platform, found.caller, cohort).zone
    return page(request, "board.html", me_of(request, found), board=shown, zone=zone, live=f"board:{shown.lab_id}")
