"""Queries on extensions, and on what grades follow from: few columns of many rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.orm import Session

from qianka.store.tables import (
    Attempt,
    Enrollment,
    Extension,
    Grade,
    GradeChange,
    GroupMember,
    Lab,
    Person,
    Submission,
)

_CHUNK = 500  # parameters in one IN (…): SQLite's older limit is 999


class Graded(NamedTuple):
    """An ended attempt, without its feedback."""

    attempt: str
    submission: str
    lab_id: int
    number: int
    why: str
    verdict: str | None
    points: float | None
    max_points: float | None
    lab_version: str
    counts: bool


class Handed(NamedTuple):
    """An accepted hand-in."""

    submission: str
    lab_id: int
    person_id: int
    group_id: int | None
    tree_sha256: str | None
    submitted_at: datetime
    late: bool


def extensions(session: Session, cohort_id: int) -> list[Extension]:
    """The extensions of a cohort that hold, oldest first."""
    query = select(Extension).where(Extension.cohort_id == cohort_id, Extension.revoked_at.is_(None))
    return list(session.scalars(query.order_by(Extension.created_at, Extension.id)))


def listed_extensions(
    session: Session, cohort_id: int, *, lab_id: int | None, revoked: bool
) -> list[tuple[Extension, Person | None, Lab | None]]:
    """Extensions with whom and what they are for, newest first; of one lab: with those for all labs."""
    query = (
        select(Extension, Person, Lab)
        .outerjoin(Person, Person.id == Extension.person_id)
        .outerjoin(Lab, Lab.id == Extension.lab_id)
        .where(Extension.cohort_id == cohort_id)
        .order_by(Extension.created_at.desc(), Extension.id.desc())
    )
    if lab_id is not None:
        query = query.where(or_(Extension.lab_id == lab_id, Extension.lab_id.is_(None)))
    if not revoked:
        query = query.where(Extension.revoked_at.is_(None))
    return [(extension, person, lab) for extension, person, lab in session.execute(query)]


def enrollments(session: Session, cohort_id: int, people: Sequence[int] | None = None) -> dict[int, Enrollment]:
    """Who is in a cohort, by person."""
    query = select(Enrollment).where(Enrollment.cohort_id == cohort_id)
    if people is not None:
        query = query.where(Enrollment.person_id.in_(people))
    return {row.person_id: row for row in session.scalars(query)}


def labs(session: Session, cohort_id: int) -> dict[int, Lab]:
    """The labs of a cohort, by id."""
    return {lab.id: lab for lab in session.scalars(select(Lab).where(Lab.cohort_id == cohort_id))}


def handed(session: Session, lab_ids: Sequence[int], people: Sequence[int] | None = None) -> list[Handed]:
    """The accepted hand-ins in labs (of people and their groups), in the order of handing in."""
    query = select(
        Submission.id,
        Submission.lab_id,
        Submission.person_id,
        Submission.group_id,
        Submission.tree_sha256,
        Submission.submitted_at,
        Submission.late,
    ).where(Submission.lab_id.in_(lab_ids), Submission.state == "accepted")
    if people is not None:
        query = query.where(_of(people))
    return [Handed(*row) for row in session.execute(query.order_by(Submission.submitted_at, Submission.id))]


def graded(
    session: Session, lab_ids: Sequence[int], people: Sequence[int] | None = None, *, regrade_id: str | None = None
) -> dict[str, list[Graded]]:
    """The ended attempts that count, by submission, first one first; with those of a regrade as if they counted."""
    wanted: ColumnElement[bool] = Attempt.counts.is_(True)
    if regrade_id is not None:
        wanted = or_(wanted, Attempt.regrade_id == regrade_id)
    query = (
        select(
            Attempt.id,
            Attempt.submission_id,
            Attempt.lab_id,
            Attempt.number,
            Attempt.why,
            Attempt.verdict,
            Attempt.points,
            Attempt.max_points,
            Attempt.lab_version,
            Attempt.counts,
        )
        .join(Submission, Submission.id == Attempt.submission_id)
        .where(and_(Attempt.lab_id.in_(lab_ids), Attempt.state == "done", wanted))
        # What does not count yet comes last: once applied it is the newest of its hand-in.
        .order_by(Attempt.submission_id, Attempt.counts.desc(), Attempt.number)
    )
    if people is not None:
        query = query.where(_of(people))
    found: dict[str, list[Graded]] = {}
    for row in session.execute(query):
        found.setdefault(row[1], []).append(Graded._make(row))
    return found


def mark_late(session: Session, submissions: Sequence[str], late: bool) -> None:
    """Set the mark `late` of hand-ins."""
    for start in range(0, len(submissions), _CHUNK):
        part = submissions[start : start + _CHUNK]
        session.execute(update(Submission).where(Submission.id.in_(part)).values(late=late))


def members(session: Session, group_ids: Iterable[int]) -> dict[int, list[int]]:
    """The members of groups."""
    query = select(GroupMember.group_id, GroupMember.person_id).where(
        GroupMember.group_id.in_(list(group_ids)), GroupMember.state == "member"
    )
    found: dict[int, list[int]] = {}
    for group, person in session.execute(query.order_by(GroupMember.id)):
        found.setdefault(group, []).append(person)
    return found


def grades(
    session: Session, lab_ids: Sequence[int], people: Sequence[int] | None = None
) -> dict[tuple[int, int], Grade]:
    """The grades in labs, by person and lab."""
    query = select(Grade).where(Grade.lab_id.in_(lab_ids))
    if people is not None:
        query = query.where(Grade.person_id.in_(people))
    return {(row.person_id, row.lab_id): row for row in session.scalars(query)}


def changes(session: Session, lab_id: int, person_id: int) -> list[tuple[GradeChange, Person | None]]:
    """How a grade came to be what it is, oldest first, with who caused it."""
    query = (
        select(GradeChange, Person)
        .outerjoin(Person, Person.id == GradeChange.by_id)
        .where(GradeChange.lab_id == lab_id, GradeChange.person_id == person_id)
        .order_by(GradeChange.id)
    )
    return [(change, person) for change, person in session.execute(query)]


def logins(session: Session, people: Iterable[int]) -> dict[int, tuple[str, str]]:
    """(login, name) by person."""
    query = select(Person.id, Person.login, Person.name).where(Person.id.in_(list(people)))
    return {row[0]: (row[1], row[2]) for row in session.execute(query)}


def _of(people: Sequence[int]) -> ColumnElement[bool]:
    groups = select(GroupMember.group_id).where(GroupMember.person_id.in_(people), GroupMember.state == "member")
    return or_(Submission.person_id.in_(people), Submission.group_id.in_(groups))
