"""The page of a hand-in: live state, verdict, checks, advice, receipt, learning curve."""

from __future__ import annotations

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from qianka.errors import PlatformFault
from qianka.grading import feedback, stages
from qianka.server import curve, graded, provenanceviews
from qianka.server.pages.base import VisitorDep, me_of, page, to_sign_in
from qianka.server.rendering import page_language
from qianka.services import attempts, labs, submissions
from qianka.services.platform import Platform
from qianka.services.submissions.reading import Found

router = APIRouter()

USUAL = ("train", "predict", "style", "judge")


@router.get("/submission/{submission_id}", response_class=HTMLResponse)
def show_submission(submission_id: str, request: Request, found: VisitorDep) -> Response:
    """One hand-in as it stands; the script asks for the page again at each event."""
    if found is None:
        return to_sign_in(request)
    platform: Platform = request.app.state.platform
    language = page_language(request)
    handed = submissions.get(platform, found.caller, submission_id)
    shown = graded.submission(handed, language, with_files=True)
    attempt, told, line = None, None, ""
    if handed.attempt is not None:
        attempt = graded.whole_attempt(platform, found.caller, handed.attempt.id, language)
        row = attempts.get(platform, found.caller, attempt.id)
        # to_html escapes every text in it; tests/server/test_pages.py feeds it hostile ones.
        told = None if row.feedback is None else Markup(feedback.to_html(row.feedback, language))  # noqa: S704
        line = curve.polyline(curve.of_attempt(platform, attempt.id))
    made = provenanceviews.shown(platform, found.caller, submission_id, language)
    live = f"attempt:{attempt.id}" if attempt is not None and attempt.state in ("queued", "running") else ""
    return page(
        request,
        "submission.html",
        me_of(request, found),
        submission=shown,
        attempt=attempt,
        feedback=told,
        zone=handed.cohort.zone,
        lab_title=handed.lab.title_en or handed.lab.title if language == "en" else handed.lab.title,
        stages=_stages(platform, handed),
        curve={"points": line, "width": curve.WIDTH, "height": curve.HEIGHT},
        live=live,
        made=made if made.files else None,
        lines={job.id: curve.line_of(job.curve.steps, job.curve.values) for job in made.jobs if job.curve},
    )


def _stages(platform: Platform, handed: Found) -> tuple[str, ...]:
    """The stages that the lab's present version has; the usual ones where its folder is damaged."""
    try:
        rules = labs.loaded(labs.version_folder(platform, handed.cohort.slug, handed.lab.slug, handed.lab.version))
    except PlatformFault:
        return USUAL
    return stages.names(rules)
