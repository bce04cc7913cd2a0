"""How a process of the server tells the command line what it does: one JSON object a line on standard output.

{"phase", "done", "total"} while it works; at the end {"result": …} or {"refusal": {code, message, hint, …}}.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.exc import DBAPIError

from qianka import logs
from qianka.errors import PlatformFault, QiankaError, Text, Unavailable

OFTEN = 0.1
"""seconds between two lines of progress"""

log = logs.get("server")


class Progress:
    """Says how far it has come, but not more often than somebody could read."""

    def __init__(self) -> None:
        self._told = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told >= OFTEN or done >= total:
            self._told = now
            tell({"phase": phase, "done": done, "total": total})


def tell(value: Mapping[str, Any]) -> None:
    """One line, at once."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def run(work: Callable[[], Mapping[str, Any]]) -> int:
    """Do the work and tell how it ended; the exit status."""
    try:
        tell({"result": work()})
    except QiankaError as error:
        return refuse(error)
    except DBAPIError as error:
        log.error("the database: %s", error.orig)
        return refuse(
            Unavailable(
                Text(f"数据库出错：{error.orig}", f"the database: {error.orig}"),
                Text("qianka doctor 检查；再试一次", "see qianka doctor, then try again"),
                reason="database",
            )
        )
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        return refuse(
            PlatformFault(
                Text(f"{where}{error.strerror or error}", f"{where}{error.strerror or error}"),
                Text("检查磁盘空间和目录权限", "see to the room on the disk and the rights of the folder"),
                reason="os_error",
            )
        )
    except KeyboardInterrupt:
        return 130
    return 0


def refuse(error: QiankaError) -> int:
    """Tell of a refusal; its exit status."""
    hint = None if error.hint is None else list(error.hint)
    details = {key: value if isinstance(value, list) else str(value) for key, value in error.details.items()}
    tell(
        {
            "refusal": {
                "code": error.code,
                "message": list(error.message),
                "hint": hint,
                "reason": error.reason,
                "details": details,
            }
        }
    )
    return error.exit_code
