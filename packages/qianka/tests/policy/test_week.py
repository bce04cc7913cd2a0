"""The budget week, across changes of the clock."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.policy.week import parse_start, window

ZONES = ["Asia/Shanghai", "America/Detroit", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "UTC"]
instants = st.datetimes(datetime(2005, 1, 1), datetime(2040, 1, 1), timezones=st.just(timezone.utc))  # noqa: DTZ001
starts = st.builds(
    lambda day, hour, minute: f"{day} {hour:02}:{minute:02}",
    st.integers(1, 7),
    st.integers(0, 23),
    st.sampled_from([0, 30, 59]),
)


@given(instants, starts, st.sampled_from(ZONES))
def test_every_instant_is_in_exactly_one_week(now: datetime, start: str, zone: str) -> None:
    week = window(start, ZoneInfo(zone), now)
    assert now in week
    assert window(start, ZoneInfo(zone), week.end).start == week.end
    assert window(start, ZoneInfo(zone), week.start - timedelta(microseconds=1)).end == week.start
    assert timedelta(days=5) < week.end - week.start < timedelta(days=9)


@given(instants, starts, st.sampled_from(ZONES[:4]))
def test_a_week_begins_at_the_local_time_it_names_unless_the_clock_skips_it(
    now: datetime, start: str, zone: str
) -> None:
    weekday, at = parse_start(start)
    local = window(start, ZoneInfo(zone), now).start.astimezone(ZoneInfo(zone))
    skipped = timedelta(hours=local.hour - at.hour, minutes=local.minute - at.minute)
    assert local.isoweekday() == weekday
    assert skipped in (timedelta(0), timedelta(minutes=30), timedelta(hours=1))


def test_the_week_of_the_spring_change_is_an_hour_shorter_and_keeps_its_local_ends() -> None:
    detroit = ZoneInfo("America/Detroit")
    week = window("1 08:00", detroit, datetime(2022, 3, 13, 12, tzinfo=timezone.utc))
    assert week.start == datetime(2022, 3, 7, 13, tzinfo=timezone.utc)  # 08:00 EST
    assert week.end == datetime(2022, 3, 14, 12, tzinfo=timezone.utc)  # 08:00 EDT
    assert week.end - week.start == timedelta(days=7) - timedelta(hours=1)


def test_a_week_that_begins_in_the_skipped_hour_begins_when_the_clock_goes_on() -> None:
    detroit = ZoneInfo("America/Detroit")
    skipped = datetime(2022, 3, 13, 7, 30, tzinfo=timezone.utc)
    assert window("7 02:30", detroit, skipped - timedelta(minutes=10)).end == skipped
    assert window("7 02:30", detroit, skipped).start == skipped


@pytest.mark.parametrize("text", ["", "1", "0 08:00", "8 08:00", "1 24:00", "1 8:00", "Mon 08:00", "1 08:00 "])
def test_a_week_start_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ISO weekday"):
        parse_start(text)
