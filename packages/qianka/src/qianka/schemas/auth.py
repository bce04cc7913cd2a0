"""Signing in, tokens, and who one is."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request


class Login(Request):
    """What a person signs in with; `token` true asks for a bearer token instead of a browser session."""

    login: str = Field(min_length=1, max_length=100)
    password: str = Field(min_length=1, max_length=1000)
    method: str = Field(default="local", max_length=20)
    """one of GET /api/auth/methods that has no page of its own"""
    token: bool = False
    note: str = Field(default="", max_length=200)
    """what the token is for, such as the name of a computer"""


class SignInMethod(Answer):
    """A way to sign in; with `start_url` it has a page of its own, elsewhere."""

    name: str
    kind: str
    """local, ldap, oidc or cas"""
    title_zh: str
    title_en: str
    start_url: str | None = None


class Activation(Request):
    """The one-time code of the teacher, turned into a password of one's own."""

    login: str = Field(min_length=1, max_length=100)
    code: str = Field(min_length=1, max_length=200)
    password: str = Field(min_length=1, max_length=1000)


class PlatformKey(Answer):
    """The public key that receipts of this platform are signed with."""

    key_id: str
    public_key: str
    """Ed25519, base64"""


class Membership(Answer):
    """What a person is in one cohort."""

    cohort: str
    title: str
    role: str
    state: str
    """active, suspended, or archived where the cohort was put away"""


class Me(Answer):
    """Who asks."""

    login: str
    name: str
    alias: str
    language: str | None = None
    is_admin: bool = False
    cohorts: list[Membership] = Field(default_factory=list)
    show_name: bool = False
    """on boards, instead of the alias"""
    csrf: str | None = None
    """to be sent as X-CSRF-Token with every change; only for a browser session"""
    cursor: int = 0
    """the newest event before this answer: where a page's live stream begins"""


class Profile(Request):
    """What a person decides for themselves; null leaves it."""

    alias: str | None = Field(default=None, min_length=1, max_length=40)
    """shown on boards; unlike everybody else's"""
    show_name: bool | None = None
    """on boards, instead of the alias"""
    language: str | None = Field(default=None, pattern="^(zh|en)$")


class NewPassword(Request):
    """A change of one's own password."""

    old: str = Field(min_length=1, max_length=1000)
    new: str = Field(min_length=1, max_length=1000)


class SignedIn(Answer):
    """The answer to a sign-in; `token` once and never again."""

    me: Me
    expires_at: datetime
    token: str | None = None
    csrf: str | None = None
    key: PlatformKey


class NewToken(Request):
    """A bearer token to make."""

    note: str = Field(default="", max_length=200)


class Token(Answer):
    """A bearer token or browser session, without its secret."""

    id: int
    kind: str
    note: str
    agent: str = ""
    """browser and system, as the browser names them"""
    address: str | None = None
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None = None
    current: bool = False


class TokenSecret(Token):
    """A token just made: the only time its secret is shown."""

    secret: str
