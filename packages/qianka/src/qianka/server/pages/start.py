"""The start page: sign in, or one's labs with their deadlines."""

from __future__ import annotations

from urllib.parse import urlencode

import anyio
from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qianka.errors import QiankaError
from qianka.server import auth, errors, labviews
from qianka.server.pages.base import VisitorDep, fields, local_path, me_of, page, signed_form
from qianka.server.rendering import page_language
from qianka.services import grades, people
from qianka.services.platform import Platform

router = APIRouter()


@router.get("/", response_class=HTMLResponse)
def start(request: Request, found: VisitorDep, next: str = "/") -> Response:
    """The labs of whoever is signed in, or the form to sign in."""
    if found is None:
        return _sign_in_page(request, next=local_path(next))
    platform: Platform = request.app.state.platform
    me = me_of(request, found)
    mine = [one for one in me.cohorts if one.state == "active"]
    cohorts = [(one, labviews.listed(platform, found.caller, one.cohort, page_language(request))) for one in mine]
    done = {(grade.cohort, grade.lab): grade for grade in grades.mine(platform, found.caller)}
    return page(request, "start.html", me, cohorts=cohorts, grades=done)


@router.get("/login")
def to_start(next: str = "/") -> Response:
    """The form is on the start page; this address is what people type."""
    return RedirectResponse("/?" + urlencode({"next": local_path(next)}), 303)


@router.post("/login")
async def login(request: Request) -> Response:
    """Sign in with the form."""
    platform: Platform = request.app.state.platform
    form = await fields(request)
    name, password = form.get("login", ""), form.get("password", "")
    next_path = local_path(form.get("next", "/"))
    try:
        signed_in = await anyio.to_thread.run_sync(
            lambda: people.sign_in(platform, name, password, kind="session", address=auth.address_of(request))
        )
    except QiankaError as error:
        return _sign_in_page(request, error, next=next_path, login=name)
    response = RedirectResponse(next_path, 303)
    auth.set_cookie(request, response, signed_in.secret, platform.settings.session_hours)
    return response


@router.post("/activate")
async def activate(request: Request) -> Response:
    """Choose a password with the one-time code."""
    platform: Platform = request.app.state.platform
    form = await fields(request)
    name, code, password = (form.get(key, "") for key in ("login", "code", "password"))
    try:
        await anyio.to_thread.run_sync(people.activate, platform, name, code, password, auth.address_of(request))
    except QiankaError as error:
        return _sign_in_page(request, error, login=name, activating=True)
    return _sign_in_page(request, login=name, activated=True)


@router.post("/logout")
async def logout(request: Request) -> Response:
    """End the session."""
    found, _ = await signed_form(request)
    await anyio.to_thread.run_sync(people.revoke_token, request.app.state.platform, found.caller)
    response = RedirectResponse("/", 303)
    auth.clear_cookie(response)
    return response


def _sign_in_page(
    request: Request,
    error: QiankaError | None = None,
    *,
    next: str = "/",
    login: str = "",
    activating: bool = False,
    activated: bool = False,
) -> HTMLResponse:
    problem = None if error is None else errors.problem(error, page_language(request))
    status = 200 if error is None else error.http_status
    shown = {"problem": problem, "next": next, "login": login, "activating": activating, "activated": activated}
    return page(request, "login.html", None, status, **shown)
