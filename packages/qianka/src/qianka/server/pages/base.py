"""What pages share: who looks, forms with their CSRF token, and the way to the sign-in."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import anyio
from fastapi import Depends, Request
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse

from qianka.errors import NotSignedIn
from qianka.schemas.auth import Me
from qianka.server import auth, views
from qianka.server.rendering import Pages
from qianka.services.access import SignedIn


def visitor(request: Request) -> SignedIn | None:
    """Who looks at a page; None when nobody is signed in. For reading only: CSRF is not looked at."""
    try:
        return auth.recognise(request)
    except NotSignedIn:
        return None


VisitorDep = Annotated["SignedIn | None", Depends(visitor)]


def me_of(request: Request, found: SignedIn) -> Me:
    """The person for the heading of a page."""
    return views.me_of(request.app.state.platform, found.caller, found.csrf)


def page(request: Request, name: str, me: Me | None, status: int = 200, **values: Any) -> HTMLResponse:
    """A page as a response; a language chosen by `?lang=` is remembered."""
    pages: Pages = request.app.state.pages
    response = HTMLResponse(pages.render(name, request, me=me, **values), status)
    chosen = request.query_params.get("lang")
    if chosen in ("zh", "en"):
        response.set_cookie("qianka_language", chosen, max_age=365 * 86400, samesite="lax", httponly=True)
    return response


def to_sign_in(request: Request) -> RedirectResponse:
    """To the start page, which comes back here afterwards."""
    return RedirectResponse(f"/?next={quote(request.url.path, safe='/')}", 303)


def local_path(wanted: str) -> str:
    """A path of ours to go to; what would lead elsewhere becomes the start page."""
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if is_ours else "/"


async def fields(request: Request) -> dict[str, str]:
    """The text fields of a form that needs no sign-in."""
    async with request.form(max_files=0, max_fields=20) as form:
        return {name: value for name, value in form.items() if not isinstance(value, UploadFile)}


async def signed_form(request: Request) -> tuple[SignedIn, dict[str, str]]:
    """Who sent a form, and its fields; raises NotSignedIn, or Forbidden without the CSRF token."""
    found = await anyio.to_thread.run_sync(auth.recognise, request)
    values = await fields(request)
    auth.check_csrf(found, values.get("csrf"))
    return found, values
