"""A loop in a thread: faults that pass are logged and waited out, anything else ends the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from qianka import logs
from qianka.errors import QiankaError

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
DATABASE_PAUSE = 3.0
"""asking a database that is away costs nothing, and work waits for it to come back"""


class Loop(threading.Thread):
    """Calls `step` until `stop` is set; between two steps it waits by `wait`, until `wake`.

    `rest` seconds pass in any case. `step` tells whether there may be more to do at once. `failure` holds
    what ended the loop.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], bool],
        stop: threading.Event,
        *,
        every: float,
        rest: float = 0.0,
        ended: Callable[[], None],
        wait: Callable[[float], None] | None = None,
        wake: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.failure: BaseException | None = None
        self._step, self._stopping, self._every, self._rest, self._ended = step, stop, every, rest, ended
        self._event = threading.Event()
        self._wait = wait or self._wait_for_event
        self._wake = wake or self._event.set
        self._log = logs.get(f"worker.{name}")

    def wake(self) -> None:
        """There is something to do."""
        self._wake()

    def run(self) -> None:
        pause = FIRST_PAUSE
        try:
            while not self._stopping.is_set():
                try:
                    again = self._step()
                    pause = FIRST_PAUSE
                except (QiankaError, OSError, SQLAlchemyError) as error:
                    self._log.warning("%s: %s; going on in %.1f s", type(error).__name__, error, pause)
                    self._stopping.wait(pause)
                    longest = DATABASE_PAUSE if isinstance(error, SQLAlchemyError) else LONGEST_PAUSE
                    pause = min(longest, pause * 2)
                    continue
                if not again and not self._stopping.is_set():
                    self._stopping.wait(self._rest)
                    self._wait(self._every)
        except BaseException as error:  # noqa: BLE001 - kept for the main thread, which raises it
            self.failure = error
        finally:
            self._ended()

    def _wait_for_event(self, timeout: float) -> None:
        self._event.wait(timeout)
        self._event.clear()
