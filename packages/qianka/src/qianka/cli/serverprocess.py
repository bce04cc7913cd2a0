"""Work that only the server's own code may do, on the machine of the data: started as a process, listened to."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from qianka import settings
from qianka.cli import output
from qianka.errors import PlatformFault, QiankaError, Text

Watch = Callable[[dict[str, Any]], None]


def run(
    module: str,
    arguments: Sequence[str],
    values: dict[str, Any],
    *,
    config: Path | None = None,
    owner_of: Path | None = None,
    watched: Watch = lambda _: None,
) -> dict[str, Any]:
    """`python -m MODULE`, with the settings `values`; what it tells as its result. Raises what it was refused with.

    `owner_of`: run with the rights of the owner of this folder when root asks, as the platform itself does.
    """
    environment = settings.with_environment(values)
    if config is not None:
        environment["QIANKA_CONFIG"] = str(config.absolute())
    who = {} if owner_of is None else _owner(owner_of, environment)
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        **who,
    )
    result: dict[str, Any] | None = None
    refusal: QiankaError | None = None
    try:
        for line in process.stdout or ():
            told = json.loads(line)
            if "refusal" in told:
                refusal = _refusal(told["refusal"])
            elif "result" in told:
                result = told["result"]
            else:
                watched(told)
    finally:
        if process.stdout is not None:
            process.stdout.close()
        status = process.wait()
    if status in (130, -2):
        raise KeyboardInterrupt
    if refusal is not None:
        raise refusal
    if result is None:
        raise PlatformFault(
            Text(f"{module} 中断了（退出码 {status}）", f"{module} broke off ({status})"),
            Text("原因见上面的日志", "the log above says why"),
            reason="broke_off",
        )
    return result


class Bars:
    """A bar for the phase that moves bytes; to be used as `with Bars(...) as watched`."""

    def __init__(self, zh: str, en: str) -> None:
        self._text = Text(zh, en)
        self._stack = ExitStack()
        self._bar: output.Bar | None = None

    def __enter__(self) -> Watch:
        return self._told

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def _told(self, facts: dict[str, Any]) -> None:
        if facts.get("phase") != "files":
            return
        if self._bar is None:
            self._bar = self._stack.enter_context(output.progress(*self._text, int(facts["total"])))
        self._bar(int(facts["done"]))


def _owner(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    try:
        stat = folder.stat()
    except OSError:
        return {}
    if os.geteuid() != 0 or stat.st_uid == 0:
        return {}
    environment["HOME"] = str(folder)  # as `up` does: where libpq looks for .pgpass
    try:
        name = pwd.getpwuid(stat.st_uid).pw_name
    except KeyError:
        name = str(stat.st_uid)
    environment |= {"USER": name, "LOGNAME": name}
    return {"user": stat.st_uid, "group": stat.st_gid, "extra_groups": [], "cwd": "/"}


def _refusal(told: dict[str, Any]) -> QiankaError:
    kinds = {kind.code: kind for kind in QiankaError.__subclasses__()}
    kind = kinds.get(str(told.get("code")), PlatformFault)
    hint = told.get("hint")
    error = kind(Text(*told["message"]), None if hint is None else Text(*hint), reason=told.get("reason"))
    error.details = dict(told.get("details") or {})
    return error
