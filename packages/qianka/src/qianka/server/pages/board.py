"""The page of a board; fit for a projector, renewed by itself."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from qianka.errors import NotFound
from qianka.server import boardviews, predictionviews
from qianka.server.pages.base import VisitorDep, me_of, page, to_sign_in
from qianka.server.rendering import page_language
from qianka.services import cohorts
from qianka.services.access import SignedIn
from qianka.services.platform import Platform

router = APIRouter()

LINES = 200


@router.get("/board/{cohort}/{lab}", response_class=HTMLResponse)
def show_board(cohort: str, lab: str, request: Request, found: VisitorDep) -> Response:
    """The board of a lab, or a board of predictions, for whoever is in the cohort."""
    if found is None:
        return to_sign_in(request)
    platform: Platform = request.app.state.platform
    language = page_language(request)
    try:
        shown = boardviews.board(platform, found.caller, cohort, lab, language, LINES)
    except NotFound as missing:
        if missing.reason not in ("no_lab", "no_board"):
            raise
        return _predictions(request, found, cohort, lab, missing)
    zone = cohorts.get(platform, found.caller, cohort).zone
    values: dict[str, Any] = {"title": shown.title, "zone": zone, "live": f"board:{shown.lab_id}"}
    return page(request, "board.html", me_of(request, found), board=shown, phase=None, reveal_at=None, **values)


def _predictions(request: Request, found: SignedIn, cohort: str, name: str, missing: NotFound) -> Response:
    """A board of predictions: says whether it is the public or the private ranking. Raises `missing`."""
    language = page_language(request)
    try:
        shown = predictionviews.ranking(
            request.app.state.platform, found.caller, cohort, name, language, LINES, private=None
        )
    except NotFound:
        raise missing from None
    title = shown.title_en or shown.title if language == "en" else shown.title
    return page(
        request,
        "board.html",
        me_of(request, found),
        board=shown,
        title=title,
        zone=shown.zone,
        live=f"board:{shown.id}",
        phase=shown.phase,
        reveal_at=shown.reveal_at or shown.due_at,
    )
