"""Queries on hand-ins, their receipts and what is queued of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from qianka.store.repos.groups import shared_by_members
from qianka.store.tables import Attempt, Board, Cohort, Enrollment, Entry, GroupMember, Lab, Person, Receipt, Submission

_CHUNK = 500


def by_key(session: Session, person_id: int, key: str) -> Submission | None:
    """The hand-in that a person made with an idempotency key."""
    return session.scalar(
        select(Submission).where(Submission.person_id == person_id, Submission.idempotency_key == key)
    )


def receipt_of(session: Session, submission_id: str) -> Receipt | None:
    """The receipt of a hand-in; an invalid one has none."""
    return session.scalar(select(Receipt).where(Receipt.submission_id == submission_id))


def newest_attempts(session: Session, submission_ids: Sequence[str]) -> dict[str, Attempt]:
    """The newest grading of each hand-in that counts."""
    found: dict[str, Attempt] = {}
    for start in range(0, len(submission_ids), _CHUNK):
        part = submission_ids[start : start + _CHUNK]
        query = select(Attempt).where(Attempt.submission_id.in_(part), Attempt.counts.is_(True))
        found.update({attempt.submission_id: attempt for attempt in session.scalars(query.order_by(Attempt.number))})
    return found


def counts_for(person_id: int, group_id: int | None) -> ColumnElement[bool]:
    """Hand-ins of a person; with a group all of the group's, and those that a member made before they were in it."""
    if group_id is None:
        return Submission.person_id == person_id
    members = select(GroupMember.person_id).where(GroupMember.group_id == group_id, GroupMember.state == "member")
    return or_(Submission.group_id == group_id, Submission.group_id.is_(None) & Submission.person_id.in_(members))


def charged_between(
    session: Session, lab_id: int, person_id: int, start: datetime, end: datetime, group_id: int | None = None
) -> int:
    """How many hand-ins of a person (or of their group) in a lab used up a try from `start` until before `end`."""
    whose = counts_for(person_id, group_id)
    if group_id is not None:
        # Whoever is in a group of the cohort and in one of this lab has the tries of both but once.
        whose = or_(whose, Submission.group_id.in_(shared_by_members(group_id)))
    query = select(func.count()).where(
        Submission.lab_id == lab_id,
        whose,
        Submission.state == "accepted",
        Submission.charged.is_(True),
        Submission.submitted_at >= start,
        Submission.submitted_at < end,
    )
    return session.scalar(query) or 0


def same_files(
    session: Session, lab_id: int, person_id: int, group_id: int | None, *, archive: str, tree: str | None
) -> Submission | None:
    """The first accepted hand-in of the very same files (or archive) by a person or their group."""
    owner = Submission.person_id == person_id if group_id is None else Submission.group_id == group_id
    same = Submission.archive_sha256 == archive
    if tree is not None:
        same = or_(same, Submission.tree_sha256 == tree)
    query = select(Submission).where(Submission.lab_id == lab_id, Submission.state == "accepted", owner, same)
    if group_id is None:
        query = query.where(Submission.group_id.is_(None))
    return session.scalar(query.order_by(Submission.submitted_at, Submission.id).limit(1))


def stored_bytes(session: Session, person_id: int, without: str) -> int:
    """Bytes of a person's archives, each content once, leaving out the one with hash `without`."""
    sizes = (
        select(func.max(Submission.size).label("size"))
        .where(
            Submission.person_id == person_id,
            Submission.state == "accepted",
            Submission.archive_sha256 != without,
        )
        .group_by(Submission.archive_sha256)
        .subquery()
    )
    return int(session.scalar(select(func.coalesce(func.sum(sizes.c.size), 0))) or 0)  # PostgreSQL sums to a Decimal


def queued_attempts(session: Session, lab_id: int, person_id: int, group_id: int | None = None) -> list[Attempt]:
    """The gradings in a lab that are still queued for a person or group, locked until the transaction ends."""
    handed = select(Submission.id).where(Submission.lab_id == lab_id, counts_for(person_id, group_id))
    query = select(Attempt).where(
        Attempt.lab_id == lab_id,
        Attempt.submission_id.in_(handed),
        Attempt.state == "queued",
        Attempt.why == "handin",
    )
    return list(session.scalars(query.with_for_update()))


