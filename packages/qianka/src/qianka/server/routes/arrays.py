"""Job arrays: look at one, cancel one. Its jobs are jobs like any other; `ID_3` names that of index 3."""

from __future__ import annotations

from fastapi import APIRouter

from qianka.schemas.jobs import JobArray
from qianka.server import views
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.services import jobs

router = APIRouter(tags=["jobs"])


@router.get("/arrays/{array_id}")
def get_array(array_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> JobArray:
    """An array: its jobs in the order of their indexes, and how many are in which state."""
    return views.job_array(jobs.get_array(platform, caller, array_id), caller, language)


@router.post("/arrays/{array_id}/cancel")
def cancel_array(array_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> JobArray:
    """Cancel every job of an array that has not ended."""
    return views.job_array(jobs.cancel_array(platform, caller, array_id), caller, language)
