"""What `[handin]` of a lab.toml says on being late."""

from __future__ import annotations

import math
from typing import Any

from qianka.tomlfile.reader import Table

MODES = ("refuse", "mark", "penalty")
_PENALTY = ("late_penalty", "late_steps", "late_cap", "late_floor", "late_budget_days")


def read_late(table: Table) -> dict[str, Any]:
    """The fields of `Handin` on being late; mistakes are noted in `table`."""
    mode = table.text("late", "mark", MODES)
    per_day = table.maybe_number("late_penalty", 0.0, 1.0)
    steps = _steps(table)
    found = {
        "late": mode,
        "grace_seconds": table.integer("grace_seconds", 300, 0, 7 * 86400),
        "late_penalty": per_day or 0.0,
        "late_steps": steps,
        "late_cap": table.number("late_cap", 1.0, 0.0, 1.0),
        "late_floor": table.number("late_floor", 0.0, 0.0, 1.0),
        "late_most_days": _days(table, "late_most_days", 1),
        "late_budget_days": _days(table, "late_budget_days", 0),
    }
    if mode != "penalty":
        for key in _PENALTY:
            if key in table:
                table.bad(key, '只在 late = "penalty" 时有效', 'only goes with late = "penalty"')
    elif (per_day is None) == (not steps):
        table.bad(
            "late",
            "写 late_penalty（每天扣的比例）或 late_steps（逐天的比例）之一",
            "say late_penalty (share a day) or late_steps (shares day by day), one of the two",
        )
    if mode == "refuse" and "late_most_days" in table:
        table.bad("late_most_days", "不收迟交时没有意义", "means nothing where late hand-ins are refused")
    return found


def _steps(table: Table) -> tuple[float, ...]:
    value = table.take("late_steps")
    if value is None:
        return ()
    sound = isinstance(value, list) and all(
        isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item) and 0 <= item <= 1
        for item in value
    )
    if not sound or not value or sorted(value) != value:
        table.bad(
            "late_steps",
            "应是从小到大、0 到 1 之间的比例，如 [0.1, 0.3, 0.5]",
            "must be rising shares from 0 to 1, such as [0.1, 0.3, 0.5]",
        )
        return ()
    return tuple(float(item) for item in value)


def _days(table: Table, key: str, low: int) -> int | None:
    if key in table:
        return table.integer(key, None, low, 366)
    table.take(key)
    return None