def search(
    session: Session,
    cohort_id: int,
    *,
    lab_id: int | None = None,
    words: str = "",
    section: str | None = None,
    verdict: str | None = None,
    before: str | None = None,
    limit: int = 100,
) -> list[tuple[Submission, Lab, Person]]:
    """Hand-ins of a cohort, newest first; `words`: in login, name or student number; `verdict`: of the newest grading.

    The verdicts `waiting` and `invalid` are those still being graded and those not taken.
    """
    query = _with_lab_and_person().where(Submission.cohort_id == cohort_id)
    if lab_id is not None:
        query = query.where(Submission.lab_id == lab_id)
    if words:
        fields = (Person.login, Person.name, Person.student_number)
        query = query.where(or_(*(field.icontains(words, autoescape=True) for field in fields)))
    if section is not None:
        query = query.join(
            Enrollment,
            (Enrollment.cohort_id == Submission.cohort_id) & (Enrollment.person_id == Submission.person_id),
        ).where(Enrollment.section == section)
    if verdict == "invalid":
        query = query.where(Submission.state == "invalid")
    elif verdict is not None:
        newest = (
            select(Attempt.id)
            .where(Attempt.submission_id == Submission.id, Attempt.counts.is_(True))
            .order_by(Attempt.number.desc())
            .limit(1)
            .correlate(Submission)
            .scalar_subquery()
        )
        has = Attempt.verdict.is_(None) if verdict == "waiting" else Attempt.verdict == verdict
        query = query.join(Attempt, Attempt.id == newest).where(has, Submission.state == "accepted")
    if before is not None:
        query = query.where(Submission.id < before)
    rows = session.execute(query.order_by(Submission.id.desc()).limit(limit))
    return [(submission, lab, person) for submission, lab, person in rows]


def listed(
    session: Session,
    cohort_id: int,
    *,
    lab_id: int | None = None,
    person_id: int | None = None,
    before: str | None = None,
    limit: int = 100,
) -> list[tuple[Submission, Lab, Person]]:
    """Hand-ins of a cohort, newest first; `before`: only those older than the one with that id."""
    query = _with_lab_and_person().where(Submission.cohort_id == cohort_id)
    if lab_id is not None:
        query = query.where(Submission.lab_id == lab_id)
    if person_id is not None:
        groups = select(GroupMember.group_id).where(GroupMember.person_id == person_id, GroupMember.state == "member")
        query = query.where(or_(Submission.person_id == person_id, Submission.group_id.in_(groups)))
    if before is not None:
        query = query.where(Submission.id < before)
    rows = session.execute(query.order_by(Submission.id.desc()).limit(limit))
    return [(submission, lab, person) for submission, lab, person in rows]


def with_lab_and_person(session: Session, submission_id: str) -> tuple[Submission, Lab, Person, Cohort]:
    """A hand-in with all that it belongs to."""
    query = _with_lab_and_person().add_columns(Cohort).join(Cohort, Cohort.id == Submission.cohort_id)
    row = session.execute(query.where(Submission.id == submission_id)).one()
    return row[0], row[1], row[2], row[3]


def known_archives(session: Session, hashes: Sequence[str]) -> set[str]:
    """Which of the content hashes an accepted hand-in has, an entry on a board, or a board itself."""
    found: set[str] = set()
    for start in range(0, len(hashes), _CHUNK):
        part = hashes[start : start + _CHUNK]
        query = select(Submission.archive_sha256).where(
            Submission.archive_sha256.in_(part), Submission.state == "accepted"
        )
        found.update(session.scalars(query))
        found.update(session.scalars(select(Entry.sha256).where(Entry.sha256.in_(part))))
        for column in (Board.answers_sha256, Board.sample_sha256):
            found.update(name for name in session.scalars(select(column).where(column.in_(part))) if name)
    return found


def _with_lab_and_person() -> Select[Submission, Lab, Person]:
    return (
        select(Submission, Lab, Person)
        .join(Lab, Lab.id == Submission.lab_id)
        .join(Person, Person.id == Submission.person_id)
    )
