"""The timetable of a cohort: when its classes are, by the local time of its zone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

from qianka.errors import Text

MOST = 40
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


class TimetableError(ValueError):
    """A class that cannot be; `text` says which and why."""

    def __init__(self, number: int, zh: str, en: str) -> None:
        super().__init__(en)
        self.text = Text(f"第 {number} 行：{zh}", f"line {number}: {en}")


@dataclass(frozen=True, order=True)
class ClassTime:
    """A class each week, from `start` to `end` of one day (1 is Monday)."""

    weekday: int
    start: time
    end: time
    place: str = ""

    def as_stored(self) -> dict[str, Any]:
        """As `cohort.class_times` and the API have it."""
        return {
            "weekday": self.weekday,
            "start": f"{self.start:%H:%M}",
            "end": f"{self.end:%H:%M}",
            "place": self.place,
        }


@dataclass(frozen=True)
class Lesson:
    """One class on one day, in UTC."""

    of: ClassTime
    start: datetime
    end: datetime


def parse(items: Iterable[Any]) -> list[ClassTime]:
    """The timetable in the order of the week. Raises TimetableError for the first that is none."""
    found: list[ClassTime] = []
    for number, item in enumerate(items, 1):
        if number > MOST:
            raise TimetableError(number, f"一周最多 {MOST} 节课", f"at most {MOST} classes a week")
        found.append(_one(number, item))
    return sorted(set(found))


def lesson(times: Sequence[ClassTime], zone: ZoneInfo, now: datetime, before: timedelta) -> Lesson | None:
    """The class that goes on at `now`, or begins within `before`; the one that goes on comes first."""
    today = now.astimezone(zone).date()
    near: list[Lesson] = []
    for days in (-1, 0, 1):
        day = today + timedelta(days=days)
        for one in times:
            if one.weekday != day.isoweekday():
                continue
            start, end = (datetime.combine(day, at, zone).astimezone(timezone.utc) for at in (one.start, one.end))
            if start - before <= now < end:
                near.append(Lesson(one, start, end))
    return min(near, key=lambda found: found.start, default=None)


def following(times: Sequence[ClassTime], zone: ZoneInfo, now: datetime) -> Lesson | None:
    """The next class that begins after `now`; None where there is no timetable."""
    today = now.astimezone(zone).date()
    for days in range(8):
        day = today + timedelta(days=days)
        for one in times:
            if one.weekday == day.isoweekday():
                start, end = (datetime.combine(day, at, zone).astimezone(timezone.utc) for at in (one.start, one.end))
                if start > now:
                    return Lesson(one, start, end)
    return None


def _one(number: int, item: Any) -> ClassTime:
    if not isinstance(item, dict):
        raise TimetableError(number, "要有星期、开始和结束", "weekday, start and end are needed")
    weekday, place = item.get("weekday"), str(item.get("place") or "").strip()[:60]
    if not isinstance(weekday, int) or isinstance(weekday, bool) or not 1 <= weekday <= 7:
        raise TimetableError(number, "星期是 1（周一）到 7", "weekday is 1 (Monday) to 7")
    start, end = (_time(number, item.get(name)) for name in ("start", "end"))
    if end <= start:
        raise TimetableError(number, "结束要晚于开始，在同一天", "a class ends after it begins, on the same day")
    return ClassTime(weekday, start, end, place)


def _time(number: int, text: Any) -> time:
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise TimetableError(number, "时间写成 08:00 这样", "a time is written as 08:00")
    return time(int(match[1]), int(match[2]))
