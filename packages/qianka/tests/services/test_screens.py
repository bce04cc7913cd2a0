"""When a projector shows its scenes, and when a clock."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from qianka.errors import NotSignedIn
from qianka.services import screens
from qianka.services.screens import Shows
from qianka.testing import factories
from qianka.testing.clock import FakeClock

# A Monday, 09:00 in Shanghai.
MONDAY = datetime(2026, 9, 7, 1, 0, tzinfo=timezone.utc)
LESSON = {"weekday": 1, "start": "10:00", "end": "11:40", "place": "A101"}


def test_it_starts_five_minutes_before_a_class_and_ends_with_it(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    platform = factories.make_platform(tmp_path, clock=clock)
    cohort = factories.make_cohort(platform, "ai", class_times=[LESSON])
    teacher = factories.make_person(platform)
    factories.enroll(platform, cohort, teacher, factories.Role.TEACHER)
    _, secret = screens.make(platform, factories.caller_of(teacher), "ai", "A101", Shows())
    seen = []
    for minutes in (0, 54, 2, 100, 20):  # 09:00 09:54 09:56 11:36 11:56
        clock.advance(minutes * 60)
        seen.append(screens.opened(platform, secret).is_on)
    assert seen == [False, False, True, True, False]
    coming = screens.opened(platform, secret).next_at
    assert coming == datetime(2026, 9, 14, 2, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(("times", "always"), [([], False), ([LESSON], True)])
def test_without_a_timetable_or_where_it_is_set_it_always_shows(
    tmp_path: Path, times: list[object], always: bool
) -> None:
    platform = factories.make_platform(tmp_path, clock=FakeClock(MONDAY))
    cohort = factories.make_cohort(platform, "ai", class_times=times)
    teacher = factories.make_person(platform)
    factories.enroll(platform, cohort, teacher, factories.Role.TEACHER)
    _, secret = screens.make(platform, factories.caller_of(teacher), "ai", "", Shows(always=always))
    assert screens.opened(platform, secret).is_on


def test_a_link_ends_with_the_year(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    platform = factories.make_platform(tmp_path, clock=clock)
    cohort = factories.make_cohort(platform, "ai")
    teacher = factories.make_person(platform)
    factories.enroll(platform, cohort, teacher, factories.Role.TEACHER)
    _, secret = screens.make(platform, factories.caller_of(teacher), "ai", "", Shows())
    clock.advance(screens.DAYS * 86_400 + 1)
    with pytest.raises(NotSignedIn):
        screens.opened(platform, secret)
