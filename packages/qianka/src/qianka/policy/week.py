"""The budget week of a cohort: from one local time of the week to the next, by the calendar.

A week in which the clocks change is an hour longer or shorter; its ends stay at the same local time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

_START = re.compile(r"([1-7]) ([01]\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True)
class Window:
    """From `start` (within) to `end` (beyond), both in UTC."""

    start: datetime
    end: datetime

    def __contains__(self, instant: datetime) -> bool:
        return self.start <= instant < self.end


def parse_start(text: str) -> tuple[int, time]:
    """ISO weekday and local time of `1 08:00`. Raises ValueError for anything else."""
    match = _START.fullmatch(text)
    if match is None:
        raise ValueError(f"not an ISO weekday and a time, as in '1 08:00': {text!r}")
    return int(match[1]), time(int(match[2]), int(match[3]))


def window(week_start: str, zone: ZoneInfo, now: datetime) -> Window:
    """The week around `now` that begins at `week_start`, a local time in `zone`."""
    weekday, at = parse_start(week_start)
    today = now.astimezone(zone).date()
    starts = []
    for days in range(-15, 16):
        day = today + timedelta(days=days)
        if day.isoweekday() == weekday:
            # A local time that the change to summer time skips becomes the same instant one hour on.
            starts.append(datetime.combine(day, at, zone).astimezone(timezone.utc))
    return Window(max(s for s in starts if s <= now), min(s for s in starts if s > now))
