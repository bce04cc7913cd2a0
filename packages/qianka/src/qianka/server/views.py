"""Rows and results of services as bodies of the API, in the caller's language."""

from __future__ import annotations

from collections.abc import Sequence

from qianka.domain.jobs import JobState
from qianka.errors import Language
from qianka.schemas.auth import Me, Membership, PlatformKey
from qianka.schemas.boards import Budget
from qianka.schemas.cohorts import Cohort
from qianka.schemas.jobs import ArrayJob, Job, JobArray, JobRun
from qianka.schemas.submissions import QueueView
from qianka.services import budgets, events, jobs, people, submissions
from qianka.services.platform import Caller, Platform
from qianka.store import tables


def me_of(platform: Platform, caller: Caller, csrf: str | None) -> Me:
    """Who the caller is."""
    cursor = events.newest(platform)
    person, mine = people.memberships(platform, caller)
    return Me(
        login=person.login,
        name=person.name,
        alias=person.alias,
        language=person.language,
        is_admin=person.is_admin,
        cohorts=[_membership(cohort, row) for cohort, row in mine],
        show_name=person.show_name,
        csrf=csrf,
        cursor=cursor,
    )


def _membership(of: tables.Cohort, row: tables.Enrollment) -> Membership:
    state = "archived" if row.state == "active" and of.archived_at is not None else row.state
    return Membership(cohort=of.slug, title=of.title, role=row.role, state=state)


def cohort(row: tables.Cohort, roles: dict[str, str]) -> Cohort:
    """A cohort; `roles`: what the caller is, by slug."""
    return Cohort.model_validate(row).model_copy(update={"role": roles.get(row.slug)})


def job(row: tables.Job, caller: Caller, language: Language, runs: Sequence[tables.Run] = ()) -> Job:
    """A job and what its accepted run used."""
    is_unknown = row.state == JobState.UNKNOWN.value
    reason = jobs.unknown_text(row.answered_at) if is_unknown else jobs.reason_text(row.reason)
    result = row.result or {}
    return Job(
        id=row.id,
        name=row.name,
        kind=row.kind,
        mine=row.person_id == caller.person_id,
        attempt=row.attempt_id,
        label=row.label,
        state=row.state,
        reason=row.reason,
        reason_text=None if reason is None else reason.say(language),
        cpus=row.cpus,
        memory=row.memory,
        gpus=row.gpus,
        nodes=row.nodes,
        exclusive=row.exclusive,
        wall_limit=row.wall_limit,
        run=row.run,
        argv=[str(part) for part in row.spec.get("argv", [])] if row.kind == "run" else [],
        array=row.array_id,
        array_index=row.array_index,
        array_most=row.array_most,
        queued_at=row.queued_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        answered_at=row.answered_at if is_unknown else None,
        exit_code=result.get("exit_code"),
        wall=result.get("wall"),
        cpu=result.get("cpu"),
        peak_memory=result.get("peak_memory"),
        node=result.get("node"),
        isolation=result.get("isolation"),
        charged=row.charged,
        runs=[JobRun.model_validate(run) for run in runs],
    )


def with_people(platform: Platform, rows: Sequence[tables.Job], shown: Sequence[Job]) -> list[Job]:
    """`shown`, which are `rows`, with whose each is: for a list of everybody's that staff may see."""
    names = jobs.names_of(platform, rows)
    return [one.model_copy(update={"person": names.get(row.person_id)}) for row, one in zip(rows, shown, strict=True)]


def with_states(platform: Platform, shown: Sequence[Job]) -> list[Job]:
    """`shown` with how the whole array of each stands."""
    ids = sorted({one.array for one in shown if one.array is not None})
    found = jobs.array_states(platform, ids) if ids else {}
    return [one.model_copy(update={"array_states": found.get(one.array or "")}) for one in shown]


def job_array(found: jobs.JobArray, caller: Caller, language: Language) -> JobArray:
    """An array and its jobs."""
    shown = [job(row, caller, language) for row in found.jobs]
    lines = [
        ArrayJob(
            id=one.id,
            index=one.array_index or 0,
            state=one.state,
            reason_text=one.reason_text,
            exit_code=one.exit_code,
            wall=one.wall,
        )
        for one in shown
    ]
    return JobArray(id=found.id, name=shown[0].name, most=shown[0].array_most, states=found.states, jobs=lines)


def with_queue(platform: Platform, caller: Caller, shown: Job, language: Language) -> Job:
    """`shown` with its place in the queue, while it waits."""
    if shown.state != JobState.PENDING.value:
        return shown
    found = jobs.queue_view(platform, caller, shown.id)
    return shown if found is None else shown.model_copy(update={"queue": queue(found, language)})


def queue(found: jobs.QueueView, language: Language) -> QueueView:
    """Where something waits."""
    return QueueView(
        position=found.position,
        ahead=found.ahead,
        low=None if found.estimate is None else found.estimate.low,
        high=None if found.estimate is None else found.estimate.high,
        code=found.code,
        sentence=found.sentence.say(language),
    )


def budget(slug: str, found: budgets.Budget) -> Budget:
    """A person's week in a cohort."""
    return Budget(
        cohort=slug,
        week_starts_at=found.start,
        week_ends_at=found.end,
        zone=found.zone,
        cpu_limit=found.cpu.limit,
        cpu_used=found.cpu.used,
        cpu_held=found.cpu.reserved,
        gpu_limit=found.gpu.limit,
        gpu_used=found.gpu.used,
        gpu_held=found.gpu.reserved,
    )


def platform_key(platform: Platform) -> PlatformKey:
    """The public key of this platform's receipts."""
    key = submissions.key_of(platform)
    return PlatformKey(key_id=key.key_id, public_key=key.public)
