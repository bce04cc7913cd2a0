"""The time, injectable: services and loops ask a Clock, tests pass a fake one."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import Protocol


def utc_offset(local: datetime) -> str:
    """The offset of an aware local time, such as `UTC+08:00`; never an abbreviation such as CST."""
    digits = local.strftime("%z")
    return f"UTC{digits[:3]}:{digits[3:5]}"


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Wait; a fake clock moves on instead."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(timezone.utc)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
