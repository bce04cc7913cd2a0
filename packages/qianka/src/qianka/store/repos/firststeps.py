"""Counts for a teacher's first steps in a cohort."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from qianka.store.tables import Attempt, Enrollment, Lab, Person, Submission, Token


def students(session: Session, cohort_id: int) -> int:
    """How many active students there are."""
    query = select(func.count()).where(
        Enrollment.cohort_id == cohort_id, Enrollment.role == "student", Enrollment.state == "active"
    )
    return session.scalar(query) or 0


def never_signed_in(session: Session, cohort_id: int) -> int:
    """How many active students have neither a password of their own nor ever had a session."""
    query = (
        select(func.count())
        .select_from(Enrollment)
        .join(Person, Person.id == Enrollment.person_id)
        .where(
            Enrollment.cohort_id == cohort_id,
            Enrollment.role == "student",
            Enrollment.state == "active",
            Person.password_hash.is_(None),
            ~select(Token.id).where(Token.person_id == Person.id).exists(),
        )
    )
    return session.scalar(query) or 0


def tried_labs(session: Session, cohort_id: int, roles: tuple[str, ...]) -> set[int]:
    """The labs in which a hand-in of staff was accepted by the grading of the lab's present version."""
    query = (
        select(Attempt.lab_id)
        .join(Lab, Lab.id == Attempt.lab_id)
        .join(Submission, Submission.id == Attempt.submission_id)
        .join(Person, Person.id == Submission.person_id)
        .outerjoin(Enrollment, (Enrollment.person_id == Person.id) & (Enrollment.cohort_id == Submission.cohort_id))
        .where(
            Lab.cohort_id == cohort_id,
            Attempt.lab_version == Lab.version,
            Attempt.verdict == "accepted",
            Attempt.counts.is_(True),
            Enrollment.role.in_(roles) | Person.is_admin.is_(True),
        )
        .distinct()
    )
    return set(session.scalars(query))
