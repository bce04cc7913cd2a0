"""When nothing can be written or the database is away, people are told so: their work is not at fault."""

from __future__ import annotations

import errno
from typing import cast

from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from starlette.requests import Request
from starlette.responses import Response

from qianka import logs
from qianka.errors import Text, Unavailable
from qianka.server import errors

log = logs.get("server")

_NUMBERS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_SENTENCES = ("disk is full", "readonly database", "disk I/O error", "No space left on device")

_OURS = ("no such table", "no such column", "table ", "near ")
"""how SQLite begins to tell of tables or statements that are wrong: a mistake of ours, which waiting does not mend"""


def install(app: FastAPI) -> None:
    """Give `app` the handlers; other faults of these kinds go on to the one for the unexpected."""
    app.add_exception_handler(OSError, _answer)
    app.add_exception_handler(DBAPIError, _answer)


def is_disk(error: Exception) -> bool:
    """Whether an error says that the disk of the data cannot be written to."""
    if isinstance(error, OSError):
        return error.errno in _NUMBERS
    told = str(cast(DBAPIError, error).orig)
    return any(sentence in told for sentence in _SENTENCES)


def is_away(error: Exception) -> bool:
    """Whether an error says that the database does not answer, or not in time: what was asked was not done."""
    if not isinstance(error, DBAPIError) or str(error.orig).startswith(_OURS):
        return False
    return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)


async def _answer(request: Request, error: Exception) -> Response:
    if not is_disk(error):
        if is_away(error):
            log.error("%s %s: the database: %s", request.method, request.url.path, cast(DBAPIError, error).orig)
            return errors.answer(request, _away())
        raise error
    log.error("%s %s: nothing can be written: %s", request.method, request.url.path, error)
    refusal = Unavailable(
        Text("平台的磁盘写不进去了，这次没有保存", "the platform's disk cannot be written to; nothing was saved"),
        Text(
            "告诉管理员，稍后再试，不会重复提交",
            "tell the operator, try again later: nothing is handed in twice",
        ),
        reason="disk",
    )
    return errors.answer(request, refusal)


def _away() -> Unavailable:
    return Unavailable(
        Text("数据库暂时没有应答，这次可能没有保存", "the database does not answer just now; this may not be saved"),
        Text("稍等几秒再试，不会重复提交", "try again in a few seconds: nothing is handed in twice"),
        reason="database",
    )
