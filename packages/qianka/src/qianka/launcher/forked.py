"""Becoming a supervisor by fork alone: an interpreter that starts anew costs more than the rest of a short run.

The one place that imports the supervisor; everybody else starts it by command line.
"""

from __future__ import annotations

import os
import signal
import sys

from qianka.supervisor.main import main
from qianka.supervisor.serve import load

FAILED = 70


def prepare() -> None:
    """Load now what every run needs."""
    load()


def become(words: list[str]) -> None:
    """In a fork of the launcher: supervise by the command line `words`; never returns."""
    status = FAILED
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        status = main(words)
    except BaseException:  # noqa: BLE001 - said where the launcher's own log goes; a fork must not go on as a launcher
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)
