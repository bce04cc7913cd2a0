"""The same files handed in once more after the due date: graded already, so not graded again."""

from __future__ import annotations

from sqlalchemy.orm import Session

from qianka.domain.verdicts import Verdict
from qianka.ids import new_id
from qianka.services.dates import UNCOUNTED
from qianka.store.repos import submissions
from qianka.store.tables import Attempt, Lab, Submission


def copied(session: Session, lab: Lab, submission: Submission) -> Attempt | None:
    """A copy of the grading of the earlier twin; None without one, or where it is not graded by this version.

    Without the copy anybody could have the platform grade one hand-in as often as they like: it costs no try.
    """
    if submission.same_as is None:
        return None
    first = submissions.newest_attempts(session, [submission.same_as]).get(submission.same_as)
    if first is None or first.state != "done" or first.lab_version != lab.version or first.verdict is None:
        return None
    if Verdict(first.verdict) in UNCOUNTED:
        return None
    now = submission.submitted_at
    return Attempt(
        id=new_id("a"),
        submission_id=submission.id,
        lab_id=lab.id,
        person_id=submission.person_id,
        number=1,
        why="same",
        state="done",
        lab_version=first.lab_version,
        verdict=first.verdict,
        points=first.points,
        max_points=first.max_points,
        score=first.score,
        feedback=None if first.feedback is None else {**first.feedback, "late": submission.late},
        staff_notes=first.staff_notes,
        isolation=first.isolation,
        conditions=first.conditions,
        queued_at=now,
        started_at=now,
        ended_at=now,
    )
