"""Starts what policy chose, and settles what ended.

Crash safety: a job is RUNNING with its run number committed before the engine hears of it, and a
run of which the engine knows nothing is submitted again under the same number, which the run's
folder makes one run. No engine call is made inside a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from qianka import logs
from qianka.domain.jobs import JobKind, JobState
from qianka.domain.resources import Card, Node, Placement
from qianka.engines.base import Engine, Handle, Status
from qianka.errors import QiankaError, Unavailable
from qianka.policy.plan import Plan, plan
from qianka.policy.usage import Usage
from qianka.services import jobs, nodes
from qianka.services.jobs.stages import tell
from qianka.services.jobs.view import load_usage, occupied
from qianka.services.platform import Platform
from qianka.store.repos import jobs as repo
from qianka.store.tables import Event, Job, Ledger, Run
from qianka.worker.engine_watch import GRACE, SUBMITS, SUBMITTERS, EngineWatch
from qianka.worker.picture import Live, Picture

_log = logs.get("worker.dispatcher")


@dataclass
class _Scene:
    """What one step starts from."""

    now: datetime
    live: dict[Handle, Live]
    nodes: list[Node] = field(default_factory=list)
    statuses: dict[Handle, Status] = field(default_factory=dict)
    answered: bool = True


@dataclass
class _Submitted:
    at: datetime
    times: int = 1


class Dispatcher(EngineWatch):
    """One step at a time; `guard` is called in every transaction and raises when it must not happen.

    `fresh`: seconds for which the store is not asked for the changes of others, unless they `wake`.
    """

    def __init__(
        self,
        platform: Platform,
        engine: Engine,
        *,
        guard: Callable[[Session], None] = lambda _: None,
        stage_ended: Callable[[], None] = lambda: None,
        fresh: float = 0.0,
    ) -> None:
        super().__init__(platform, engine, guard)
        self._stage_ended = stage_ended
        self._picture = Picture(platform, fresh)
        self._usage: Usage | None = None
        self._woken = True
        self._submitted: dict[Handle, _Submitted] = {}
        self._answered_at: datetime | None = None
        self._published: list[Node] | None = None
        self._pool = ThreadPoolExecutor(SUBMITTERS, thread_name_prefix="submit")

    def close(self) -> None:
        """End the threads that submit."""
        self._pool.shutdown()

    def step(self) -> bool:
        """Look once at everything; whether another look would pay at once."""
        scene = self._look()
        if not scene.answered:
            self._lose_touch(scene)
            return False
        ended = {h: s for h, s in scene.statuses.items() if s.state.ended}
        decided = self._plan(scene, ended)
        started, again = self._commit(scene, ended, decided)
        self._submit_all([(job.spec, Handle(job.id, run), placement) for job, run, placement in started])
        self._tend(scene)
        return again

    def wake(self) -> None:
        """Somebody else changed something: look at the store, and end a `wait`."""
        self._woken = True
        super().wake()

    def _look(self) -> _Scene:
        woken, self._woken = self._woken, False
        if woken or not self._picture.is_fresh():
            with self.platform.store.reading() as session:
                self._picture.read(session)
                if self._usage is None:
                    self._usage = load_usage(session, self.platform)
        live = dict(self._picture.live)
        scene = _Scene(self.platform.now(), live)
        try:
            scene.nodes = self.engine.nodes()
            scene.statuses = self.engine.poll(live) if live else {}
        except Unavailable as error:
            _log.warning("engine %s: %s", self.engine.name, error)
            scene.answered = False
            return scene
        self._answered_at = scene.now
        if scene.nodes != self._published:
            nodes.publish(self.platform, scene.nodes)
            self._published = scene.nodes
        return scene

    def _learn_from(self, lines: list[Ledger]) -> None:
        """Count what our own commit entered; nobody else writes the ledger while we hold the lease."""
        for line in lines:
            if self._usage is not None:
                self._usage.add(line.person_id, line.cpu_seconds, line.gpu_seconds, line.ended_at)

    def _lose_touch(self, scene: _Scene) -> None:
        """The engine does not answer: what runs is UNKNOWN, and nothing else is concluded."""
        if not any(row.state == JobState.RUNNING.value for row in scene.live.values()):
            return
        with self.platform.store.transaction() as session:
            self._guard(session)
            changed = repo.mark_unknown(session, self._answered_at)
            for job in repo.by_ids(session, changed).values():
                tell(session, self.platform, job, "unknown")
        self._picture.stale()

    def _plan(self, scene: _Scene, ended: dict[Handle, Status]) -> Plan:
        ready = []
        self._retry_at = None
        for job in self._picture.pending.values():
            if job.not_before is not None and job.not_before > scene.now:
                self._retry_at = min(job.not_before, self._retry_at or job.not_before)
            else:
                ready.append(job.waiting)
        if not ready:
            return Plan()
        held = [occupied(row) for handle, row in scene.live.items() if handle not in ended]
        used = self._usage.at(scene.now) if self._usage and self.platform.settings.policy_fair_share else None
        return plan(scene.now, scene.nodes, held, ready, used)

    def _commit(
        self, scene: _Scene, ended: dict[Handle, Status], decided: Plan
    ) -> tuple[list[tuple[Job, int, Placement]], bool]:
        """Settle, start and explain in one transaction; what is to be submitted, and whether something came back."""
        back = [h for h, job in scene.live.items() if job.state == "UNKNOWN" and not scene.statuses[h].state.ended]
        pending = self._picture.pending
        reasons = {job: {"code": code} for job, code in decided.reasons.items() if pending[job].code != code}
        if not (ended or decided.placements or reasons or back):
            return [], False
        started = []
        # One flush at the end: rows of many jobs go as one statement each.
        with self.platform.store.transaction() as session, session.no_autoflush:
            self._guard(session)
            is_current = self._picture.is_current(session)
            found, runs = repo.with_runs(session, {*(h.job for h in (*ended, *back)), *decided.placements})
            for handle, status in ended.items():
                if handle.job in found:
                    jobs.settle(session, self.platform, found[handle.job], handle.run, status.result, runs=runs)
            for handle in back:
                if handle.job in found:
                    self._found_again(session, found[handle.job], scene.now)
            for job_id, placement in decided.placements.items():
                job = found.get(job_id)
                if job is not None and job.state == JobState.PENDING.value:
                    started.append((job, self._start(session, job, placement, scene.now), placement))
            repo.set_reasons(session, reasons)
            new = list(session.new)
            session.flush()
            newest = max((row.id for row in new if isinstance(row, Event)), default=None)
        settled = [found[h.job] for h in ended if h.job in found]
        requeued = any(job.state == JobState.PENDING.value for job in settled)
        self._picture.ended(list(ended))
        for job, _, placement in started:
            self._picture.started(job, placement)
        self._picture.told(reasons)
        if is_current and not requeued and not back:
            self._picture.committed(newest)
        else:
            self._picture.stale()
        self._forget(ended)
        self._learn_from([row for row in new if isinstance(row, Ledger)])
        if any(job.kind != JobKind.RUN.value for job in settled):
            self._stage_ended()
        return started, requeued

    def _forget(self, ended: Iterable[Handle]) -> None:
        for handle in ended:
            self._submitted.pop(handle, None)
            self._cancelled.pop(handle, None)

    def _found_again(self, session: Session, job: Job, now: datetime) -> None:
        if job.state == JobState.UNKNOWN.value:
            job.state, job.answered_at = JobState.RUNNING.value, now
            tell(session, self.platform, job, "running")

    def _start(self, session: Session, job: Job, placement: Placement, now: datetime) -> int:
        job.run += 1
        job.state, job.reason, job.not_before = JobState.RUNNING.value, None, None
        job.started_at = job.answered_at = now
        session.add(
            Run(
                job_id=job.id,
                number=job.run,
                engine=self.engine.name,
                node=placement.node,
                cores=list(placement.cores),
                cards=[asdict(card) for card in placement.cards],
                state=JobState.RUNNING.value,
                started_at=now,
            )
        )
        tell(session, self.platform, job, "running", node=placement.node)
        return job.run

    def _submit_all(self, jobs: list[tuple[dict[str, Any], Handle, Placement]]) -> None:
        """A submit waits for the disk; several wait together."""
        if len(jobs) == 1:
            self._submit(*jobs[0])
        elif jobs:
            list(self._pool.map(lambda job: self._submit(*job), jobs))

    def _submit(self, spec: dict[str, Any], handle: Handle, placement: Placement) -> None:
        """Tell the engine; what fails now is tried again by `_tend`."""
        known = self._submitted.get(handle)
        times = 1 if known is None else known.times + 1
        self._submitted[handle] = _Submitted(self.platform.now(), times)
        try:
            self.engine.submit(spec, handle.run, placement)
        except QiankaError as error:
            _log.warning("job %s run %d was not started: %s", handle.job, handle.run, error)

    def _tend(self, scene: _Scene) -> None:
        """Cancel what is to be cancelled; submit again, or give up, what never began."""
        never: list[Handle] = []
        again: list[Handle] = []
        for handle, status in scene.statuses.items():
            if status.state.ended:
                continue
            if scene.live[handle].cancel_at is not None:
                self._cancel(handle, scene.now)
            elif status.state is JobState.PENDING:
                known = self._submitted.get(handle)
                if known is None or (scene.now - known.at).total_seconds() >= GRACE:
                    (never if known and known.times >= SUBMITS else again).append(handle)
        self._give_up(never)
        if again:
            with self.platform.store.reading() as session:
                specs = {job.id: job.spec for job in repo.by_ids(session, [h.job for h in again]).values()}
            self._submit_all([(specs[h.job], h, _placement(scene.live[h])) for h in again if h.job in specs])

    def _give_up(self, handles: list[Handle]) -> None:
        if not handles:
            return
        self._lose(handles)
        self._forget(handles)
        self._picture.stale()


def _placement(row: Live) -> Placement:
    """The placement that a run was given, as it was stored."""
    return Placement(node=row.node, cores=tuple(row.cores), cards=tuple(Card(**card) for card in row.cards))
