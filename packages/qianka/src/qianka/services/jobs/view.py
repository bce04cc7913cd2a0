"""Looking at jobs: lists, logs, and when a waiting one will start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import Any

from sqlalchemy.orm import Session

from qianka import jobdir
from qianka.domain.jobs import JobState, Occupied, Waiting
from qianka.domain.resources import Label, Resources
from qianka.errors import Forbidden, Text
from qianka.policy.estimate import Estimate, estimate
from qianka.policy.plan import queue
from qianka.policy.usage import Usage
from qianka.services import access, nodes
from qianka.services.jobs.reasons import reason_text
from qianka.services.platform import Caller, Platform
from qianka.store.repos import jobs as repo
from qianka.store.repos import usage
from qianka.store.tables import Job, Run

QUEUE_LIMIT = 5000
"""PENDING jobs looked at in one step"""
_HALF_LIVES = 8  # older use weighs less than half a percent
_RECENT = 300


@dataclass(frozen=True)
class QueueView:
    """Where a waiting job stands; `ahead` jobs go first, seconds until the start in `estimate`."""

    position: int
    ahead: int
    estimate: Estimate | None
    code: str | None
    sentence: Text


@dataclass(frozen=True)
class LogPiece:
    """A piece of what a run printed (raw: show it through `jobdir.printable`) and where the next begins."""

    text: str
    offset: int
    ended: bool
    run: int


def get(platform: Platform, caller: Caller, job_id: str) -> tuple[Job, list[Run]]:
    """A job and its runs; raises NotFound."""
    with platform.store.reading() as session:
        job = access.job_for(session, caller, job_id)
        return job, repo.runs_of(session, job.id)


def list_jobs(
    platform: Platform,
    caller: Caller,
    *,
    cohort: str | None = None,
    everybody: bool = False,
    fold: bool = False,
    states: Sequence[JobState] | None = None,
    kind: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[Job]:
    """The caller's jobs, newest first; with `everybody` those of the cohort (staff) or of all (administrator).

    With `fold` of each array only its newest job.
    """
    with platform.store.reading() as session:
        cohort_id = None if cohort is None else access.cohort_for(session, caller, cohort).id
        if everybody and cohort_id is not None:
            access.require_staff(session, caller, cohort_id)
        elif everybody and not caller.is_admin:
            raise Forbidden(
                Text("所有班的任务只有管理员能看", "only an administrator sees the jobs of all cohorts"),
                Text("教师、助教用 --cohort 指定自己的班", "staff: name your cohort with --cohort"),
                reason="admin_only",
            )
        elif caller.person_id is None:
            return []
        return repo.visible(
            session,
            person_id=None if everybody else caller.person_id,
            cohort_id=cohort_id,
            states=None if states is None else [state.value for state in states],
            kind=kind,
            fold=fold,
            before=before,
            limit=max(1, min(limit, 500)),
        )


def names_of(platform: Platform, rows: Sequence[Job]) -> dict[int, str]:
    """The names of those whose jobs `rows` are, by person; whether the caller may know them was asked for the list."""
    with platform.store.reading() as session:
        return usage.names(session, {row.person_id for row in rows})


def read_log(
    platform: Platform, caller: Caller, job_id: str, stream: str = "stdout", offset: int = 0, run: int | None = None
) -> LogPiece:
    """What a run (None: the present one) printed from byte `offset` on.

    Raises NotFound, and Forbidden for output that is for staff.
    """
    with platform.store.reading() as session:
        job = access.job_for(session, caller, job_id)
        access.require_output(session, caller, job)
        # Read before the log: what a run printed last is then never taken for the end of a later one.
        ended = JobState(job.state).ended
        number = job.run if run is None else run
    if number < 1:
        return LogPiece("", offset, ended, 0)
    text, following = jobdir.read_log(jobdir.job_dir(platform.folders.jobs, job.id), number, stream, offset)
    return LogPiece(text, following, ended and following == offset, number)


def queue_view(platform: Platform, caller: Caller, job_id: str) -> QueueView | None:
    """Where a PENDING job stands and when it will start; None once it has begun or ended."""
    with platform.store.reading() as session:
        job = access.job_for(session, caller, job_id)
        if job.state != JobState.PENDING.value:
            return None
        if "ahead" in (job.reason or {}):
            return _in_engine(platform, job.reason or {})
        waiting, running = repo.pending(session, QUEUE_LIMIT), repo.live(session)
        used = load_usage(session, platform).at(platform.now())
        usual = usual_lengths(session, [*waiting, *running])
    now = platform.now()
    held = [occupied(row) for row in running]
    ordered = queue(held, [to_waiting(row) for row in waiting], used if platform.settings.policy_fair_share else None)
    place = next((i for i, w in enumerate(ordered) if w.job == job.id), None)
    if place is None:
        return None
    found = estimate(now, nodes.known(platform), held, ordered, job.id, usual)
    if found is not None and job.not_before is not None and job.not_before > now:
        wait = (job.not_before - now).total_seconds()
        found = Estimate(low=max(found.low, wait), high=max(found.high, wait))
    code = (job.reason or {}).get("code")
    if code == "waiting_array":
        found = None  # it waits for the others of its array, which the estimate does not know of
    return QueueView(place + 1, place, found, code, _sentence(place, found, reason_text(job.reason)))


def _in_engine(platform: Platform, reason: dict[str, Any]) -> QueueView:
    """In an engine's own queue, as the engine tells it."""
    ahead, found = int(reason["ahead"]), None
    if reason.get("starts"):
        wait = max(0.0, float(reason["starts"]) - platform.now().timestamp())
        found = Estimate(low=wait, high=wait)
    return QueueView(ahead + 1, ahead, found, reason.get("code"), _sentence(ahead, found, reason_text(reason)))


