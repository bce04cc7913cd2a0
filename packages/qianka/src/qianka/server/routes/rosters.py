"""The roster of a cohort: previewed, then applied as previewed."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from qianka.schemas.people import RosterApplied, RosterPreview
from qianka.server import rosterviews
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.services import people

router = APIRouter(tags=["people"])

Encoding = Annotated[str | None, Query(max_length=40, description="when the guess is wrong")]
Mode = Annotated[
    Literal["append", "replace"] | None, Query(description="append: add only; replace: drop who is missing")
]
_BYTES = {"schema": {"type": "string", "format": "binary"}}
_FILE = {"requestBody": {"required": True, "content": {"application/octet-stream": _BYTES, "text/csv": _BYTES}}}


@router.post("/cohorts/{cohort}/roster/preview", openapi_extra=_FILE)
async def preview_roster(
    cohort: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    encoding: Encoding = None,
    mode: Mode = None,
) -> RosterPreview:
    """How a roster (raw body: CSV, XLSX, a registrar's .xls) is read and what it would change; nothing is written."""
    data = await request.body()
    found = await run_in_threadpool(people.preview_roster, platform, caller, cohort, data, encoding, mode)
    return rosterviews.preview(found, language)


@router.post("/cohorts/{cohort}/roster/apply", openapi_extra=_FILE)
async def apply_roster(
    cohort: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    digest: Annotated[str, Query(max_length=100, description="of the preview")],
    encoding: Encoding = None,
    mode: Mode = None,
) -> RosterApplied:
    """Do what the preview with that digest showed. New people's codes are in this answer and nowhere else."""
    data = await request.body()
    done = await run_in_threadpool(people.apply_roster, platform, caller, cohort, data, encoding, digest, mode)
    return rosterviews.applied(done, language)
