"""Queries on attempts and the grades that come from them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from qianka.store.tables import Attempt, Enrollment, Grade, GroupMember, Job, Lab, Person, Submission

LIVE = ("queued", "running")
OPEN_JOBS = ("PENDING", "RUNNING", "UNKNOWN")


def live(session: Session) -> list[Attempt]:
    """Attempts that have not ended, oldest first."""
    return list(session.scalars(select(Attempt).where(Attempt.state.in_(LIVE)).order_by(Attempt.queued_at, Attempt.id)))


def job_states(session: Session, attempt_ids: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """(job id, state) of the jobs of each attempt."""
    wanted = list(attempt_ids)
    found: dict[str, list[tuple[str, str]]] = {attempt: [] for attempt in wanted}
    for start in range(0, len(wanted), 500):
        query = select(Job.attempt_id, Job.id, Job.state).where(Job.attempt_id.in_(wanted[start : start + 500]))
        for attempt_id, job_id, state in session.execute(query.order_by(Job.id)):
            found[str(attempt_id)].append((job_id, state))
    return found


def cancelled_with_open_jobs(session: Session) -> list[str]:
    """Cancelled attempts of which a job still waits or runs."""
    query = (
        select(Attempt.id)
        .join(Job, Job.attempt_id == Attempt.id)
        .where(Attempt.state == "cancelled", Job.state.in_(OPEN_JOBS), Job.cancel_at.is_(None))
        .distinct()
    )
    return list(session.scalars(query))


def jobs_of(session: Session, attempt_id: str) -> list[Job]:
    """The jobs of an attempt, oldest first."""
    return list(session.scalars(select(Job).where(Job.attempt_id == attempt_id).order_by(Job.queued_at, Job.id)))


def of_submission(session: Session, submission_id: str) -> list[Attempt]:
    """The attempts of a submission, first one first."""
    query = select(Attempt).where(Attempt.submission_id == submission_id).order_by(Attempt.number)
    return list(session.scalars(query))


def last_number(session: Session, submission_id: str) -> int:
    """The number of the newest attempt of a submission that counts; 0 when there is none."""
    query = select(func.max(Attempt.number)).where(Attempt.submission_id == submission_id, Attempt.counts.is_(True))
    return session.scalar(query) or 0


def first_number(session: Session, submission_id: str) -> int:
    """The least number of all attempts of a submission: those that do not count are -1, -2, and so on."""
    return session.scalar(select(func.min(Attempt.number)).where(Attempt.submission_id == submission_id)) or 0


def done_in_lab(session: Session, lab_id: int, person_id: int | None = None) -> list[tuple[Attempt, Submission]]:
    """Ended attempts that count in a lab (for one person), with their submissions, in the order of handing in."""
    query = (
        select(Attempt, Submission)
        .join(Submission, Submission.id == Attempt.submission_id)
        .where(Attempt.lab_id == lab_id, Attempt.state == "done", Attempt.counts.is_(True))
        .order_by(Submission.submitted_at, Submission.id, Attempt.number)
    )
    if person_id is not None:
        groups = select(GroupMember.group_id).where(GroupMember.person_id == person_id, GroupMember.state == "member")
        query = query.where(or_(Attempt.person_id == person_id, Submission.group_id.in_(groups)))
    return [(attempt, submission) for attempt, submission in session.execute(query)]


def grade(session: Session, lab_id: int, person_id: int) -> Grade | None:
    """What counts for a person in a lab."""
    return session.scalar(select(Grade).where(Grade.lab_id == lab_id, Grade.person_id == person_id))


def grades_of_person(session: Session, person_id: int) -> list[tuple[Grade, Lab]]:
    """A person's grades with their labs."""
    query = select(Grade, Lab).join(Lab, Lab.id == Grade.lab_id).where(Grade.person_id == person_id).order_by(Lab.id)
    return [(grade, lab) for grade, lab in session.execute(query)]


def grades_of_cohort(session: Session, cohort_id: int) -> list[Grade]:
    """All grades in a cohort."""
    query = select(Grade).join(Lab, Lab.id == Grade.lab_id).where(Lab.cohort_id == cohort_id)
    return list(session.scalars(query))


def students(session: Session, cohort_id: int) -> list[tuple[Person, Enrollment]]:
    """The students of a cohort, active and suspended, by student number and login."""
    query = (
        select(Person, Enrollment)
        .join(Enrollment, Enrollment.person_id == Person.id)
        .where(Enrollment.cohort_id == cohort_id, Enrollment.role == "student")
        .order_by(Person.student_number.nulls_first(), Person.login)
    )
    return [(person, enrollment) for person, enrollment in session.execute(query)]