def load_usage(session: Session, platform: Platform) -> Usage:
    """Everybody's decayed use, from the ledger."""
    half_life = platform.settings.queue_half_life_hours * 3600
    usage = Usage(half_life)
    for line in repo.ledger_after(session, 0, platform.now() - timedelta(seconds=_HALF_LIVES * half_life)):
        usage.add(line.person_id, line.cpu_seconds, line.gpu_seconds, line.ended_at)
    return usage


def usual_lengths(session: Session, rows: Iterable[Any]) -> dict[str, float]:
    """By job id, the median length of those of the same kind and name that completed lately."""
    lengths: dict[tuple[str, str], list[float]] = {}
    for past in repo.recent_walls(session, _RECENT):
        lengths.setdefault((past.kind, past.name), []).append((past.ended_at - past.started_at).total_seconds())
    medians = {key: median(values) for key, values in lengths.items()}
    return {row.id: medians[row.kind, row.name] for row in rows if (row.kind, row.name) in medians}


def to_waiting(row: Any) -> Waiting:
    """A line of `repo.pending` as policy sees it."""
    return Waiting(
        job=row.id,
        person=row.person_id,
        resources=Resources(cpus=row.cpus, memory=row.memory, gpus=row.gpus, nodes=row.nodes, exclusive=row.exclusive),
        label=Label(row.label),
        queued_at=row.queued_at,
        wall_limit=row.wall_limit,
        continues=row.continues,
        array=row.array_id,
        array_most=row.array_most,
    )


def occupied(row: Any) -> Occupied:
    """A line of `repo.live` as policy sees it."""
    return Occupied(
        job=row.id,
        person=row.person_id,
        node=row.node,
        cores=tuple(row.cores),
        cards=tuple(card["index"] for card in row.cards),
        memory=row.memory,
        started_at=row.started_at,
        wall_limit=row.wall_limit,
        cpus=row.cpus,
        array=row.array_id,
    )


def _sentence(ahead: int, found: Estimate | None, reason: Text | None) -> Text:
    zh = f"前面还有 {ahead} 个" if ahead else "下一个就是你"
    en = f"{ahead} in front" if ahead else "you are next"
    if found is not None:
        low, high = _span(found.low), _span(found.high)
        zh += f"，预计 {low.zh}后开始" if low == high else f"，预计 {low.zh}到 {high.zh}后开始"
        en += f", expected to start in {low.en}" if low == high else f", expected to start in {low.en} to {high.en}"
    if reason is not None:
        return Text(f"{zh}（{reason.zh}）", f"{en} ({reason.en})")
    return Text(zh, en)


def _span(seconds: float) -> Text:
    if seconds < 90:
        whole = max(1, round(seconds))
        return Text(f"{whole} 秒", f"{whole} s")
    if seconds < 5400:
        return Text(f"{round(seconds / 60)} 分钟", f"{round(seconds / 60)} min")
    return Text(f"{seconds / 3600:.1f} 小时", f"{seconds / 3600:.1f} h")
