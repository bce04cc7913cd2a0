"""Requests with back-off: what failed on the way is sent again, what was refused is raised as it was told."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from qianka import errors
from qianka.client.certificates import context_of
from qianka.errors import Language, PlatformFault, QiankaError, Text, Unavailable

TRIES = 8
LONGEST_WAIT = 5.0
_SAFE = frozenset({"GET", "HEAD", "DELETE", "PUT"})
_KINDS: dict[str, type[QiankaError]] = {
    kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, QiankaError)
}


class Transport:
    """One connection pool to one server.

    A request is repeated (with growing waits) only when it is safe to: it reads, or it carries an
    Idempotency-Key. `certificate`: the only one to trust, PEM. `sleep` and `transport` are for tests.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        language: Language = "zh",
        *,
        certificate: str = "",
        tries: int = TRIES,
        sleep: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.address = normal_address(address)
        self.tries = tries
        self.sleep = sleep
        headers: dict[str, str] = {"Accept-Language": language}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        # trust_env=False: a proxy of the environment has no business with the token of this platform.
        self.http = httpx.Client(
            base_url=self.address,
            headers=headers,
            timeout=httpx.Timeout(30.0, connect=10.0),
            verify=context_of(certificate) if certificate else True,
            transport=transport,
            trust_env=False,
        )

    def close(self) -> None:
        """Give back the connections."""
        self.http.close()

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send and return the answer; raises the QiankaError that the server told, Unavailable when it is away.

        `content` may be a function that makes the body anew for each try.
        """
        body = options.pop("content", None)
        headers = options.get("headers") or {}
        may_repeat = method in _SAFE or "Idempotency-Key" in headers
        for attempt in range(1, self.tries + 1):
            try:
                content = body() if callable(body) else body
                response = self.http.request(method, path, content=content, **options)
            except httpx.TransportError as error:
                if not may_repeat or attempt == self.tries:
                    raise self._away(error) from error
                self.sleep(wait_before(attempt))
                continue
            if response.status_code in (502, 503, 504) and may_repeat and attempt < self.tries:
                self.sleep(wait_before(attempt))
                continue
            raise_refusal(response)
            return response
        raise AssertionError("the last try returns or raises")

    def get(self, path: str, **parameters: Any) -> Any:
        """The JSON at `path`; parameters that are None are left out."""
        return self.request("GET", path, params=_given(parameters)).json()

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        """Send JSON; the JSON of the answer, None when there is none."""
        response = self.request("POST", path, json=body, **options)
        return response.json() if response.content else None

    @contextmanager
    def stream(
        self, path: str, headers: dict[str, str], read_timeout: float, **parameters: Any
    ) -> Iterator[httpx.Response]:
        """A GET whose answer is read as it comes; one try."""
        timeout = httpx.Timeout(30.0, connect=10.0, read=read_timeout)
        with self.http.stream("GET", path, headers=headers, params=_given(parameters), timeout=timeout) as response:
            if response.status_code >= 400:
                response.read()
            raise_refusal(response)
            yield response

    def _away(self, error: httpx.TransportError) -> Unavailable:
        return Unavailable(
            Text(f"连不上 {self.address}", f"{self.address} does not answer"),
            Text(
                "检查地址和网络；平台在本机的话先运行 qianka up",
                "check the address and the network; for a platform on this machine run qianka up first",
            ),
            cause=type(error).__name__,
        )


def raise_refusal(response: httpx.Response) -> None:
    """Raise what the server refused with, as the same kind of error that it was there."""
    if response.status_code < 400:
        return
    try:
        told = response.json()
    except ValueError:
        told = None
    if not isinstance(told, dict) or "message" not in told:
        raise PlatformFault(
            Text(
                f"服务器回答 {response.status_code}，看不懂", f"the server answered {response.status_code}, unreadable"
            ),
            Text("这个地址可能不是千卡平台", "this address may not be a Qianka platform"),
        )
    kind = _KINDS.get(str(told.get("code")), PlatformFault)
    message, hint = str(told["message"]), told.get("hint")
    details = {str(k): v for k, v in (told.get("details") or {}).items() if k not in ("message", "hint", "reason")}
    reason = (told.get("details") or {}).get("reason")
    raise kind(Text(message, message), Text(hint, hint) if hint else None, reason=reason, **details)


def wait_before(attempt: int) -> float:
    """Seconds before try number `attempt` + 1: doubling, capped, spread so that a class does not come back as one."""
    longest: float = min(LONGEST_WAIT, 0.1 * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311  not a secret


def normal_address(address: str) -> str:
    """`host:port` becomes a URL; no slash at the end."""
    address = address.strip().rstrip("/")
    return address if address.startswith(("http://", "https://")) else f"http://{address}"


def _given(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}
