"""Queries on regrades and their attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from qianka.store.tables import Attempt, Enrollment, Grade, GradeChange, GroupMember, Lab, Person, Regrade, Submission

_CHUNK = 500


def open_in(session: Session, lab_id: int) -> Regrade | None:
    """The regrade of a lab that is neither applied nor dropped."""
    return session.scalar(select(Regrade).where(Regrade.open_lab_id == lab_id))


def of_lab(session: Session, lab_id: int) -> list[Regrade]:
    """The regrades of a lab, newest first."""
    query = select(Regrade).where(Regrade.lab_id == lab_id)
    return list(session.scalars(query.order_by(Regrade.started_at.desc(), Regrade.id.desc())))


def candidates(
    session: Session,
    lab: Lab,
    *,
    people: Sequence[int] | None = None,
    submissions: Sequence[str] | None = None,
    counting: bool = False,
) -> list[Submission]:
    """The accepted hand-ins of students in a lab that were or are being graded, in the order of handing in."""
    graded = select(Attempt.submission_id).where(
        Attempt.lab_id == lab.id, Attempt.counts.is_(True), Attempt.state != "cancelled"
    )
    students = select(Enrollment.person_id).where(Enrollment.cohort_id == lab.cohort_id, Enrollment.role == "student")
    query = select(Submission).where(
        Submission.lab_id == lab.id,
        Submission.state == "accepted",
        Submission.id.in_(graded),
        Submission.person_id.in_(students),
    )
    if people is not None:
        groups = select(GroupMember.group_id).where(GroupMember.person_id.in_(people), GroupMember.state == "member")
        query = query.where(or_(Submission.person_id.in_(people), Submission.group_id.in_(groups)))
    if submissions is not None:
        query = query.where(Submission.id.in_(submissions))
    if counting:
        best = select(Attempt.submission_id).join(Grade, Grade.attempt_id == Attempt.id).where(Grade.lab_id == lab.id)
        query = query.where(Submission.id.in_(best))
    return list(session.scalars(query.order_by(Submission.submitted_at, Submission.id)))


def numbers(session: Session, lab_id: int) -> dict[str, tuple[int, int]]:
    """(least, greatest) number of the attempts of each hand-in in a lab."""
    query = (
        select(Attempt.submission_id, func.min(Attempt.number), func.max(Attempt.number))
        .where(Attempt.lab_id == lab_id)
        .group_by(Attempt.submission_id)
    )
    return {submission: (low, high) for submission, low, high in session.execute(query)}


def attempts_of(session: Session, regrade_id: str) -> list[Attempt]:
    """The attempts of a regrade, in the order of handing in."""
    query = (
        select(Attempt)
        .join(Submission, Submission.id == Attempt.submission_id)
        .where(Attempt.regrade_id == regrade_id)
        .order_by(Submission.submitted_at, Submission.id)
    )
    return list(session.scalars(query))


def changes_of(session: Session, regrade_id: str) -> list[GradeChange]:
    """The grades that a regrade has changed."""
    query = select(GradeChange).where(GradeChange.regrade_id == regrade_id)
    return list(session.scalars(query.order_by(GradeChange.person_id, GradeChange.lab_id)))


def by_ids(session: Session, attempts: Iterable[str]) -> dict[str, Attempt]:
    """Attempts by id."""
    wanted, found = sorted(set(attempts)), {}
    for start in range(0, len(wanted), _CHUNK):
        query = select(Attempt).where(Attempt.id.in_(wanted[start : start + _CHUNK]))
        found.update({row.id: row for row in session.scalars(query)})
    return found


def owners(session: Session, submissions: Iterable[str]) -> dict[str, tuple[str, str]]:
    """(login, name) of who sent each hand-in."""
    wanted, found = sorted(set(submissions)), {}
    for start in range(0, len(wanted), _CHUNK):
        query = (
            select(Submission.id, Person.login, Person.name)
            .join(Person, Person.id == Submission.person_id)
            .where(Submission.id.in_(wanted[start : start + _CHUNK]))
        )
        found.update({row[0]: (row[1], row[2]) for row in session.execute(query)})
    return found


def graded_by_other_versions(session: Session, lab: Lab) -> int:
    """How many grades of a lab come from another version than the present one."""
    query = (
        select(func.count())
        .select_from(Grade)
        .join(Attempt, Attempt.id == Grade.attempt_id)
        .where(Grade.lab_id == lab.id, Attempt.lab_version != lab.version)
    )
    return session.scalar(query) or 0
