"""The one question about all jobs: asked so often and no oftener, and more rarely while nobody answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from qianka.engines.slurm.models import Line
from qianka.errors import Unavailable

LONGEST_PAUSE = 60.0


T = TypeVar("T")


class Silence:
    """Asks on behalf of many; after a silence nobody asks again for a while that doubles each time."""

    def __init__(self, every: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = every
        self._clock = clock
        self._failures = 0
        self._again_at = 0.0
        self._said: Unavailable | None = None

    def ask(self, question: Callable[[], T]) -> T:
        """The answer. Raises Unavailable, also without asking when it is not yet time to ask again."""
        if self._said is not None and self._clock() < self._again_at:
            raise self._said
        try:
            answer = question()
        except Unavailable as error:
            self._failures += 1
            self._said = error
            self._again_at = self._clock() + pause(self._every, self._failures)
            raise
        self._failures, self._said = 0, None
        return answer

    @property
    def lasts(self) -> bool:
        """Whether the last question got no answer."""
        return self._said is not None


class Listing:
    """All jobs of the cluster, at most `every` seconds old; safe to use from several threads."""

    def __init__(
        self, ask: Callable[[], dict[str, Line]], every: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask = ask
        self._every = every
        self._clock = clock
        self._lock = threading.Lock()
        self._silence = Silence(every, clock)
        self._jobs: dict[str, Line] = {}
        self._asked_at: float | None = None
        self.asked = 0
        """how often Slurm was asked"""

    def jobs(self) -> dict[str, Line]:
        """By id. Raises Unavailable."""
        with self._lock:
            now = self._clock()
            if self._asked_at is not None and now - self._asked_at < self._every and not self._silence.lasts:
                return self._jobs
            self._jobs = self._silence.ask(self._question)
            self._asked_at = now
            return self._jobs

    def stale(self, before: float) -> bool:
        """Whether the last answer is from before `before` (monotonic seconds)."""
        return self._asked_at is None or self._asked_at < before

    def _question(self) -> dict[str, Line]:
        self.asked += 1
        return self._ask()


def pause(every: float, failures: int) -> float:
    """Seconds until the next try after `failures` in a row."""
    return float(min(LONGEST_PAUSE, max(every, 0.5) * 2.0 ** min(failures - 1, 10)))
