"""Queries on projectors."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from qianka.store.tables import Job, Person, Screen


def of_cohort(session: Session, cohort_id: int) -> list[Screen]:
    """The projectors of a cohort that are not revoked, newest first."""
    query = select(Screen).where(Screen.cohort_id == cohort_id, Screen.revoked_at.is_(None))
    return list(session.scalars(query.order_by(Screen.id.desc())))


def by_hash(session: Session, secret_hash: str) -> Screen | None:
    """The projector whose token has that hash."""
    return session.scalar(select(Screen).where(Screen.secret_hash == secret_hash))


def queue(session: Session, cohort_id: int, states: Sequence[str], limit: int) -> list[tuple[Job, str]]:
    """The first jobs of a cohort in `states` with the alias of their person, oldest first."""
    query = (
        select(Job, Person.alias)
        .join(Person, Person.id == Job.person_id)
        .where(Job.cohort_id == cohort_id, Job.state.in_(states))
        .order_by(Job.queued_at, Job.id)
        .limit(limit)
    )
    return [(job, alias) for job, alias in session.execute(query)]


def count(session: Session, cohort_id: int, state: str) -> int:
    """How many jobs of a cohort are in `state`."""
    query = select(func.count()).select_from(Job).where(Job.cohort_id == cohort_id, Job.state == state)
    return session.scalar(query) or 0


def aliases(session: Session, job_ids: Sequence[str]) -> dict[str, str]:
    """Whose jobs these are, by alias."""
    query = select(Job.id, Person.alias).join(Person, Person.id == Job.person_id).where(Job.id.in_(job_ids))
    return {row.id: row.alias for row in session.execute(query)}
