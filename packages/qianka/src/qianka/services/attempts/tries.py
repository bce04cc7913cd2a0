"""How many tries a person has used in a lab before a hand-in: what hints wait for."""

from __future__ import annotations

from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.services.attempts.case import Case
from qianka.services.platform import Platform
from qianka.store.repos import attempts as repo


def tries_before(platform: Platform, case: Case) -> int:
    """Hand-ins of the person in the lab before this one that were graded and used up a try.

    Counted by the moment of handing in, so grading the same hand-in again gives the same number.
    """
    mine = case.submission
    with platform.store.reading() as session:
        pairs = repo.done_in_lab(session, case.lab.id, case.attempt.person_id)
    return len(
        {
            submission.id
            for attempt, submission in pairs
            if attempt.verdict is not None
            and VERDICTS[Verdict(attempt.verdict)].charged
            and (submission.submitted_at, submission.id) < (mine.submitted_at, mine.id)
        }
    )
