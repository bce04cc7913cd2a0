"""A clock that stands still until told to move."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

START = datetime(2026, 9, 7, 1, 0, tzinfo=timezone.utc)
"""a Monday, 09:00 in Shanghai"""


class FakeClock:
    """A Clock for tests: `sleep` and `advance` move it, nothing else does."""

    def __init__(self, now: datetime = START) -> None:
        if now.tzinfo is None:
            raise ValueError("a clock tells an aware time")
        self._now = now.astimezone(timezone.utc)

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        """Return at once, `seconds` later."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass; time never runs backwards."""
        if seconds < 0:
            raise ValueError("time does not run backwards")
        self._now += timedelta(seconds=seconds)

    def set(self, now: datetime) -> None:
        """Jump to `now`, forwards or back."""
        self._now = now.astimezone(timezone.utc)
