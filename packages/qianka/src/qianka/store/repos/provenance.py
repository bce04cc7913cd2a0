"""Queries on what jobs ran and left, by content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from qianka.store.tables import Job, JobTrace, Ledger, OutFile, Person, TreeFile

_CHUNK = 500


def untraced(session: Session, limit: int) -> list[Job]:
    """People's own jobs that have ended and of which nothing is recorded yet, longest ended first."""
    query = (
        select(Job)
        .outerjoin(JobTrace, JobTrace.job_id == Job.id)
        .where(Job.kind == "run", Job.ended_at.is_not(None), Job.run > 0, JobTrace.job_id.is_(None))
        .order_by(Job.ended_at, Job.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def is_tree_known(session: Session, tree: str) -> bool:
    """Whether the files of a code tree are recorded."""
    return session.scalar(select(TreeFile.id).where(TreeFile.tree == tree).limit(1)) is not None


def left_by(
    session: Session, hashes: Iterable[str], before: datetime, people: Sequence[int], *, of_others: bool = False
) -> list[tuple[OutFile, Job]]:
    """Files of these contents that jobs of `people` left (or of everybody else), of jobs queued by `before`."""
    found: list[tuple[OutFile, Job]] = []
    for part in _parts(hashes):
        query = select(OutFile, Job).join(Job, Job.id == OutFile.job_id)
        query = query.where(OutFile.sha256.in_(part), Job.queued_at <= before, Job.kind == "run")
        query = query.where(Job.person_id.not_in(people) if of_others else Job.person_id.in_(people))
        found += [(file, job) for file, job in session.execute(query.order_by(Job.queued_at, OutFile.id))]
    return found


def run_by(
    session: Session, hashes: Iterable[str], before: datetime, people: Sequence[int], *, of_others: bool = False
) -> list[tuple[TreeFile, Job]]:
    """Files of these contents in the code of jobs of `people` (or of everybody else), of jobs queued by `before`."""
    found: list[tuple[TreeFile, Job]] = []
    for part in _parts(hashes):
        query = (
            select(TreeFile, Job)
            .join(JobTrace, JobTrace.tree == TreeFile.tree)
            .join(Job, Job.id == JobTrace.job_id)
            .where(TreeFile.sha256.in_(part), Job.queued_at <= before, Job.kind == "run")
            .where(Job.person_id.not_in(people) if of_others else Job.person_id.in_(people))
        )
        found += [(file, job) for file, job in session.execute(query.order_by(Job.queued_at, TreeFile.id))]
    return found


def traces(session: Session, jobs: Iterable[str]) -> dict[str, JobTrace]:
    """What is recorded of jobs, by id."""
    found: dict[str, JobTrace] = {}
    for part in _parts(jobs):
        found.update({row.job_id: row for row in session.scalars(select(JobTrace).where(JobTrace.job_id.in_(part)))})
    return found


def used(session: Session, jobs: Iterable[str]) -> dict[str, list[Ledger]]:
    """The ledger of jobs, by id; one line a run."""
    found: dict[str, list[Ledger]] = {}
    for part in _parts(jobs):
        for line in session.scalars(select(Ledger).where(Ledger.job_id.in_(part)).order_by(Ledger.run)):
            found.setdefault(line.job_id, []).append(line)
    return found


def people(session: Session, ids: Iterable[int]) -> dict[int, Person]:
    """Persons by id."""
    return {person.id: person for person in session.scalars(select(Person).where(Person.id.in_(list(ids))))}


def _parts(values: Iterable[str]) -> Iterable[list[str]]:
    whole = sorted(set(values))
    return (whole[start : start + _CHUNK] for start in range(0, len(whole), _CHUNK))
