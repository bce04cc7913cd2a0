"""Queries on a snapshot: which files it names, which jobs were open, what was signed."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import delete, or_, select, union_all
from sqlalchemy.orm import Session

from qianka.store.tables import (
    Attempt,
    Board,
    Cohort,
    Entry,
    EntryReceipt,
    Job,
    Lab,
    Lease,
    Receipt,
    Submission,
)


def ended_jobs(session: Session) -> set[str]:
    """Ids of the jobs that have ended."""
    return set(session.scalars(select(Job.id).where(Job.ended_at.is_not(None))))


def open_jobs(session: Session) -> list[Job]:
    """The jobs that wait or run, oldest first."""
    return list(session.scalars(select(Job).where(Job.ended_at.is_(None)).order_by(Job.queued_at, Job.id)))


def accepted(session: Session) -> Iterator[tuple[str, str, str | None]]:
    """(id, hash of the archive, hash of the tree) of each accepted hand-in."""
    query = select(Submission.id, Submission.archive_sha256, Submission.tree_sha256)
    for row in session.execute(query.where(Submission.state == "accepted").order_by(Submission.id)):
        yield row[0], row[1], row[2]


def board_blobs(session: Session) -> Iterator[tuple[str, str]]:
    """(what it is, content hash) of everything that boards keep among the blobs."""
    for board, answers, sample in session.execute(select(Board.id, Board.answers_sha256, Board.sample_sha256)):
        yield board, answers
        if sample is not None:
            yield board, sample
    kept = select(Entry.id, Entry.sha256).where(or_(Entry.state == "scored", Entry.state == "withdrawn"))
    for row in session.execute(kept):
        yield row[0], row[1]


def signed(session: Session) -> Iterator[tuple[str, str, str, str]]:
    """(id, body, signature, key id) of every receipt, of hand-ins and of entries on boards."""
    for row in session.execute(
        union_all(
            select(Receipt.id, Receipt.body, Receipt.signature, Receipt.key_id),
            select(EntryReceipt.id, EntryReceipt.body, EntryReceipt.signature, EntryReceipt.key_id),
        )
    ):
        yield row[0], row[1], row[2], row[3]


def lab_versions(session: Session) -> set[tuple[str, str, str]]:
    """(cohort, lab, version) of each version that is published or that an attempt was graded by."""
    where = select(Cohort.slug, Lab.slug).join(Lab, Lab.cohort_id == Cohort.id)
    now = session.execute(where.add_columns(Lab.version))
    then = session.execute(where.join(Attempt, Attempt.lab_id == Lab.id).add_columns(Attempt.lab_version).distinct())
    return {(row[0], row[1], row[2]) for rows in (now, then) for row in rows}


def forget_leases(session: Session) -> None:
    """Nobody holds anything."""
    session.execute(delete(Lease))
