"""What a browser remembers between leaving for a sign-in page elsewhere and coming back."""

from __future__ import annotations

import base64
import json
import re
import secrets
from dataclasses import asdict, dataclass
from typing import TypeVar

from fastapi import Request
from starlette.responses import Response

COOKIE = "qianka_journey"
PATH = "/api/auth"
SECONDS = 600

_PLACE = re.compile(r"/(?![/\\])[!-\[\]-~]*")  # printable ASCII without a backslash, on this host
_Answer = TypeVar("_Answer", bound=Response)


@dataclass(frozen=True)
class Journey:
    """One sign-in under way.

    `state` binds what comes back to this browser, `nonce` the token of the provider to this sign-in,
    `verifier` its code to us (RFC 7636); `next` is the page to go to.
    """

    state: str
    nonce: str
    verifier: str
    next: str

    @classmethod
    def begin(cls, next: str) -> Journey:
        """A new one; a `next` that is not a place of ours becomes the home page."""
        place = next if _PLACE.fullmatch(next) and len(next) <= 1000 else "/"
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), place)

    @classmethod
    def unpack(cls, request: Request) -> Journey | None:
        """The journey that this browser is on; None where there is none that can be read."""
        try:
            told = json.loads(base64.urlsafe_b64decode(request.cookies.get(COOKIE, "")))
            found = cls(**{key: str(told[key]) for key in ("state", "nonce", "verifier", "next")})
        except (ValueError, KeyError, TypeError):
            return None
        return found if found.state and _PLACE.fullmatch(found.next) else None

    def pack(self, request: Request, response: _Answer) -> _Answer:
        """`response`, with what the browser is to remember. Lax: it comes back by a link from elsewhere."""
        value = base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()
        response.set_cookie(
            COOKIE,
            value,
            max_age=SECONDS,
            path=PATH,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    @staticmethod
    def end(response: _Answer) -> _Answer:
        """`response`, with which the browser forgets."""
        response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="lax")
        return response
