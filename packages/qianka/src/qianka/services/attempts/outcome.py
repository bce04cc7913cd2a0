"""The end of an attempt, or another try after a platform fault; and the grade that follows from it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.errors import Text
from qianka.grading import feedback
from qianka.grading.advice import advise
from qianka.grading.judge import Evidence, Judgement
from qianka.grading.model import MAX_POINTS
from qianka.policy.retry import delay
from qianka.services import audit, dates, events
from qianka.services.attempts.case import Case
from qianka.services.attempts.conditions import conditions_of
from qianka.services.attempts.evidence import isolation
from qianka.services.dates import UNCOUNTED as UNCOUNTED
from qianka.services.platform import Caller, Platform
from qianka.store.repos import attempts as repo
from qianka.store.repos import groups
from qianka.store.tables import Attempt, Cohort, Lab, Submission


def finish(platform: Platform, case: Case, judgement: Judgement, evidence: Evidence) -> bool:
    """Close the attempt with `judgement`; a fault of ours is retried first. Whether anything was written."""
    if judgement.verdict is Verdict.INFRA_ERROR and _retry(platform, case, judgement):
        return True
    rules = case.rules(platform)
    told = feedback.for_student(rules, judgement, evidence)
    notes = feedback.for_staff(judgement, evidence)
    conditions = conditions_of(platform, case, evidence.reference)
    with platform.store.transaction() as session:
        attempt = _live(session, case)
        if attempt is None:
            return False
        attempt.feedback, attempt.staff_notes = told, notes
        attempt.points, attempt.max_points, attempt.score = judgement.points, judgement.max_points, judgement.score
        attempt.isolation = isolation(case)
        _close(session, platform, case, attempt, judgement.verdict, judgement.fault)
        attempt.conditions = conditions
        if attempt.counts:
            why = "rerun" if attempt.why == "rerun" else "graded"
            for person_id in graded_people(session, case.submission):
                update_grade(session, platform, case.lab, person_id, rules.grade, why)
    return True


def give_up(platform: Platform, case: Case, fault: str) -> bool:
    """Close an attempt that cannot even be looked at (its lab is gone, say), after the usual retries."""
    judgement = Judgement(
        verdict=Verdict.INFRA_ERROR,
        points=None,
        max_points=MAX_POINTS,
        score=None,
        checks=(),
        advice=advise(Verdict.INFRA_ERROR, "", None, ""),
        fault=fault,
    )
    if _retry(platform, case, judgement):
        return True
    with platform.store.transaction() as session:
        attempt = _live(session, case)
        if attempt is None:
            return False
        attempt.staff_notes = {"format": feedback.FORMAT, "flags": [], "fault": fault}
        _close(session, platform, case, attempt, Verdict.INFRA_ERROR, fault)
    return True


def graded_people(session: Session, submission: Submission) -> list[int]:
    """Whose grade a hand-in may change: that of whoever made it, and of everybody in the group it is for."""
    members = [] if submission.group_id is None else groups.member_ids(session, submission.group_id)
    return list(dict.fromkeys([submission.person_id, *members]))


def update_grade(
    session: Session, platform: Platform, lab: Lab, person_id: int, policy: str, why: str = "graded"
) -> None:
    """Make the grade of a person what the policy (best or last) says over all attempts that count.

    What being late costs follows from the person's dates. With late days to spend, the person's other labs
    are looked at as well: what one lab takes, another may lack.
    """
    cohort = session.get(Cohort, lab.cohort_id)
    if cohort is None:
        return
    session.flush()
    book = dates.read(session, platform, cohort, [person_id], labs=[lab.id]).counting(lab.id, last=policy == "last")
    cause = dates.Cause(why=why, caller=Caller.system())
    dates.write(session, platform, book, dates.moves(book), cause)


def last_of_each(pairs: list[tuple[Attempt, Submission]]) -> list[tuple[Attempt, Submission]]:
    """The newest attempt that counts of each submission, in the order of handing in."""
    newest: dict[str, tuple[Attempt, Submission]] = {}
    for attempt, submission in pairs:
        if attempt.verdict is not None and Verdict(attempt.verdict) not in UNCOUNTED:
            newest[submission.id] = (attempt, submission)
    return list(newest.values())


def _retry(platform: Platform, case: Case, judgement: Judgement) -> bool:
    """Put the attempt aside for a while; False once it was tried often enough."""
    with platform.store.transaction() as session:
        attempt = _live(session, case)
        if attempt is None:
            return True
        if attempt.retries >= platform.settings.queue_max_retry:
            return False
        wait = delay(attempt.retries)
        attempt.retries += 1
        attempt.next_try_at = platform.now() + timedelta(seconds=wait)
        attempt.staff_notes = {"fault": judgement.fault, "retries": attempt.retries}
        events.emit_of_attempt(session, platform, attempt, "retrying", seconds=wait, retries=attempt.retries)
        _audit(session, platform, attempt, "attempt.retry", fault=judgement.fault)
    return True


def _close(
    session: Session, platform: Platform, case: Case, attempt: Attempt, verdict: Verdict, fault: str | None
) -> None:
    words = VERDICTS[verdict]
    attempt.state = "cancelled" if verdict is Verdict.CANCELLED else "done"
    attempt.verdict, attempt.ended_at, attempt.next_try_at, attempt.stage = verdict.value, platform.now(), None, ""
    if attempt.feedback is None:
        attempt.feedback = _bare_feedback(verdict)
    if not words.charged and attempt.counts:
        submission = session.get(Submission, attempt.submission_id)
        if submission is not None:
            submission.charged = False
    session.flush()
    events.emit_of_attempt(
        session,
        platform,
        attempt,
        "verdict",
        verdict=verdict.value,
        zh=words.zh,
        en=words.en,
        points=attempt.points,
        max_points=attempt.max_points,
        score=attempt.score,
    )
    if attempt.counts:
        events.emit(session, platform, f"board:{case.lab.id}", "changed")
    details: dict[str, Any] = {"verdict": verdict.value, "points": attempt.points}
    _audit(session, platform, attempt, "attempt.verdict", **details, **({"fault": fault} if fault else {}))


def _bare_feedback(verdict: Verdict) -> dict[str, Any]:
    words, advice = VERDICTS[verdict], advise(verdict, "", None, "")
    return {
        "format": feedback.FORMAT,
        "verdict": verdict.value,
        "title": Text(words.zh, words.en)._asdict(),
        "advice": advice._asdict(),
        "points": None,
        "max_points": MAX_POINTS,
        "score": None,
        "metric": None,
        "digits": 4,
        "late": False,
        **dict.fromkeys(("stage", "exception", "file", "line", "message")),
        "encoding": [],
        "problems": [],
        "checks": [],
        "stages": [],
    }


def _live(session: Session, case: Case) -> Attempt | None:
    """The attempt, while it still is as it was looked at: not ended, not retried meanwhile."""
    attempt = session.get(Attempt, case.attempt.id)
    if attempt is None or attempt.state not in repo.LIVE or attempt.retries != case.attempt.retries:
        return None
    return attempt


def _audit(session: Session, platform: Platform, attempt: Attempt, action: str, **details: Any) -> None:
    audit.record(session, platform, Caller.system(), action, f"attempt:{attempt.id}", **details)
