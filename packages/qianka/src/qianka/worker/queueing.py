"""The dispatcher of an engine with a queue of its own (Slurm): submit at once, tell what the engine tells.

Who may run what was decided when the job was taken; when it runs the engine decides. Crash safety as in
`dispatcher`: the run's number is committed before the engine hears of it, a run that the engine does not
know is submitted again under that number, and no engine call is made inside a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from qianka import logs
from qianka.domain.jobs import JobKind, JobState
from qianka.domain.resources import Node
from qianka.engines.base import Engine, Handle, Status
from qianka.errors import QiankaError, Unavailable
from qianka.services import jobs, nodes
from qianka.services.jobs.stages import tell
from qianka.services.platform import Platform
from qianka.store.repos import jobs as repo
from qianka.store.repos import queued
from qianka.store.tables import Job, Run
from qianka.worker.engine_watch import GRACE, SUBMITS, SUBMITTERS, EngineWatch

AT_ONCE = 200
"""jobs submitted in one step: a burst must not keep the rest from being looked at"""

_log = logs.get("worker.queueing")


@dataclass
class _Scene:
    """What one step starts from."""

    now: datetime
    live: dict[Handle, Any]
    ready: bool
    statuses: dict[Handle, Status] = field(default_factory=dict)


class QueueDispatcher(EngineWatch):
    """One step at a time; `guard` is called in every transaction and raises when it must not happen."""

    def __init__(
        self,
        platform: Platform,
        engine: Engine,
        *,
        guard: Callable[[Session], None] = lambda _: None,
        stage_ended: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(platform, engine, guard)
        self._stage_ended = stage_ended
        self._asked: dict[Handle, datetime] = {}
        self._wrong: dict[Handle, int] = {}
        self._answered_at: datetime | None = None
        self._is_silent = False
        self._published: list[Node] | None = None
        self._pool = ThreadPoolExecutor(SUBMITTERS, thread_name_prefix="submit")

    def close(self) -> None:
        """End the threads that submit."""
        self._pool.shutdown()

    def step(self) -> bool:
        """Look once at everything; whether another look would pay at once."""
        scene = self._read()
        try:
            scene.statuses = self.engine.poll(scene.live) if scene.live else {}
            self._publish(self.engine.nodes())
        except Unavailable as error:
            if not self._is_silent:
                _log.warning("engine %s: %s", self.engine.name, error)
            self._is_silent = True
            self._lose_touch(scene)
            return False
        if self._is_silent:
            _log.warning("engine %s answers again", self.engine.name)
        self._is_silent = False
        self._answered_at = scene.now
        requeued = self._take_in(scene)
        begun = self._begin(scene) if scene.ready else []
        self._submit_all(begun)
        self._tend(scene)
        return requeued or len(begun) >= AT_ONCE

    def _read(self) -> _Scene:
        now = self.platform.now()
        with self.platform.store.reading() as session:
            live = {Handle(row.id, row.run): row for row in queued.submitted(session)}
            self._retry_at = queued.next_retry(session, now)
            return _Scene(now, live, bool(queued.ready(session, now, 1)))

    def _publish(self, found: list[Node]) -> None:
        if found != self._published:
            nodes.publish(self.platform, found)
            self._published = found

    def _lose_touch(self, scene: _Scene) -> None:
        """The engine does not answer: what it has is UNKNOWN, and nothing else is concluded."""
        known = [handle.job for handle, row in scene.live.items() if row.state != JobState.UNKNOWN.value]
        if not known and not scene.ready:
            return
        with self.platform.store.transaction() as session:
            self._guard(session)
            queued.mark_unknown(session, known, self._answered_at)
            for job in repo.by_ids(session, known).values():
                tell(session, self.platform, job, "unknown")
            silent = [job for job in queued.ready(session, scene.now, AT_ONCE) if _code(job.reason) != "engine_silent"]
            repo.set_reasons(session, {job.id: {"code": "engine_silent"} for job in silent})

    def _take_in(self, scene: _Scene) -> bool:
        """Settle what ended and note what changed, in one transaction; whether something is to run again."""
        changed = {handle: status for handle, status in scene.statuses.items() if _differs(scene.live[handle], status)}
        if not changed:
            return False
        with self.platform.store.transaction() as session, session.no_autoflush:
            self._guard(session)
            found, runs = repo.with_runs(session, {handle.job for handle in changed})
            for handle, status in changed.items():
                job = found.get(handle.job)
                if job is None:
                    continue
                if status.state.ended:
                    jobs.settle(session, self.platform, job, handle.run, status.result, runs=runs)
                elif job.run == handle.run and not JobState(job.state).ended:
                    self._note(session, job, runs.get((job.id, handle.run)), status, scene.now)
        ended = [handle for handle, status in changed.items() if status.state.ended]
        settled = [found[handle.job] for handle in ended if handle.job in found]
        self._forget(ended)
        if any(job.kind != JobKind.RUN.value for job in settled):
            self._stage_ended()
        return any(job.state == JobState.PENDING.value for job in settled)

    def _note(self, session: Session, job: Job, run: Run | None, status: Status, now: datetime) -> None:
        before = job.state
        if status.state is not JobState.UNKNOWN:
            job.answered_at = now
        elif before == JobState.UNKNOWN.value:
            return
        job.state = status.state.value
        if status.state is JobState.PENDING:
            job.reason = status.reason
        elif status.state is JobState.RUNNING:
            since = status.since or now
            job.reason, job.started_at = None, since
            if run is not None:
                run.state, run.started_at, run.node = job.state, since, status.node or run.node
        if job.state != before:
            words = {"node": status.node} if status.node else {}
            kind = {JobState.RUNNING: "running", JobState.UNKNOWN: "unknown"}.get(status.state, "queued")
            tell(session, self.platform, job, kind, **words)

    def _begin(self, scene: _Scene) -> list[tuple[dict[str, Any], Handle]]:
        """Give each waiting job a run and its number; submitted are they after the commit."""
        begun = []
        with self.platform.store.transaction() as session:
            self._guard(session)
            for job in queued.ready(session, scene.now, AT_ONCE):
                job.run += 1
                job.reason, job.not_before = {"code": "slurm_new"}, None
                session.add(
                    Run(
                        job_id=job.id,
                        number=job.run,
                        engine=self.engine.name,
                        node="",
                        state=JobState.PENDING.value,
                        started_at=scene.now,
                    )
                )
                begun.append((job.spec, Handle(job.id, job.run)))
        return begun

    def _submit_all(self, begun: list[tuple[dict[str, Any], Handle]]) -> None:
        if begun:
            list(self._pool.map(lambda one: self._submit(*one), begun))

    def _submit(self, spec: dict[str, Any], handle: Handle) -> None:
        """Tell the engine; what fails now is tried again by `_tend`."""
        self._asked[handle] = self.platform.now()
        try:
            self.engine.submit(spec, handle.run, None)
        except Unavailable as error:
            _log.warning("job %s run %d is not submitted yet: %s", handle.job, handle.run, error)
        except QiankaError as error:
            self._wrong[handle] = self._wrong.get(handle, 0) + 1
            _log.warning("job %s run %d was not submitted: %s", handle.job, handle.run, error)

    def _tend(self, scene: _Scene) -> None:
        """Cancel what is to be cancelled; submit again, or give up, what the engine does not know."""
        again: list[Handle] = []
        for handle, status in scene.statuses.items():
            if status.state.ended:
                continue
            if scene.live[handle].cancel_at is not None:
                self._cancel(handle, scene.now)
            elif status.state is JobState.PENDING and status.reason is None:
                asked = self._asked.get(handle)
                if asked is None or (scene.now - asked).total_seconds() >= GRACE:
                    again.append(handle)
        self._give_up([handle for handle in again if self._wrong.get(handle, 0) >= SUBMITS])
        again = [handle for handle in again if self._wrong.get(handle, 0) < SUBMITS][:AT_ONCE]
        if again:
            with self.platform.store.reading() as session:
                specs = {job.id: job.spec for job in repo.by_ids(session, [h.job for h in again]).values()}
            self._submit_all([(specs[h.job], h) for h in again if h.job in specs])

    def _give_up(self, handles: list[Handle]) -> None:
        if not handles:
            return
        self._lose(handles)
        self._forget(handles)

    def _forget(self, handles: Iterable[Handle]) -> None:
        for handle in handles:
            for kept in (self._asked, self._wrong, self._cancelled):
                kept.pop(handle, None)


def _differs(row: Any, status: Status) -> bool:
    """Whether there is something to write down: another state, or another reason to wait."""
    if status.state.value != row.state:
        # A run that was never submitted is PENDING to the engine as it is to us, or UNKNOWN to us only by silence.
        return True
    if status.state is not JobState.PENDING or status.reason is None:
        return False
    before = row.reason or {}
    same = all(before.get(key) == status.reason.get(key) for key in ("code", "text", "ahead"))
    moved = abs((before.get("starts") or 0) - (status.reason.get("starts") or 0)) >= 60
    return not same or moved


def _code(reason: dict[str, Any] | None) -> str | None:
    return (reason or {}).get("code")
