"""A campus to sign in by: an OpenID Connect provider and a CAS server, each a small real server on this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit
from xml.sax.saxutils import escape

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Provider:
    """An OpenID Connect provider that knows one person and signs them in without asking.

    `claims` go into the ID token; what is in `spoil` replaces claims there, to be refused.
    """

    client: str = "qianka"
    secret: str = "provider secret/+ 1"  # noqa: S105  of a server that lives for a test
    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "u-1", "preferred_username": "2026001"})
    spoil: dict[str, Any] = field(default_factory=dict)
    issuer: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    """why a code was not redeemed"""

    def __post_init__(self) -> None:
        from joserfc.jwk import RSAKey

        self.key = RSAKey.generate_key(2048, parameters={"kid": "k1", "use": "sig", "alg": "RS256"})
        self.signing_key = self.key

    def answer(self, path: str, query: dict[str, str], form: dict[str, str], authorization: str) -> Reply:
        """Its four pages."""
        if path == "/.well-known/openid-configuration":
            places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            return _json({"issuer": self.issuer, **{key: f"{self.issuer}/{name}" for key, name in places.items()}})
        if path == "/keys":
            return _json({"keys": [self.key.as_dict(private=False)]})
        if path == "/authorize":
            code = secrets.token_urlsafe(16)
            self.codes[code] = query
            return (
                303,
                {"location": f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"},
                b"",
            )
        if path == "/token":
            return self._token(form, authorization)
        return 404, {}, b""

    def _token(self, form: dict[str, str], authorization: str) -> Reply:
        from joserfc import jwt

        asked = self.codes.pop(form.get("code", ""), None)
        why = self._why_not(asked, form, authorization)
        if asked is None or why:
            self.refusals.append(why)
            return _json({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": self.client, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        token = jwt.encode({"alg": "RS256", "kid": "k1"}, {**claims, **self.claims, **self.spoil}, self.signing_key)
        return _json({"access_token": "a", "token_type": "Bearer", "id_token": token})

    def _why_not(self, asked: dict[str, str] | None, form: dict[str, str], authorization: str) -> str:
        if asked is None:
            return "no such code, or used"
        user, _, password = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        if (unquote(user), unquote(password)) != (self.client, self.secret):
            return "client"
        if form.get("redirect_uri") != asked["redirect_uri"]:
            return "redirect_uri"
        hashed = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(hashed).rstrip(b"=").decode() != asked["code_challenge"]:
            return "verifier"
        return ""


@dataclass
class CasServer:
    """A CAS 3 server that knows one person and signs them in without asking; a ticket is good once."""

    user: str = "2026001"
    attributes: dict[str, str] = field(default_factory=dict)
    url: str = ""
    tickets: dict[str, str] = field(default_factory=dict)

    def answer(self, path: str, query: dict[str, str], form: dict[str, str], authorization: str) -> Reply:
        """Its two pages."""
        if path == "/login":
            ticket = f"ST-{secrets.token_urlsafe(16)}"
            self.tickets[ticket] = query["service"]
            joint = "&" if "?" in query["service"] else "?"
            return 303, {"location": f"{query['service']}{joint}{urlencode({'ticket': ticket})}"}, b""
        if path == "/p3/serviceValidate":
            is_good = self.tickets.pop(query.get("ticket", ""), None) == query.get("service")
            return 200, {"content-type": "application/xml"}, self._told(is_good=is_good).encode()
        return 404, {}, b""

    def _told(self, *, is_good: bool) -> str:
        told = '<cas:authenticationFailure code="INVALID_TICKET">not recognized</cas:authenticationFailure>'
        if is_good:
            facts = "".join(f"<cas:{key}>{escape(value)}</cas:{key}>" for key, value in self.attributes.items())
            told = (
                f"<cas:authenticationSuccess><cas:user>{escape(self.user)}</cas:user>"
                f"<cas:attributes>{facts}</cas:attributes></cas:authenticationSuccess>"
            )
        return f"<cas:serviceResponse xmlns:cas='http://www.yale.edu/tp/cas'>{told}</cas:serviceResponse>"


@contextmanager
def oidc_provider() -> Iterator[Provider]:
    """A provider at `issuer`."""
    provider = Provider()
    with _served(provider.answer) as address:
        provider.issuer = address
        yield provider


@contextmanager
def cas_server() -> Iterator[CasServer]:
    """A CAS server at `url`."""
    server = CasServer()
    with _served(server.answer) as address:
        server.url = address
        yield server


@contextmanager
def _served(answer: Callable[[str, dict[str, str], dict[str, str], str], Reply]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            self._reply(_flat(body))

        def _reply(self, form: dict[str, str]) -> None:
            parts = urlsplit(self.path)
            given = self.headers.get("authorization", "")
            status, headers, body = answer(parts.path, _flat(parts.query), form, given)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _flat(query: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(query).items()}


def _json(told: dict[str, Any], status: int = 200) -> Reply:
    return status, {"content-type": "application/json"}, json.dumps(told).encode()
