"""The IPython shell that runs a student's cells: magics work, figures are drawn off screen, installing is refused.

Nothing it reports is believed for a grade: what it says of a cell only explains, and tests are decided on our side.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
import traceback
from typing import Any

NO_INSTALL = (
    "评分时没有网络，不能安装或下载；这一行被跳过。用环境里已有的包。\n"
    "There is no network while grading: this line is skipped. Use the packages that are there."
)
_NETWORK = re.compile(
    r"^\s*(?:sudo\s+)?(?:python\S*\s+-m\s+)?(pip3?|conda|mamba|apt|apt-get|wget|curl|git|uv|poetry)\b"
)
MESSAGE = 300


def make(home: str, fonts: str) -> Any:
    """A fresh shell whose files go below `home`. Imports IPython (0.4 s): the watcher does it once, before it forks."""
    os.makedirs(home, exist_ok=True)
    os.environ.update({"IPYTHONDIR": os.path.join(home, "ipython"), "MPLBACKEND": "agg"})
    os.environ["MPLCONFIGDIR"] = os.path.join(home, "matplotlib")
    os.makedirs(os.environ["MPLCONFIGDIR"], exist_ok=True)
    if os.path.isdir(fonts):
        for name in os.listdir(fonts):
            shutil.copyfile(os.path.join(fonts, name), os.path.join(os.environ["MPLCONFIGDIR"], name))
    base = importlib.import_module("IPython.core.interactiveshell").InteractiveShell
    config = importlib.import_module("traitlets.config").Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor" if _major() < 9 else "nocolor"
    config.InteractiveShell.xmode = "Minimal"
    config.Completer.use_jedi = False
    shell = _class(base).instance(config=config)
    shell.register_magic_function(lambda line: _matplotlib(), "line", "matplotlib")
    for name in ("pip", "conda", "mamba", "uv"):
        shell.register_magic_function(lambda line: _say(NO_INSTALL), "line", name)
    return shell


def run(shell: Any, code: str) -> dict[str, Any]:
    """Run one cell; {"ok": …, "error": …}."""
    result = shell.run_cell(code, store_history=False)
    error = result.error_before_exec or result.error_in_exec
    return {"ok": True} if error is None else {"ok": False, "error": describe(error)}


def describe(error: BaseException) -> dict[str, Any]:
    """Type, built-in kind, message and line of an exception; all of it from the student's process."""
    kind = next((c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"), "Exception")
    try:
        text = str(error)[:MESSAGE]
    except Exception:  # noqa: BLE001  the student's own __str__
        text = ""
    line = error.lineno if isinstance(error, SyntaxError) else None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if "ipython-input" in frame.f_code.co_filename or "/ipykernel_" in frame.f_code.co_filename:
            line = number
    return {"type": type(error).__name__[:60], "kind": kind, "text": text, "line": line}


def _class(base: Any) -> Any:
    class Shell(base):  # type: ignore[misc]
        """InteractiveShell without a screen and without a network."""

        def enable_gui(self, gui: Any = None) -> None:
            """There is no screen."""

        def system(self, cmd: str) -> None:
            """`!command`: run in the sandbox, unless it wants the network."""
            if _NETWORK.match(cmd):
                _say(NO_INSTALL)
                self.user_ns["_exit_code"] = 127
                return
            self.system_piped(cmd)

        def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
            """`x = !command`."""
            if _NETWORK.match(cmd):
                _say(NO_INSTALL)
                return [] if split else ""
            return super().getoutput(cmd, split=split, depth=depth + 1)

    return Shell


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _matplotlib() -> None:
    """`%matplotlib …`: figures are made, not shown."""
    if "matplotlib" in sys.modules or _has("matplotlib"):
        importlib.import_module("matplotlib").use("agg")


def _has(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


def _major() -> int:
    return int(importlib.import_module("IPython").version_info[0])
