"""Looking at attempts, and asking for another one."""

from __future__ import annotations

from qianka.errors import Conflict, Refused, Text
from qianka.ids import new_id
from qianka.services import access, audit, events
from qianka.services.platform import Caller, Platform
from qianka.store.repos import attempts as repo
from qianka.store.tables import Attempt, Lab, Submission


def get(platform: Platform, caller: Caller, attempt_id: str) -> Attempt:
    """An attempt of the caller's own, or in a cohort of theirs as staff. `staff_notes` only for staff.

    Raises NotFound.
    """
    with platform.store.reading() as session:
        attempt = access.attempt_for(session, caller, attempt_id)
        _hide(attempt, access.is_staff(session, caller, _cohort_of(session.get(Lab, attempt.lab_id))))
        session.expunge(attempt)
        submission = session.get(Submission, attempt.submission_id)
    if submission is not None and "late" in (attempt.feedback or {}):
        # Whether it is late follows from dates, which may have changed since the feedback was written.
        attempt.feedback = {**(attempt.feedback or {}), "late": submission.late}
    return attempt


def of_submission(platform: Platform, caller: Caller, submission_id: str) -> list[Attempt]:
    """The attempts of a submission, first one first. Raises NotFound."""
    with platform.store.reading() as session:
        submission = access.submission_for(session, caller, submission_id)
        staff = access.is_staff(session, caller, submission.cohort_id)
        found = [one for one in repo.of_submission(session, submission_id) if one.counts or staff]
        for attempt in found:
            session.expunge(attempt)
            _hide(attempt, staff)
    return found


def rerun(platform: Platform, caller: Caller, submission_id: str) -> Attempt:
    """Grade a submission again by the lab's present version; for staff. It never uses up a try.

    Raises NotFound, Forbidden, Refused (an invalid hand-in), Conflict (one is under way).
    """
    with platform.store.transaction() as session:
        submission = access.submission_for(session, caller, submission_id)
        access.require_staff(session, caller, submission.cohort_id)
        if submission.state != "accepted":
            raise Refused(
                Text("这份提交无效，没有可评的内容", "this hand-in is invalid: there is nothing to grade"),
                Text("请学生改好后重新提交", "the student must mend it and hand in again"),
                reason="invalid",
            )
        before = repo.of_submission(session, submission_id)
        if any(attempt.state in repo.LIVE and attempt.counts for attempt in before):
            raise Conflict(
                Text("这份提交正在评分", "this hand-in is being graded"),
                Text("等它结束后再重评", "wait until it has ended"),
                reason="under_way",
            )
        lab = session.get(Lab, submission.lab_id)
        attempt = Attempt(
            id=new_id("a"),
            submission_id=submission.id,
            lab_id=submission.lab_id,
            person_id=submission.person_id,
            number=repo.last_number(session, submission_id) + 1,
            why="rerun",
            state="queued",
            lab_version="" if lab is None else lab.version,
            queued_at=platform.now(),
        )
        session.add(attempt)
        session.flush()
        events.emit_of_attempt(session, platform, attempt, "queued")
        audit.record(session, platform, caller, "attempt.rerun", f"submission:{submission.id}", attempt=attempt.id)
    platform.wake_worker()
    return attempt


def _cohort_of(lab: Lab | None) -> int:
    return -1 if lab is None else lab.cohort_id


def _hide(attempt: Attempt, staff: bool) -> None:
    if not staff:
        attempt.staff_notes = None
