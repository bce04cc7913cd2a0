"""How long to wait after a platform fault before the next try."""

from __future__ import annotations

FIRST, LONGEST = 1.0, 300.0


def delay(retries: int) -> float:
    """Seconds before try number `retries` + 1: 1, 4, 16, 64, 256, then 300."""
    return float(min(LONGEST, FIRST * 4 ** min(retries, 10)))
