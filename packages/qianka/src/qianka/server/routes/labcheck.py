"""Checking a lab folder before it is published."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import anyio
from fastapi import APIRouter, Query, Request

from qianka.schemas.labs import LabReport
from qianka.server import publishing, uploads
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep

router = APIRouter(tags=["labs"])


@router.post("/cohorts/{cohort}/labs/check")
async def check_lab(
    cohort: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    practice: Annotated[bool, Query(description="the folder is a public.zip, without secrets")] = False,
) -> LabReport:
    """Every mistake in a lab folder sent as a zip (raw body), by file and line; nothing is published. For teachers."""
    async with uploads.received(request, platform) as got:
        check = partial(
            publishing.check_archive, platform, caller, cohort, got.path, practice=practice, language=language
        )
        return await anyio.to_thread.run_sync(check, limiter=request.app.state.intake)
