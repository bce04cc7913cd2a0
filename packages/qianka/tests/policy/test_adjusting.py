"""What counts once staff has decided."""

from __future__ import annotations

import pytest
from qianka.policy.adjusting import final_points


@pytest.mark.parametrize(
    ("graded", "override", "bonus", "counts"),
    [
        (None, None, None, None),
        (80.0, None, None, 80.0),
        (80.0, None, 5.0, 85.0),
        (80.0, 60.0, None, 60.0),
        (80.0, 0.0, None, 0.0),
        (80.0, 60.0, 2.5, 62.5),
        (None, None, 3.0, 3.0),
        (None, 40.0, None, 40.0),
        (2.0, None, -5.0, 0.0),
        (0.1, None, 0.2, 0.3),
    ],
)
def test_an_override_replaces_and_a_bonus_is_added(
    graded: float | None, override: float | None, bonus: float | None, counts: float | None
) -> None:
    assert final_points(graded, override, bonus) == counts
