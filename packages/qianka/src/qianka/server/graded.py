"""Hand-ins and gradings as bodies of the API."""

from __future__ import annotations

from typing import Any

from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.errors import Language
from qianka.grading.feedback import findings as findings_of
from qianka.schemas.submissions import (
    Attempt,
    AttemptJob,
    Check,
    Comparison,
    FileDifference,
    HandedIn,
    HandedInFile,
    Refusal,
    Submission,
)
from qianka.server import views
from qianka.services import access, attempts, jobs, submissions
from qianka.services.platform import Caller, Platform
from qianka.services.submissions import Found
from qianka.store import tables
from qianka.store.repos import attempts as repo


def verdict_text(verdict: str | None, language: Language) -> str | None:
    """The sentence of a verdict."""
    if verdict is None:
        return None
    words = VERDICTS[Verdict(verdict)]
    return words.zh if language == "zh" else words.en


def attempt(row: tables.Attempt, language: Language) -> Attempt:
    """A grading from its row alone."""
    feedback = row.feedback or {}
    return Attempt(
        id=row.id,
        submission=row.submission_id,
        number=row.number,
        why=row.why,
        counts=row.counts,
        state=row.state,
        stage=row.stage,
        verdict=row.verdict,
        verdict_text=verdict_text(row.verdict, language),
        advice=_advice(row, feedback, language),
        findings=findings_of(feedback, language),
        points=row.points,
        max_points=row.max_points,
        score=row.score,
        checks=[_check(item, language) for item in feedback.get("checks", [])],
        isolation=row.isolation,
        retries=row.retries,
        queued_at=row.queued_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


def whole_attempt(platform: Platform, caller: Caller, attempt_id: str, language: Language) -> Attempt:
    """A grading with its stages, and while it waits its place in the queue. Raises NotFound."""
    row = attempts.get(platform, caller, attempt_id)
    with platform.store.reading() as session:
        stages = sorted(repo.jobs_of(session, row.id), key=lambda job: job.queued_at)
        readable = {job.id for job in stages if access.may_see_output(session, caller, job)}
    shown = attempt(row, language)
    shown.staff_notes = row.staff_notes
    shown.jobs = [AttemptJob.model_validate(job) for job in stages]
    for job in shown.jobs:
        job.output = job.id in readable
    waiting = next((job for job in stages if job.state == "PENDING"), None)
    if row.state in ("queued", "running") and waiting is not None:
        found = jobs.queue_view(platform, caller, waiting.id)
        shown.queue = None if found is None else views.queue(found, language)
    return shown


def submission(found: Found, language: Language, *, with_files: bool = False) -> Submission:
    """A hand-in with its newest grading."""
    row = found.submission
    return Submission(
        id=row.id,
        cohort=found.cohort.slug,
        zone=found.cohort.zone,
        lab=found.lab.slug,
        lab_title=found.lab.title,
        lab_title_en=found.lab.title_en,
        login=found.person.login,
        name=found.person.name,
        filename=row.filename,
        size=row.size,
        archive_sha256=row.archive_sha256,
        tree_sha256=row.tree_sha256,
        state=row.state,
        refusal=refusal(row, language),
        notes=[str(note.get(language, "")) for note in row.notes],
        late=row.late,
        charged=row.charged,
        same_as=row.same_as,
        submitted_at=row.submitted_at,
        files=[HandedInFile.model_validate(file) for file in row.files] if with_files else [],
        attempt=None if found.attempt is None else attempt(found.attempt, language),
    )


def handed_in(platform: Platform, caller: Caller, handed: submissions.HandedIn, language: Language) -> HandedIn:
    """The answer to a hand-in."""
    found = submissions.get(platform, caller, handed.submission.id)
    attempt = None if handed.attempt is None else whole_attempt(platform, caller, handed.attempt.id, language)
    receipt = None if handed.receipt is None else submissions.receipt_file(platform, handed.receipt)
    shown = submission(found, language, with_files=True)
    return HandedIn(submission=shown, receipt=receipt, attempt=attempt, again=handed.again)


def comparison(platform: Platform, caller: Caller, found: attempts.Comparison, language: Language) -> Comparison:
    """Two gradings side by side."""
    names = dict.fromkeys((found.a.submission_id, found.b.submission_id))
    return Comparison(
        a=attempt(found.a, language),
        b=attempt(found.b, language),
        submissions=[submission(submissions.get(platform, caller, name), language) for name in names],
        files=[FileDifference.model_validate(one) for one in found.files],
    )


def refusal(row: tables.Submission, language: Language) -> Refusal | None:
    """Why an invalid hand-in was not graded."""
    told = row.refusal
    if told is None:
        return None
    return Refusal(reason=told["reason"], message=told[language], hint=told.get(f"hint_{language}") or None)


def _advice(row: tables.Attempt, feedback: dict[str, Any], language: Language) -> str | None:
    if "advice" in feedback:
        return str(feedback["advice"][language])
    if row.verdict is None:
        return None
    words = VERDICTS[Verdict(row.verdict)]
    return words.advice_zh if language == "zh" else words.advice_en


def _check(item: dict[str, Any], language: Language) -> Check:
    return Check(
        kind=item["kind"],
        title=item["title"][language],
        points=item["points"],
        max_points=item["max"],
        message=item["detail"][language],
        facts=item.get("facts", {}),
    )
