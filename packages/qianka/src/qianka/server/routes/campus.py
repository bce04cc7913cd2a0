"""Signing in on a page of the campus: the browser goes there and comes back with a ticket or a code."""

from __future__ import annotations

import secrets
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse

from qianka import logs
from qianka.errors import NotSignedIn, QiankaError, Text
from qianka.server import auth
from qianka.server.deps import PlatformDep
from qianka.server.journey import Journey
from qianka.services import people
from qianka.services.people import Seen
from qianka.services.platform import Platform

log = logs.get("server.campus")
public = APIRouter(tags=["auth"])


@public.get("/auth/oidc/start", response_class=RedirectResponse, status_code=303)
def start_oidc(request: Request, platform: PlatformDep, next: str = "/") -> RedirectResponse:
    """To the provider's sign-in page."""
    journey = Journey.begin(next)
    try:
        provider = people.provider_of(platform)
        place = provider.login_url(_back(request, platform, "oidc"), journey.state, journey.nonce, journey.verifier)
    except QiankaError as error:
        return _refused(error)
    return journey.pack(request, RedirectResponse(place, 303))


@public.get("/auth/oidc/back", response_class=RedirectResponse, status_code=303)
def back_from_oidc(
    request: Request, platform: PlatformDep, state: str = "", code: str = "", error: str = ""
) -> RedirectResponse:
    """From the provider's sign-in page: in, or back to ours with the reason."""
    try:
        journey = _journey(request, state)
        if error or not code:
            raise NotSignedIn(Text("统一认证没有确认这次登录", f"the provider said {error[:40]}"), reason="denied")
        provider = people.provider_of(platform)
        found = provider.redeem(code, _back(request, platform, "oidc"), journey.nonce, journey.verifier)
        signed = people.enter(platform, "oidc", found, seen=_seen(request))
    except QiankaError as refusal:
        return _refused(refusal)
    return _in(request, platform, journey, signed.secret)


@public.get("/auth/cas/start", response_class=RedirectResponse, status_code=303)
def start_cas(request: Request, platform: PlatformDep, next: str = "/") -> RedirectResponse:
    """To the sign-in page of CAS."""
    journey = Journey.begin(next)
    try:
        place = people.cas_of(platform).login_url(_service(request, platform, journey))
    except QiankaError as error:
        return _refused(error)
    return journey.pack(request, RedirectResponse(place, 303))


@public.get("/auth/cas/back", response_class=RedirectResponse, status_code=303)
def back_from_cas(request: Request, platform: PlatformDep, state: str = "", ticket: str = "") -> RedirectResponse:
    """From the sign-in page of CAS: in, or back to ours with the reason."""
    try:
        journey = _journey(request, state)
        if not ticket:
            raise NotSignedIn(Text("CAS 没有给出票据", "CAS sent no ticket"), reason="denied")
        found = people.cas_of(platform).validate(ticket, _service(request, platform, journey))
        signed = people.enter(platform, "cas", found, seen=_seen(request))
    except QiankaError as refusal:
        return _refused(refusal)
    return _in(request, platform, journey, signed.secret)


def _back(request: Request, platform: Platform, method: str) -> str:
    """Where a browser comes back to, as it is registered there."""
    base = platform.settings.server_public_url or str(request.base_url)
    return f"{base.rstrip('/')}/api/auth/{method}/back"


def _service(request: Request, platform: Platform, journey: Journey) -> str:
    return f"{_back(request, platform, 'cas')}?{urlencode({'state': journey.state})}"


def _journey(request: Request, state: str) -> Journey:
    """The journey that this browser began; raises NotSignedIn for anybody else's, and for none."""
    journey = Journey.unpack(request)
    if journey is None or not secrets.compare_digest(journey.state.encode(), state.encode()):
        raise NotSignedIn(Text("登录已过期", "this sign-in has expired"), reason="state")
    return journey


def _seen(request: Request) -> Seen:
    return Seen(request.headers.get("user-agent", ""), auth.address_of(request))


def _in(request: Request, platform: Platform, journey: Journey, secret: str) -> RedirectResponse:
    response = journey.end(RedirectResponse(journey.next, 303))
    auth.set_cookie(request, response, secret, platform.settings.session_hours)
    return response


def _refused(error: QiankaError) -> RedirectResponse:
    """Our sign-in page says why, in its own words: an address carries a code, never a sentence."""
    log.warning("a sign-in by the campus was refused (%s): %s", error.reason, error)
    return Journey.end(RedirectResponse(f"/login?{urlencode({'refused': error.reason})}", 303))
