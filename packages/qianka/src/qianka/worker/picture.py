"""What waits and what runs, as the dispatcher sees it; of the store only what changed is read.

Every change of a job emits an event in its transaction, and events are numbered in the order of their
commits (qianka.store.session), so as long as the newest event is the one that this dispatcher's own last
commit left, its own picture is still right.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from qianka.domain.jobs import JobState, Waiting
from qianka.domain.resources import Placement
from qianka.engines.base import Handle
from qianka.services.jobs.view import QUEUE_LIMIT, to_waiting
from qianka.services.platform import Platform
from qianka.store.repos import jobs as repo
from qianka.store.repos import records
from qianka.store.tables import Job

KEPT = 2.0
"""seconds after which it is read anew in any case"""
MOST_CHANGED = 200
"""jobs that are looked at one by one; beyond that all are read anew"""


@dataclass
class Pending:
    """A job that waits; `code`: the reason that it was last told."""

    waiting: Waiting
    not_before: datetime | None
    code: str | None


@dataclass(frozen=True)
class Live:
    """A job that holds resources, and the run that holds them."""

    id: str
    run: int
    person_id: int
    state: str
    cpus: float
    memory: int
    wall_limit: float
    cancel_at: datetime | None
    node: str
    cores: list[int]
    cards: list[dict[str, Any]]
    started_at: datetime
    array_id: str | None = None


class Picture:
    """Kept from step to step."""

    def __init__(self, platform: Platform, fresh: float) -> None:
        self.platform = platform
        self._fresh = timedelta(seconds=fresh)
        self.live: dict[Handle, Live] = {}
        self.pending: dict[str, Pending] = {}
        self._newest: int | None = None
        self._until: datetime | None = None
        self._right_at: datetime | None = None

    def read(self, session: Session) -> None:
        """Bring it up to date: all of it, or those jobs that events since then tell of."""
        newest, now = records.last_event_id(session), self.platform.now()
        self._right_at = now
        if self._newest is None or self._until is None or now >= self._until:
            self._read_all(session)
            self._until = now + timedelta(seconds=KEPT)
        elif newest != self._newest:
            changed = records.jobs_changed_after(session, self._newest, MOST_CHANGED + 1)
            if len(changed) > MOST_CHANGED:
                self._read_all(session)
            elif changed:
                self._read_some(session, changed)
        self._newest = newest

    def _read_all(self, session: Session) -> None:
        self.live = {Handle(row.id, row.run): _live(row) for row in repo.live(session)}
        self.pending = {row.id: _pending(row) for row in repo.pending(session, QUEUE_LIMIT)}

    def _read_some(self, session: Session, changed: list[str]) -> None:
        gone = set(changed)
        self.live = {handle: job for handle, job in self.live.items() if handle.job not in gone}
        for job in changed:
            self.pending.pop(job, None)
        self.live.update((Handle(row.id, row.run), _live(row)) for row in repo.live(session, changed))
        if len(self.pending) < QUEUE_LIMIT:
            self.pending.update((row.id, _pending(row)) for row in repo.pending(session, QUEUE_LIMIT, changed))

    def is_fresh(self) -> bool:
        """Whether it was right so lately that another look can wait for the next transaction or wake-up."""
        return (
            self._newest is not None
            and self._right_at is not None
            and self.platform.now() - self._right_at < self._fresh
        )

    def is_current(self, session: Session) -> bool:
        """Whether nobody else changed anything since it was read; asked at the start of a transaction."""
        return self._newest == records.last_event_id(session)

    def stale(self) -> None:
        """Somebody else changed something, or we did what is not noted here: look at what changed before going on."""
        self._right_at = None

    def ended(self, handles: list[Handle]) -> None:
        """These runs are settled and their jobs over."""
        for handle in handles:
            self.live.pop(handle, None)

    def started(self, job: Job, placement: Placement) -> None:
        """A job runs."""
        self.pending.pop(job.id, None)
        self.live[Handle(job.id, job.run)] = Live(
            id=job.id,
            run=job.run,
            person_id=job.person_id,
            state=JobState.RUNNING.value,
            cpus=job.cpus,
            memory=job.memory,
            wall_limit=job.wall_limit,
            cancel_at=None,
            node=placement.node,
            cores=list(placement.cores),
            cards=[asdict(card) for card in placement.cards],
            started_at=self.platform.now(),
            array_id=job.array_id,
        )

    def told(self, reasons: dict[str, dict[str, Any]]) -> None:
        """These jobs were told why they wait."""
        for job, reason in reasons.items():
            if job in self.pending:
                self.pending[job].code = reason["code"]

    def committed(self, newest: int | None) -> None:
        """The newest event of our own transaction (None: it had none): what was noted is the state of the store."""
        self._newest = self._newest if newest is None else newest
        self._right_at = self.platform.now()


def _pending(row: Any) -> Pending:
    return Pending(to_waiting(row), row.not_before, (row.reason or {}).get("code"))


def _live(row: Any) -> Live:
    return Live(
        id=row.id,
        run=row.run,
        person_id=row.person_id,
        state=row.state,
        cpus=row.cpus,
        memory=row.memory,
        wall_limit=row.wall_limit,
        cancel_at=row.cancel_at,
        node=row.node,
        cores=list(row.cores),
        cards=list(row.cards),
        started_at=row.started_at,
        array_id=row.array_id,
    )
