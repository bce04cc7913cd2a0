"""Dates at the ends of the calendar: refused in words where local time, or an extension, would run off it."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from qianka.errors import BadInput
from qianka.services import dates
from qianka.services.dates import More
from qianka.testing import caller_of
from qianka.testing.handins import HandinScene

NEVER = datetime(9999, 12, 31, 23, 59, tzinfo=timezone.utc)
FIRST = datetime(1, 1, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize("name", ["due", "opens", "locks"])
@pytest.mark.parametrize("at", [NEVER, FIRST])
@pytest.mark.parametrize("preview", [True, False])
def test_date_that_has_no_local_time_is_refused_and_changes_nothing(
    course: HandinScene, name: str, at: datetime, preview: bool
) -> None:
    teacher = caller_of(course.teacher)
    with pytest.raises(BadInput) as refused:
        dates.change_dates(course.platform, teacher, "ai", "lab1", **{name: at}, preview=preview)
    assert refused.value.hint is not None
    assert dates.mine(course.platform, caller_of(course.student), "ai", "lab1").sentence.en


def test_extension_until_the_end_of_the_calendar_is_refused(course: HandinScene) -> None:
    teacher = caller_of(course.teacher)
    with pytest.raises(BadInput) as refused:
        dates.extend(course.platform, teacher, "ai", More(until=NEVER), "病假", lab_slug="lab1", login="alice")
    assert refused.value.hint is not None
    assert dates.mine(course.platform, caller_of(course.student), "ai", "lab1").sentence.en
