"""Who asks: a bearer token (command line) or a cookie session with a CSRF token (browser)."""

from __future__ import annotations

import secrets

from fastapi import Request
from starlette.responses import Response

from qianka.errors import Forbidden, NotSignedIn, Text
from qianka.server.guard import UNSAFE
from qianka.services import access
from qianka.services.access import SignedIn
from qianka.services.platform import Platform

COOKIE = "qianka_session"
CSRF_HEADER = "x-csrf-token"


def address_of(request: Request) -> str | None:
    """Where the request comes from."""
    return request.client.host if request.client else None


def bearer(request: Request) -> str | None:
    """The bearer token that was sent."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" and secret.strip() else None


def recognise(request: Request) -> SignedIn:
    """Who holds the token or session sent with the request; raises NotSignedIn. Does not look at CSRF."""
    platform: Platform = request.app.state.platform
    secret = bearer(request)
    kind = "bearer"
    if secret is None:
        secret, kind = request.cookies.get(COOKIE), "session"
    if not secret:
        raise NotSignedIn(
            Text("需要先登录", "sign in first"),
            Text("网页上登录，或在命令行运行 qianka login", "on the page, or with qianka login"),
        )
    found = access.signed_in(platform, secret, kind, address_of(request))
    request.state.language = found.caller.language
    return found


def check_csrf(found: SignedIn, offered: str | None) -> None:
    """Raises Forbidden unless a browser session sent its CSRF token; a bearer token needs none."""
    if found.csrf is None:
        return
    if not secrets.compare_digest(found.csrf.encode(), (offered or "").encode()):
        raise Forbidden(
            Text("页面已过期", "this page has expired"),
            Text("刷新页面后再试", "reload the page and try again"),
            reason="csrf",
        )


def signed_in(request: Request) -> SignedIn:
    """The dependency of every API route that is not public."""
    found = recognise(request)
    if request.method in UNSAFE:
        check_csrf(found, request.headers.get(CSRF_HEADER))
    return found


def set_cookie(request: Request, response: Response, secret: str, hours: float) -> None:
    """Give the browser its session."""
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(hours * 3600),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        path="/",
    )


def clear_cookie(response: Response) -> None:
    """Take the session from the browser."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
