"""Signing in and out, tokens, and who one is."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response

from qianka.schemas.auth import (
    Activation,
    Login,
    Me,
    NewPassword,
    NewToken,
    PlatformKey,
    Profile,
    SignedIn,
    SignInMethod,
    Token,
    TokenSecret,
)
from qianka.server import auth, views
from qianka.server.deps import CallerDep, PlatformDep, SignedInDep
from qianka.services import access, people

public = APIRouter(tags=["auth"])
router = APIRouter(tags=["auth"])


@public.post("/auth/login")
def login(body: Login, request: Request, response: Response, platform: PlatformDep) -> SignedIn:
    """Sign in: a cookie session for a browser, or a bearer token when `token` is true."""
    seen = people.Seen(request.headers.get("user-agent", ""), auth.address_of(request))
    check = {"local": people.sign_in, "ldap": people.sign_in_by_directory}.get(body.method)
    if check is None:
        raise people.unknown_method(body.method)
    kind: Literal["session", "bearer"] = "bearer" if body.token else "session"
    found = check(platform, body.login, body.password, kind=kind, note=body.note, seen=seen)
    if not body.token:
        auth.set_cookie(request, response, found.secret, platform.settings.session_hours)
    return SignedIn(
        me=views.me_of(platform, access.caller_of(platform, found.person), found.csrf),
        expires_at=found.expires_at,
        token=found.secret if body.token else None,
        csrf=found.csrf,
        key=views.platform_key(platform),
    )


@public.get("/auth/methods")
def list_methods(platform: PlatformDep) -> list[SignInMethod]:
    """The ways to sign in here, as the sign-in page offers them."""
    return [SignInMethod.model_validate(one) for one in people.methods(platform)]


@public.get("/auth/key")
def get_platform_key(platform: PlatformDep) -> PlatformKey:
    """The public key that receipts of this platform are signed with."""
    return views.platform_key(platform)


@public.post("/auth/activate", status_code=204)
def activate(body: Activation, request: Request, platform: PlatformDep) -> None:
    """Choose a password with the one-time code of the teacher."""
    people.activate(platform, body.login, body.code, body.password, auth.address_of(request))


@router.post("/auth/logout", status_code=204)
def logout(response: Response, caller: CallerDep, platform: PlatformDep) -> None:
    """End this session, or revoke this token."""
    people.revoke_token(platform, caller)
    auth.clear_cookie(response)


@router.get("/me")
def get_me(found: SignedInDep, platform: PlatformDep) -> Me:
    """Who asks, and the cohorts they are in."""
    return views.me_of(platform, found.caller, found.csrf)


@router.patch("/me")
def change_me(body: Profile, found: SignedInDep, platform: PlatformDep) -> Me:
    """What a person decides for themselves: language, and whether the board shows their name."""
    people.set_profile(platform, found.caller, show_name=body.show_name, language=body.language, alias=body.alias)
    return views.me_of(platform, found.caller, found.csrf)


@router.post("/me/password", status_code=204)
def change_password(body: NewPassword, caller: CallerDep, platform: PlatformDep) -> None:
    """Change one's own password; ends one's other sessions and tokens."""
    people.change_password(platform, caller, body.old, body.new)


@router.get("/tokens")
def list_tokens(caller: CallerDep, platform: PlatformDep) -> list[Token]:
    """The caller's sessions and tokens that are still good."""
    tokens = [Token.model_validate(row) for row in people.list_tokens(platform, caller)]
    return [token.model_copy(update={"current": token.id == caller.token_id}) for token in tokens]


@router.post("/tokens", status_code=201)
def create_token(body: NewToken, caller: CallerDep, platform: PlatformDep) -> TokenSecret:
    """A new bearer token; its secret is in this answer and nowhere else."""
    made = people.issue_token(platform, caller, body.note)
    newest = max((row for row in people.list_tokens(platform, caller)), key=lambda row: row.id)
    return TokenSecret(**Token.model_validate(newest).model_dump(), secret=made.secret)


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: int, caller: CallerDep, platform: PlatformDep) -> None:
    """Make a token worthless at once."""
    people.revoke_token(platform, caller, token_id)
