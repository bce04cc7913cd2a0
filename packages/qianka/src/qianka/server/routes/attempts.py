"""Gradings: state, feedback, learning curve."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from qianka.grading import feedback
from qianka.schemas.submissions import Attempt, Comparison
from qianka.server import curve, graded
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.services import attempts

router = APIRouter(tags=["attempts"])


@router.get("/attempts/{attempt_id}")
def get_attempt(attempt_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Attempt:
    """One grading: stages, place in the queue, verdict, points, checks, advice."""
    return graded.whole_attempt(platform, caller, attempt_id, language)


@router.get("/submissions/{submission_id}/attempts")
def list_attempts(submission_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> list[Attempt]:
    """All gradings of a hand-in, first one first."""
    return [graded.attempt(row, language) for row in attempts.of_submission(platform, caller, submission_id)]


@router.get("/attempts/{attempt_id}/feedback")
def get_feedback(attempt_id: str, caller: CallerDep, platform: PlatformDep) -> dict[str, Any] | None:
    """The whole feedback in both languages; null until it is graded."""
    return attempts.get(platform, caller, attempt_id).feedback


@router.get("/attempts/{attempt_id}/feedback.html", response_class=HTMLResponse)
def get_feedback_html(attempt_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> HTMLResponse:
    """The feedback as an escaped fragment of HTML; empty until it is graded."""
    told = attempts.get(platform, caller, attempt_id).feedback
    return HTMLResponse("" if told is None else feedback.to_html(told, language))


@router.get("/attempts/{attempt_id}/compare/{other}")
def compare_attempts(
    attempt_id: str, other: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> Comparison:
    """Two gradings of one lab side by side: figures, checks, and how the code differs."""
    return graded.comparison(platform, caller, attempts.compare(platform, caller, attempt_id, other), language)


@router.get("/attempts/{attempt_id}/metrics")
def get_metrics(attempt_id: str, caller: CallerDep, platform: PlatformDep) -> list[dict[str, Any]]:
    """What training wrote to metrics.jsonl so far: at most 2,000 lines, evenly left out."""
    attempts.get(platform, caller, attempt_id)
    return curve.as_json(curve.of_attempt(platform, attempt_id))
