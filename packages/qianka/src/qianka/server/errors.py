"""Every refusal leaves the server in one shape: {code, message, hint, details}, in the caller's language."""

from __future__ import annotations

import secrets
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from qianka import logs
from qianka.errors import (
    BadInput,
    Language,
    NotFound,
    NotSignedIn,
    OverLimit,
    PlatformFault,
    QiankaError,
    Text,
)
from qianka.schemas.base import Problem
from qianka.server import invalid
from qianka.server.guard import harden
from qianka.server.language import language_of
from qianka.server.website import refusal_page

log = logs.get("server")


def problem(error: QiankaError, language: Language) -> Problem:
    """What is told of a refusal."""
    details = dict(error.details)
    if error.reason != error.code:
        details["reason"] = error.reason
    return Problem(
        code=error.code,
        message=error.message.say(language),
        hint=None if error.hint is None else error.hint.say(language),
        details=details,
    )


def answer(request: Request, error: QiankaError, status: int | None = None) -> Response:
    """A refusal as a response: JSON for the API, a page elsewhere."""
    language = language_of(request)
    told = problem(error, language)
    headers = {}
    if isinstance(error, NotSignedIn):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, OverLimit) and "retry_after" in error.details:
        headers["Retry-After"] = str(error.details["retry_after"])
    status = status or error.http_status
    if request.url.path.startswith("/api/"):
        return JSONResponse(_plain(told.model_dump()), status, headers)
    return HTMLResponse(refusal_page(told, language), status, headers)


def refuse(scope: Scope, error: QiankaError) -> Response:
    """A refusal made before routing."""
    return answer(Request(scope), error)


def install(app: FastAPI) -> None:
    """Give `app` the handlers; nothing else answers with an error."""
    app.add_exception_handler(QiankaError, _refusal)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


# Starlette types all handlers for Exception and calls each with the kind it was added for.
async def _refusal(request: Request, error: Exception) -> Response:
    error = cast(QiankaError, error)
    if error.http_status >= 500:
        log.error("%s %s: %s", request.method, request.url.path, error)
    return answer(request, error)


async def _invalid(request: Request, error: Exception) -> Response:
    return answer(request, invalid.refusal(cast(RequestValidationError, error).errors()))


async def _http(request: Request, error: Exception) -> Response:
    error = cast(HTTPException, error)
    if isinstance(error.__cause__, QiankaError):  # raised while the framework read the body
        return answer(request, error.__cause__)
    if error.status_code == 404:
        return answer(request, NotFound(Text("没有这个地址", "there is nothing at this address"), reason="no_route"))
    words = str(error.detail)
    refusal = BadInput(Text(f"请求不能这样发：{words}", f"not a request for this address: {words}"), reason="http")
    response = answer(request, refusal, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _unexpected(request: Request, error: Exception) -> Response:
    fault = secrets.token_hex(4)
    log.error("fault %s: %s %s", fault, request.method, request.url.path, exc_info=error)
    refusal = PlatformFault(
        Text(f"平台出错了（编号 {fault}）", f"the platform failed (number {fault})"),
        Text("稍后再试；还不行就把编号告诉管理员", "try again later, or tell the operator this number"),
        reason="unexpected",
        fault=fault,
    )
    response = answer(request, refusal)
    harden(response.headers)  # this answer is made outside of the guard
    return response


def _plain(value: Any) -> Any:
    """`value` with everything that JSON does not know turned into text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
