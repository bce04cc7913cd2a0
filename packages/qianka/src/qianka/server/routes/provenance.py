"""Where a hand-in came from."""

from __future__ import annotations

from fastapi import APIRouter

from qianka.schemas.provenance import Provenance
from qianka.server import provenanceviews
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep

router = APIRouter(tags=["submissions"])


@router.get("/submissions/{submission_id}/provenance")
def get_provenance(submission_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Provenance:
    """The jobs, seeds and curves that made a hand-in, beside what cannot be traced."""
    return provenanceviews.shown(platform, caller, submission_id, language)
