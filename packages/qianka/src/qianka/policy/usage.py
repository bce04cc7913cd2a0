"""Recent use of each person, fading by half in every half-life."""

from __future__ import annotations

from datetime import datetime

CARD = 16.0
"""what a second of a card weighs, in seconds of a core"""


class Usage:
    """Decayed core-seconds a person, kept as one number and the instant it is true for."""

    def __init__(self, half_life: float) -> None:
        if half_life <= 0:
            raise ValueError("a half-life is longer than nothing")
        self.half_life = half_life
        self._kept: dict[int, tuple[float, datetime]] = {}

    def add(self, person: int, cpu_seconds: float, gpu_seconds: float, at: datetime) -> None:
        """Count what `person` used up at instant `at`; the order of calls does not matter."""
        weight = cpu_seconds + CARD * gpu_seconds
        value, since = self._kept.get(person, (0.0, at))
        if at >= since:
            self._kept[person] = (value * self._left(since, at) + weight, at)
        else:
            self._kept[person] = (value + weight * self._left(at, since), since)

    def of(self, person: int, now: datetime) -> float:
        """Decayed use at `now`; 0 for somebody who used nothing."""
        value, since = self._kept.get(person, (0.0, now))
        return value * self._left(since, now)

    def at(self, now: datetime) -> dict[int, float]:
        """Decayed use of everybody at `now`."""
        return {person: self.of(person, now) for person in self._kept}

    def _left(self, since: datetime, now: datetime) -> float:
        return float(0.5 ** (max(0.0, (now - since).total_seconds()) / self.half_life))


def cost(cpus: float, gpus: int, seconds: float) -> float:
    """What holding `cpus` and `gpus` for `seconds` weighs."""
    return (cpus + CARD * gpus) * seconds
