"""What the dispatchers of both kinds of engine share: waiting for it, cancelling on it, giving a run up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from qianka import logs
from qianka.engines.base import Engine, Handle, Waits
from qianka.errors import QiankaError
from qianka.services import jobs
from qianka.services.platform import Platform
from qianka.store.repos import jobs as repo

GRACE = 5.0
"""seconds after which a run that has not begun is submitted, or a cancel asked for, once more"""
SUBMITS = 5
"""after so many submits that went wrong a run counts as lost"""
SUBMITTERS = 4

_log = logs.get("worker.engine")


class EngineWatch:
    """A dispatcher's hold on its engine; `guard` is called in every transaction and raises when it must not happen."""

    def __init__(self, platform: Platform, engine: Engine, guard: Callable[[Session], None]) -> None:
        self.platform = platform
        self.engine = engine
        self._guard = guard
        self._cancelled: dict[Handle, datetime] = {}
        self._retry_at: datetime | None = None

    def wait(self, timeout: float) -> None:
        """Until a run ends, the engine is woken, a retry is due, or `timeout`."""
        if self._retry_at is not None:
            timeout = min(timeout, max(0.05, (self._retry_at - self.platform.now()).total_seconds()))
        if isinstance(self.engine, Waits):
            self.engine.wait(timeout)
        else:
            self.platform.clock.sleep(timeout)

    def wake(self) -> None:
        """Somebody else changed something: end a `wait`."""
        if isinstance(self.engine, Waits):
            self.engine.wake()

    def _cancel(self, handle: Handle, now: datetime) -> None:
        asked = self._cancelled.get(handle)
        if asked is not None and (now - asked).total_seconds() < GRACE:
            return
        self._cancelled[handle] = now
        try:
            self.engine.cancel(handle)
        except QiankaError as error:
            _log.warning("job %s run %d was not cancelled: %s", handle.job, handle.run, error)

    def _lose(self, handles: Sequence[Handle]) -> None:
        """Settle runs that never began as lost: a platform fault, charged to nobody."""
        with self.platform.store.transaction() as session:
            self._guard(session)
            found = repo.by_ids(session, [handle.job for handle in handles])
            for handle in handles:
                if handle.job in found:
                    jobs.settle(session, self.platform, found[handle.job], handle.run, None)
