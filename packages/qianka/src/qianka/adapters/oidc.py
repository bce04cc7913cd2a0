"""OpenID Connect, the code flow with PKCE: where a browser is sent, and whom its code is for.

OpenID Connect Core 1.0 section 3.1; RFC 7636. The ID token is checked by Authlib and joserfc.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from qianka.domain.people import Identified
from qianka.errors import NotSignedIn, Text, Unavailable

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
SECONDS = 10.0
LEEWAY = 60
"""seconds by which two clocks may differ"""
KEEP = 3600.0
"""seconds for which what the provider says of itself is kept"""

_known: dict[str, tuple[float, dict[str, Any]]] = {}


@dataclass(frozen=True)
class Oidc:
    """One provider; `claim` is what our rosters know people by."""

    issuer: str
    client: str
    secret: str = ""
    scope: str = "openid profile"
    claim: str = "preferred_username"

    def login_url(self, back: str, state: str, nonce: str, verifier: str) -> str:
        """Where the browser signs in; it comes back to `back` with a code. Raises Unavailable."""
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        asked = {
            "response_type": "code",
            "client_id": self.client,
            "redirect_uri": back,
            "scope": self.scope,
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),  # type: ignore[no-untyped-call]
            "code_challenge_method": "S256",
        }
        place = str(self._provider()["authorization_endpoint"])
        return f"{place}{'&' if '?' in place else '?'}{urlencode(asked)}"

    def redeem(self, code: str, back: str, nonce: str, verifier: str) -> Identified:
        """Whom the code is for.

        Raises NotSignedIn where the provider denies it or its token does not hold, Unavailable where it
        does not answer.
        """
        provider = self._provider()
        sent = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
        # RFC 6749 2.3.1: both parts are form-encoded before they are joined.
        auth = httpx.BasicAuth(quote(self.client, safe=""), quote(self.secret, safe="")) if self.secret else None
        if auth is None:
            sent["client_id"] = self.client
        try:
            answer = httpx.post(str(provider["token_endpoint"]), data=sent, auth=auth, timeout=SECONDS, trust_env=False)
            if 400 <= answer.status_code < 500:
                raise _denied()
            answer.raise_for_status()
            token = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise _away() from error
        if not isinstance(token, dict) or not isinstance(token.get("id_token"), str):
            raise _denied()
        claims = self._claims(token, nonce, str(provider["jwks_uri"]))
        email = claims.get("email") if claims.get("email_verified") is True else ""
        return Identified(
            subject=str(claims["sub"]),
            campus_id=str(claims.get(self.claim) or ""),
            name=str(claims.get("name") or ""),
            email=str(email or ""),
        )

    def _claims(self, token: dict[str, Any], nonce: str, keys_at: str) -> dict[str, Any]:
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        keys = _fetch(keys_at)
        try:
            decoded = jwt.decode(token["id_token"], KeySet.import_key_set(keys), algorithms=ALGORITHMS)  # type: ignore[arg-type]
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                options={
                    "iss": {"essential": True, "value": self.issuer},
                    "aud": {"essential": True, "value": self.client},
                },
                params={"nonce": nonce, "client_id": self.client, "access_token": token.get("access_token")},
            )
            claims.validate(leeway=LEEWAY)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise _denied() from error
        if claims.get("nonce") != nonce:
            raise _denied()
        return dict(claims)

    def _provider(self) -> dict[str, Any]:
        """What the provider says of itself, fetched at most once an hour."""
        kept = _known.get(self.issuer)
        if kept is not None and time.monotonic() - kept[0] < KEEP:
            return kept[1]
        told = _fetch(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        if told.get("issuer") != self.issuer or not all(isinstance(told.get(key), str) for key in needed):
            raise _away()
        _known[self.issuer] = (time.monotonic(), told)
        return told


def _fetch(url: str) -> dict[str, Any]:
    try:
        answer = httpx.get(url, timeout=SECONDS, trust_env=False)
        answer.raise_for_status()
        told = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise _away() from error
    if not isinstance(told, dict):
        raise _away()
    return told


def _denied() -> NotSignedIn:
    return NotSignedIn(
        Text("统一认证没有确认这次登录", "the provider did not confirm this sign-in"),
        Text("重新登录一次", "sign in once more"),
        reason="denied",
    )


def _away() -> Unavailable:
    return Unavailable(
        Text("统一认证（OIDC）没有正常回答", "the sign-in provider (OIDC) does not answer as it should"),
        Text("稍后再试，或用平台账户登录", "try again later, or sign in with the platform account"),
        reason="signin_away",
    )
