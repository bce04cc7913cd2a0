"""Due dates, extensions and lateness, across changes of the clock."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.policy.dates import Dates, Rule, add_days, admit, extended, lateness, personal

UTC = timezone.utc
ZONES = ["Asia/Shanghai", "America/Detroit", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "UTC"]
zones = st.sampled_from(ZONES).map(ZoneInfo)
instants = st.datetimes(datetime(2005, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
rules = st.lists(
    st.builds(
        Rule,
        id=st.uuids().map(str),
        days=st.integers(0, 30),
        hours=st.floats(0, 72),
        until=st.none() | instants,
    ),
    max_size=5,
)


def local(text: str, zone: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


@pytest.mark.parametrize(
    ("zone", "due", "at", "days"),
    [
        # Detroit, 13 March 2022: a day of 23 hours, so 23:59 the next evening is still one day.
        ("America/Detroit", "2022-03-12 23:59", "2022-03-13 23:59", 1),
        ("America/Detroit", "2022-03-12 23:59", "2022-03-14 00:00", 2),
        # 6 November 2022: a day of 25 hours; 24 hours on would be 22:59.
        ("America/Detroit", "2022-11-05 23:59", "2022-11-06 23:59", 1),
        ("America/Detroit", "2022-11-05 23:59", "2022-11-07 00:00", 2),
        # Lord Howe moves its clocks by half an hour.
        ("Australia/Lord_Howe", "2022-10-01 23:59", "2022-10-02 23:59", 1),
        ("Australia/Lord_Howe", "2022-04-02 23:59", "2022-04-03 23:59", 1),
        ("Australia/Lord_Howe", "2022-04-02 23:59", "2022-04-04 00:00", 2),
        ("Asia/Shanghai", "2026-10-10 23:59", "2026-10-11 00:05", 1),
        ("Asia/Shanghai", "2026-10-10 23:59", "2026-10-12 00:05", 2),
        ("Asia/Shanghai", "2026-10-10 12:00", "2026-10-11 12:00", 1),
    ],
)
def test_a_late_day_ends_at_the_local_time_of_the_due_date(zone: str, due: str, at: str, days: int) -> None:
    assert lateness(local(at, zone), local(due, zone), ZoneInfo(zone)) == days


def test_a_time_that_the_clock_skips_is_the_one_after_the_jump() -> None:
    zone = ZoneInfo("America/Detroit")
    assert add_days(local("2022-03-12 02:30", "America/Detroit"), 1, zone) == datetime(2022, 3, 13, 7, 30, tzinfo=UTC)
    assert add_days(local("2022-03-12 02:30", "America/Detroit"), 2, zone) == local(
        "2022-03-14 02:30", "America/Detroit"
    )


def test_a_time_that_comes_twice_is_the_second_one() -> None:
    zone = ZoneInfo("America/Detroit")
    assert add_days(local("2022-11-05 01:30", "America/Detroit"), 1, zone) == local(
        "2022-11-06 01:30", "America/Detroit", fold=1
    )


@given(instants, st.integers(0, 400), zones)
def test_days_on_keep_the_local_time_unless_the_clock_skips_it(due: datetime, days: int, zone: ZoneInfo) -> None:
    moved = add_days(due, days, zone).astimezone(zone)
    wanted = due.astimezone(zone).replace(tzinfo=None) + timedelta(days=days)
    assert moved.replace(tzinfo=None) - wanted in (
        timedelta(0),
        timedelta(minutes=30),
        timedelta(hours=1),
        timedelta(days=1),  # Samoa left out 30 December 2011
    )


@given(instants, st.integers(0, 200), st.integers(0, 200), zones)
def test_more_days_are_never_earlier(due: datetime, less: int, more: int, zone: ZoneInfo) -> None:
    less, more = sorted((less, more))
    assert add_days(due, less, zone) <= add_days(due, more, zone)


@given(instants, st.timedeltas(timedelta(days=-40), timedelta(days=400)), zones, st.integers(0, 86_400))
def test_lateness_is_the_first_day_whose_end_is_not_passed(
    due: datetime, after: timedelta, zone: ZoneInfo, grace: int
) -> None:
    at = due + after
    days, pause = lateness(at, due, zone, grace), timedelta(seconds=grace)
    assert at <= add_days(due, days, zone) + pause
    if days:
        assert at > add_days(due, days - 1, zone) + pause
    assert lateness(at, due, zone, grace + 60) <= days


@given(instants, zones, st.integers(0, 3600))
def test_grace_forgives_its_last_second_and_no_more(due: datetime, zone: ZoneInfo, grace: int) -> None:
    end = due + timedelta(seconds=grace)
    assert lateness(end, due, zone, grace) == 0
    assert lateness(end + timedelta(microseconds=1), due, zone, grace) == 1


@given(instants, rules, zones)
def test_a_persons_date_is_the_most_generous_of_all_rules(due: datetime, given_: list[Rule], zone: ZoneInfo) -> None:
    mine = personal(Dates(due=due, locks=due + timedelta(days=3)), given_, zone)
    assert mine.due == max([due, *(extended(due, rule, zone) for rule in given_)])
    assert mine.locks is not None
    assert mine.locks >= due + timedelta(days=3)
    by = next((rule for rule in given_ if rule.id == mine.by), None)
    assert (by is None) == (mine.due == due)
    assert by is None or extended(due, by, zone) == mine.due


@given(instants, rules, rules, zones)
def test_the_order_and_number_of_rules_never_takes_time_away(
    due: datetime, some: list[Rule], more: list[Rule], zone: ZoneInfo
) -> None:
    dates = Dates(due=due)
    assert personal(dates, [*some, *more], zone) == personal(dates, [*more, *some], zone)
    fewer, all_ = personal(dates, some, zone).due, personal(dates, [*some, *more], zone).due
    assert fewer is not None
    assert all_ is not None
    assert fewer <= all_


@given(instants, st.timedeltas(timedelta(0), timedelta(days=20)), rules, zones, st.booleans())
def test_more_time_never_turns_somebody_away(
    due: datetime, after: timedelta, given_: list[Rule], zone: ZoneInfo, takes_late: bool
) -> None:
    dates, at = Dates(due=due, locks=due + timedelta(days=5)), due + after
    plain = admit(personal(dates, [], zone), at, zone, takes_late=takes_late)
    mine = admit(personal(dates, given_, zone), at, zone, takes_late=takes_late)
    order = ["open", "late", "past_due", "locked"]
    if takes_late:
        assert order.index(mine.state) <= order.index(plain.state)
    assert mine.days <= plain.days
    assert plain.state != "open" or mine.state == "open"


def test_days_move_the_lock_too_but_a_fixed_instant_only_where_it_lies_later() -> None:
    zone, due = ZoneInfo("Asia/Shanghai"), datetime(2026, 10, 10, 15, 59, tzinfo=UTC)
    dates = Dates(due=due, locks=due + timedelta(days=2))
    assert personal(dates, [Rule(id="x", days=3)], zone).locks == due + timedelta(days=5)
    assert personal(dates, [Rule(id="x", until=due + timedelta(days=1))], zone).locks == due + timedelta(days=2)
    assert personal(dates, [Rule(id="x", until=due + timedelta(days=9))], zone).locks == due + timedelta(days=9)


def test_the_lock_ends_everything_but_never_the_grace() -> None:
    zone, due = ZoneInfo("Asia/Shanghai"), datetime(2026, 10, 10, 15, 59, tzinfo=UTC)
    mine = personal(Dates(opens=due - timedelta(days=7), due=due, locks=due), [], zone)
    states = [
        admit(mine, due + timedelta(seconds=s), zone, grace_seconds=300).state for s in (-8 * 86_400, 0, 300, 301)
    ]
    assert states == ["not_open", "open", "open", "locked"]


def test_late_hand_ins_are_taken_for_so_many_days() -> None:
    zone, due = ZoneInfo("America/Detroit"), datetime(2022, 3, 13, 3, 59, tzinfo=UTC)
    mine = personal(Dates(due=due), [], zone)
    states = [admit(mine, add_days(due, n, zone), zone, most_days=2).state for n in (0, 1, 2, 3)]
    assert states == ["open", "late", "late", "past_due"]
    assert admit(mine, due + timedelta(hours=1), zone, takes_late=False).state == "past_due"


def test_without_a_due_date_nothing_is_late_and_nothing_extended() -> None:
    zone, now = ZoneInfo("UTC"), datetime(2026, 1, 1, tzinfo=UTC)
    mine = personal(Dates(), [Rule(id="x", days=5)], zone)
    assert (mine.due, mine.by) == (None, None)
    assert admit(mine, now, zone).state == "open"
    locked = personal(Dates(locks=now - timedelta(days=1)), [], zone)
    assert admit(locked, now, zone).state == "locked"
