"""Jobs: submit, look at, follow, cancel."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import anyio
from fastapi import APIRouter, Header, Query, Request

from qianka.domain.jobs import JobState
from qianka.errors import BadInput, Text
from qianka.schemas.base import Page
from qianka.schemas.jobs import Code, DryRun, Job, JobLog, NewJob
from qianka.schemas.submissions import QueueView
from qianka.server import jobrequests, uploads, views
from qianka.server.deps import CallerDep, LanguageDep, Limit, PlatformDep
from qianka.services import code, jobs

router = APIRouter(tags=["jobs"])

_LOOK_EVERY = 0.25
_LONGEST_WAIT = 25.0

Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=8, max_length=200)]
Stream = Annotated[str, Query(pattern=r"^(peer\.)?(stdout|stderr)$")]


@router.post("/uploads", status_code=201)
async def upload_code(request: Request, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Code:
    """Send the code of a job as a zip or tar (raw body); the id is what the job is submitted with."""
    async with uploads.received(request, platform) as got:
        kept = await anyio.to_thread.run_sync(
            code.keep, platform, caller, got.path, got.filename, limiter=request.app.state.intake
        )
    notes = [note.say(language) for note in kept.tree.notes]
    return Code(id=kept.id, files=len(kept.tree.files), size=sum(f.size for f in kept.tree.files), notes=notes)


@router.post("/jobs", status_code=201)
def submit_job(
    body: NewJob, caller: CallerDep, platform: PlatformDep, language: LanguageDep, idempotency_key: Key = None
) -> Job:
    """Queue a job, or all jobs of an array (the first is answered); the same Idempotency-Key gives the same again."""
    request = jobrequests.request_of(platform, caller, body, idempotency_key)
    row = jobs.submit(platform, caller, request)
    (shown,) = views.with_states(platform, [views.job(row, caller, language)])
    return views.with_queue(platform, caller, shown, language)


@router.post("/jobs/dry-run")
def dry_run_job(body: NewJob, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> DryRun:
    """What submitting this would do: the exact batch script, the size, the most it can cost. No job is made."""
    found = jobs.dry_run(platform, caller, jobrequests.request_of(platform, caller, body, None))
    said = [sentence.say(language) for sentence in found.sentences]
    return DryRun(**{**vars(found), "sentences": said})


@router.get("/jobs")
def list_jobs(
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    cohort: Annotated[str | None, Query(max_length=100)] = None,
    everybody: Annotated[bool, Query(description="of the cohort (its staff) or of all (administrators)")] = False,
    state: Annotated[str | None, Query(description="PENDING, RUNNING, …; several by commas")] = None,
    kind: Annotated[str | None, Query(pattern="^(run|grade|reference)$")] = None,
    fold: Annotated[bool, Query(description="one line an array: its newest job, with array_states")] = False,
    after: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 50,
) -> Page[Job]:
    """Jobs, newest first."""
    rows = jobs.list_jobs(
        platform,
        caller,
        cohort=cohort,
        everybody=everybody,
        states=None if state is None else [_state(name) for name in state.split(",")],
        kind=kind,
        fold=fold,
        before=after,
        limit=min(limit, 500),
    )
    items = [views.job(row, caller, language) for row in rows]
    items = views.with_people(platform, rows, items) if everybody else items
    items = views.with_states(platform, items) if fold else items
    return Page[Job](items=items, next=items[-1].id if len(items) == min(limit, 500) else None)


@router.get("/jobs/{job_id}")
def get_job(job_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Job:
    """One job, its runs, and while it waits its place in the queue."""
    row, runs = jobs.get(platform, caller, job_id)
    return views.with_queue(platform, caller, views.job(row, caller, language, runs), language)


@router.get("/jobs/{job_id}/queue")
def get_job_queue(job_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> QueueView | None:
    """Place in the queue and estimate of a waiting job; null once it has begun."""
    found = jobs.queue_view(platform, caller, job_id)
    return None if found is None else views.queue(found, language)


@router.get("/jobs/{job_id}/logs")
async def get_job_log(
    job_id: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    stream: Stream = "stdout",
    offset: Annotated[int, Query(ge=0, description="bytes already had")] = 0,
    run: Annotated[int | None, Query(ge=1)] = None,
    wait: Annotated[float, Query(ge=0, le=_LONGEST_WAIT, description="seconds to wait for more")] = 0,
) -> JobLog:
    """A piece of what a job printed, from `offset` on; with `wait` it is held until there is more."""
    until = time.monotonic() + wait
    while True:
        piece = await anyio.to_thread.run_sync(jobs.read_log, platform, caller, job_id, stream, offset, run)
        if piece.text or piece.ended or time.monotonic() >= until or request.app.state.tail.closed:
            return JobLog(text=piece.text, offset=piece.offset, ended=piece.ended, run=piece.run)
        await asyncio.sleep(_LOOK_EVERY)


@router.post("/jobs/{job_id}/cancel")
def cancel_job(job_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Job:
    """Cancel a job; cancelling what has ended changes nothing."""
    return views.job(jobs.cancel(platform, caller, job_id), caller, language)


def _state(name: str) -> JobState:
    try:
        return JobState(name.strip().upper())
    except ValueError as error:
        known = ", ".join(state.value for state in JobState)
        hint = Text(f"可用：{known}", f"one of: {known}")
        raise BadInput(Text(f"没有状态 {name}", f"no state {name}"), hint) from error
