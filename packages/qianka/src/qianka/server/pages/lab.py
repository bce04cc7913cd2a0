"""The page of a lab: what is asked, until when, one's hand-ins, and a plain form to hand in."""

from __future__ import annotations

import secrets
from functools import partial

import anyio
from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qianka.errors import BadInput, QiankaError, Text
from qianka.server import auth, dateviews, errors, graded, labviews, uploads
from qianka.server.pages.base import VisitorDep, me_of, page, to_sign_in
from qianka.server.rendering import page_language
from qianka.services import cohorts, dates, labs, submissions
from qianka.services.access import SignedIn
from qianka.services.platform import Platform

router = APIRouter()


@router.get("/lab/{cohort}/{lab}", response_class=HTMLResponse)
def show_lab(cohort: str, lab: str, request: Request, found: VisitorDep) -> Response:
    """A lab and one's own hand-ins."""
    if found is None:
        return to_sign_in(request)
    return _lab_page(request, found, cohort, lab)


@router.post("/lab/{cohort}/{lab}/handin")
async def hand_in(cohort: str, lab: str, request: Request) -> Response:
    """Hand in with the form; its hidden key makes a second click the same hand-in."""
    platform: Platform = request.app.state.platform
    found = await anyio.to_thread.run_sync(auth.recognise, request)
    async with uploads.received_form(request, platform) as (fields, got):
        auth.check_csrf(found, fields.get("csrf"))
        if got is None:
            refusal = BadInput(Text("没有选择文件", "no file was chosen"), reason="no_file")
            return await anyio.to_thread.run_sync(_lab_page, request, found, cohort, lab, refusal)
        take = partial(
            submissions.hand_in,
            platform,
            found.caller,
            cohort,
            lab,
            got.path,
            got.filename,
            fields.get("key", "")[:200] or secrets.token_hex(16),
            sha256=got.sha256,
            size=got.size,
        )
        try:
            handed = await anyio.to_thread.run_sync(take, limiter=request.app.state.intake)
        except QiankaError as error:
            return await anyio.to_thread.run_sync(_lab_page, request, found, cohort, lab, error)
    return RedirectResponse(f"/submission/{handed.submission.id}", 303)


def _lab_page(
    request: Request, found: SignedIn, cohort: str, lab: str, error: QiankaError | None = None
) -> HTMLResponse:
    platform: Platform = request.app.state.platform
    language = page_language(request)
    row = labs.get(platform, found.caller, cohort, lab)
    shown = labviews.lab(platform, cohorts.get(platform, found.caller, cohort), row)
    shown.tries = labviews.tries(platform, found.caller, cohort, lab, language)
    shown.mine = dateviews.mine(dates.mine(platform, found.caller, cohort, lab), language)
    mine = submissions.list_submissions(platform, found.caller, cohort, lab, limit=50)
    return page(
        request,
        "lab.html",
        me_of(request, found),
        200 if error is None else error.http_status,
        lab=shown,
        submissions=[graded.submission(one, language) for one in mine],
        key=secrets.token_hex(16),
        problem=None if error is None else errors.problem(error, language),
        limit=platform.settings.server_upload_mb,
    )
