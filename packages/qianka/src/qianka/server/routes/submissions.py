"""Hand-ins: streamed upload, receipts, files."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import anyio
from fastapi import APIRouter, Query, Request
from starlette.responses import FileResponse, Response

from qianka.schemas.base import Page
from qianka.schemas.submissions import Attempt, HandedIn, Submission
from qianka.server import graded, uploads
from qianka.server.deps import CallerDep, LanguageDep, Limit, PlatformDep
from qianka.services import attempts, submissions
from qianka.services.submissions import Found

router = APIRouter(tags=["submissions"])


@router.post("/cohorts/{cohort}/labs/{lab}/submissions", status_code=201, openapi_extra=uploads.OPENAPI)
async def hand_in(
    cohort: str, lab: str, request: Request, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> HandedIn:
    """Hand in an archive: the raw body, with Idempotency-Key and X-Filename.

    The same key again is the same submission, whatever happened on the way. 201 means: stored, receipted.
    """
    key = uploads.idempotency_key(request)
    async with uploads.received(request, platform) as got:
        take = partial(
            submissions.hand_in,
            platform,
            caller,
            cohort,
            lab,
            got.path,
            got.filename,
            key,
            sha256=got.sha256,
            size=got.size,
        )
        handed = await anyio.to_thread.run_sync(take, limiter=request.app.state.intake)
    return await anyio.to_thread.run_sync(graded.handed_in, platform, caller, handed, language)


@router.get("/cohorts/{cohort}/labs/{lab}/submissions")
def list_lab_submissions(
    cohort: str,
    lab: str,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    login: Annotated[str | None, Query(max_length=100, description="somebody else's, for staff")] = None,
    everybody: Annotated[bool, Query(description="of the whole cohort, for staff")] = False,
    after: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 100,
) -> Page[Submission]:
    """Hand-ins of a lab, newest first."""
    many = min(limit, 500)
    found: list[Found] = submissions.list_submissions(
        platform, caller, cohort, lab, login=login, everybody=everybody, before=after, limit=many
    )
    items = [graded.submission(one, language) for one in found]
    return Page[Submission](items=items, next=items[-1].id if len(items) == many else None)


@router.get("/cohorts/{cohort}/submissions")
def search_submissions(
    cohort: str,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    lab: Annotated[str | None, Query(max_length=100)] = None,
    words: Annotated[str, Query(max_length=100, description="in login, name or student number")] = "",
    section: Annotated[str | None, Query(max_length=100)] = None,
    verdict: Annotated[str | None, Query(max_length=40, description="a verdict, waiting or invalid")] = None,
    after: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 50,
) -> Page[Submission]:
    """Hand-ins of a whole cohort, newest first; for staff."""
    found = submissions.search(
        platform,
        caller,
        cohort,
        lab_slug=lab,
        words=words,
        section=section,
        verdict=verdict,
        before=after,
        limit=min(limit, 500),
    )
    items = [graded.submission(one, language) for one in found]
    return Page[Submission](items=items, next=items[-1].id if len(items) == min(limit, 500) else None)


@router.get("/submissions/{submission_id}")
def get_submission(submission_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Submission:
    """One hand-in with its files and its newest grading."""
    return graded.submission(submissions.get(platform, caller, submission_id), language, with_files=True)


@router.get("/submissions/{submission_id}/receipt", response_class=Response)
def get_receipt(submission_id: str, caller: CallerDep, platform: PlatformDep) -> Response:
    """The signed receipt as the file to keep; every byte counts."""
    text = submissions.receipt_file(platform, submissions.receipt_of(platform, caller, submission_id))
    name = f"{submission_id}.receipt.json"
    return Response(
        text, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


@router.get("/submissions/{submission_id}/archive", response_class=FileResponse)
def get_archive(submission_id: str, caller: CallerDep, platform: PlatformDep) -> FileResponse:
    """The archive exactly as it was handed in."""
    path = submissions.archive_of(platform, caller, submission_id)
    name = submissions.get(platform, caller, submission_id).submission.filename
    return FileResponse(path, media_type="application/octet-stream", filename=name)


@router.post("/submissions/{submission_id}/rerun", tags=["attempts"], status_code=201)
def rerun(submission_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Attempt:
    """Grade a hand-in again; for staff, and free of charge."""
    return graded.attempt(attempts.rerun(platform, caller, submission_id), language)


@router.post("/submissions/{submission_id}/verify")
def verify_stored(submission_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> list[str]:
    """How the stored bytes differ from those signed for; empty when they do not. For staff, audited."""
    return [text.say(language) for text in submissions.verify_stored(platform, caller, submission_id)]
