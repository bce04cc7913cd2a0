"""Why points are not simply those graded, as `qianka grades` says it."""

from __future__ import annotations

import pytest
from qianka.cli import output
from qianka.cli.grades import because
from qianka.schemas.boards import Grade


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "language", lambda: "en")


def test_nothing_is_said_of_points_as_graded() -> None:
    assert because(Grade(cohort="ai", lab="lab1", title="Lab", points=80, raw_points=80)) is None


def test_penalty_override_bonus_and_comment_each_have_a_line() -> None:
    grade = Grade(
        cohort="ai",
        lab="lab1",
        title="Lab",
        points=88,
        penalty=8,
        days_late=2,
        override=90,
        override_reason="the key was wrong",
        bonus=-2,
        bonus_reason="late talk",
        comment="draw the curve too",
    )
    assert (because(grade) or "").splitlines() == [
        "2 d late, −8",
        "set to 90: the key was wrong",
        "bonus -2: late talk",
        "comment: draw the curve too",
    ]
