"""What counts once staff has decided about a grade: an override instead of what was graded, a bonus on top."""

from __future__ import annotations

MOST_POINTS = 10_000.0
"""of a bonus (either way) or an override: beyond it somebody has mistyped"""


def final_points(graded: float | None, override: float | None, bonus: float | None) -> float | None:
    """The points that count; None where there is neither a grade nor a decision. Never below zero.

    A penalty for being late is in `graded`; an override replaces it together with the points.
    """
    if graded is None and override is None and bonus is None:
        return None
    base = override if override is not None else (graded or 0.0)
    return max(0.0, round(base + (bonus or 0.0), 2))
