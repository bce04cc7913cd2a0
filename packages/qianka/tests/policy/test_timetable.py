"""When the classes of a cohort are, by its own clock."""

from __future__ import annotations

from datetime import datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from qianka.policy.timetable import ClassTime, TimetableError, lesson, parse

SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")
MONDAY = ClassTime(1, time(8), time(9, 35), "A101")
SOON = timedelta(minutes=5)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(timezone.utc)


@pytest.mark.parametrize(
    ("now", "is_on"),
    [
        ("2026-09-07T07:54:59+08:00", False),
        ("2026-09-07T07:55:00+08:00", True),
        ("2026-09-07T09:34:59+08:00", True),
        ("2026-09-07T09:35:00+08:00", False),
        ("2026-09-08T08:00:00+08:00", False),
    ],
)
def test_a_class_is_on_from_five_minutes_before_to_its_end(now: str, is_on: bool) -> None:
    found = lesson([MONDAY], SHANGHAI, at(now), SOON)
    assert (found is not None) is is_on
    if found is not None:
        assert found.start == at("2026-09-07T08:00:00+08:00")


def test_the_class_that_goes_on_comes_before_the_next() -> None:
    after = ClassTime(1, time(9, 36), time(11))
    found = lesson([after, MONDAY], SHANGHAI, at("2026-09-07T09:33:00+08:00"), SOON)
    assert found is not None
    assert found.of == MONDAY


def test_a_class_keeps_its_local_time_when_the_clocks_change() -> None:
    sunday = ClassTime(7, time(10), time(11))
    for now in ("2026-10-18T10:30:00+02:00", "2026-10-25T10:30:00+01:00"):
        assert lesson([sunday], BERLIN, at(now), SOON) is not None


def test_just_after_midnight_the_day_of_the_zone_counts() -> None:
    early = ClassTime(1, time(0, 2), time(1))
    assert lesson([early], SHANGHAI, at("2026-09-06T23:58:00+08:00"), SOON) is not None


def test_a_timetable_is_sorted_and_stored_as_it_was_given() -> None:
    given = [{"weekday": 3, "start": "14:00", "end": "15:35"}, MONDAY.as_stored(), MONDAY.as_stored()]
    found = parse(given)
    assert [one.weekday for one in found] == [1, 3]
    assert parse([one.as_stored() for one in found]) == found


@pytest.mark.parametrize(
    "entry",
    [
        "Monday",
        {},
        {"weekday": 0, "start": "08:00", "end": "09:00"},
        {"weekday": True, "start": "08:00", "end": "09:00"},
        {"weekday": 1, "start": "8:00", "end": "09:00"},
        {"weekday": 1, "start": "23:00", "end": "01:00"},
        {"weekday": 1, "start": "08:00", "end": "24:00"},
    ],
)
def test_what_is_no_class_is_named_by_its_line(entry: Any) -> None:
    with pytest.raises(TimetableError) as refused:
        parse([MONDAY.as_stored(), entry])
    assert "2" in refused.value.text.zh


def test_nobody_has_hundreds_of_classes_a_week() -> None:
    with pytest.raises(TimetableError):
        parse([MONDAY.as_stored()] * 1000)
