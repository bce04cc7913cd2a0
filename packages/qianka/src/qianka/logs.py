"""One set-up call for the log; every line carries the time in UTC and the name of its part."""

from __future__ import annotations

import logging
import sys
import time


def set_up(level: str = "INFO") -> None:
    """Send the log of all parts to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = logging.Formatter("%(asctime)sZ %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    root = logging.getLogger("qianka")
    root.handlers[:] = [handler]
    root.setLevel(level)
    root.propagate = False


def get(name: str) -> logging.Logger:
    """The logger of one part, such as `worker.dispatcher`."""
    return logging.getLogger(f"qianka.{name}")
