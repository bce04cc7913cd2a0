"""What stands before every route: host names, cross-site requests, size of bodies, security headers."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qianka.errors import BadInput, Forbidden, QiankaError, Text, TooLarge
from qianka.settings import Settings

UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
SMALL_BODY = 4 << 20
"""bytes of a body that is no upload"""

# These stream to disk and count for themselves (uploads.py).
_UPLOADS = re.compile(
    r"/api/uploads|/api/cohorts/[^/]+/labs(/[^/]+/submissions)?|"
    r"/api/cohorts/[^/]+/boards(/[^/]+/entries)?"
)

HEADERS = {
    "content-security-policy": (
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


def harden(headers: MutableHeaders) -> None:
    """Add what a browser needs to know to keep our pages to ourselves."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("cache-control", "no-store")


class Guard:
    """ASGI middleware; `refuse` makes the answer to a refusal in the caller's language."""

    def __init__(self, app: ASGIApp, settings: Settings, refuse: Callable[[Scope, QiankaError], Response]) -> None:
        self.app = app
        self.hosts = allowed_hosts(settings)
        self.refuse = refuse
        # Not for a certificate of our own: a browser told to insist on TLS lets nobody past its warning.
        self.is_vouched_for = bool(settings.server_certificate or settings.server_trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path: str = scope["path"]

        async def send_hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                harden(headers)
                if self.is_vouched_for and scope.get("scheme") == "https":
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        refusal = self.refusal(scope)
        if refusal is not None:
            await self.refuse(scope, refusal)(scope, receive, send_hardened)
            return
        if scope["method"] in UNSAFE and not _UPLOADS.fullmatch(path):
            receive = capped(receive, SMALL_BODY)
        await self.app(scope, receive, send_hardened)

    def refusal(self, scope: Scope) -> QiankaError | None:
        """Why this request is not let in."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return BadInput(
                Text("不认识的主机名", "this host name is not ours"),
                Text("把它加到设置 server.hosts", "add it to the setting server.hosts"),
                reason="host",
            )
        if scope["method"] in UNSAFE and _comes_from_elsewhere(headers, host):
            return Forbidden(Text("请求来自别的网站", "the request comes from another site"), reason="cross_site")
        length = headers.get("content-length", "0")
        if not _UPLOADS.fullmatch(scope["path"]) and (not length.isdecimal() or int(length) > SMALL_BODY):
            return body_too_large(SMALL_BODY)
        return None

    def _is_ours(self, host: str) -> bool:
        name = host_name(host)
        if name in self.hosts or "*" in self.hosts:
            return True
        try:
            # An address cannot be rebound to another one as a name can.
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def host_name(host: str) -> str:
    """A Host header without its port, in lower case; the empty string when it is malformed."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The names under which this server may be asked."""
    own: Iterable[str] = ("localhost", settings.server_host, socket.gethostname())
    given = settings.server_hosts.split(",")
    return frozenset(name.strip().lower() for name in (*own, *given) if name.strip())


def body_too_large(cap: int) -> TooLarge:
    """The refusal of a body above `cap` bytes."""
    return TooLarge(
        Text(f"上传内容超过上限 {cap / 1e6:.0f} MB", f"the body is larger than {cap / 1e6:.0f} MB"),
        Text("去掉数据、模型权重和虚拟环境后再试", "leave out data, weights and virtual environments"),
        limit=cap,
    )


def _comes_from_elsewhere(headers: Headers, host: str) -> bool:
    if headers.get("sec-fetch-site", "none") in ("cross-site", "same-site"):
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc.lower() != host.lower()


def capped(receive: Receive, cap: int) -> Receive:
    """`receive` that raises TooLarge once more than `cap` bytes of body have come."""
    seen = 0

    async def receive_capped() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > cap:
                raise body_too_large(cap)
        return message

    return receive_capped
