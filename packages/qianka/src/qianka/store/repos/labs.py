"""Queries on labs, their data jobs and their reference runs."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from qianka.store.tables import Cohort, Enrollment, Job, Lab, Person, Reference


def of_cohort(session: Session, cohort_id: int) -> list[Lab]:
    """The labs of a cohort, in the order of their names."""
    return list(session.scalars(select(Lab).where(Lab.cohort_id == cohort_id).order_by(Lab.slug)))


def with_cohort(session: Session, lab_id: int) -> tuple[Lab, Cohort] | None:
    """A lab and its cohort."""
    row = session.execute(
        select(Lab, Cohort).join(Cohort, Cohort.id == Lab.cohort_id).where(Lab.id == lab_id)
    ).one_or_none()
    return None if row is None else (row[0], row[1])


def all_with_cohort(session: Session) -> list[tuple[Lab, Cohort]]:
    """Every lab and its cohort."""
    query = select(Lab, Cohort).join(Cohort, Cohort.id == Lab.cohort_id).order_by(Lab.id)
    return [(lab, cohort) for lab, cohort in session.execute(query)]


def first_teacher(session: Session, cohort_id: int) -> int | None:
    """A teacher of the cohort, else an administrator: whose name the platform's own jobs for a lab carry."""
    teacher = session.scalar(
        select(Enrollment.person_id)
        .where(Enrollment.cohort_id == cohort_id, Enrollment.role == "teacher", Enrollment.state == "active")
        .order_by(Enrollment.id)
        .limit(1)
    )
    if teacher is not None:
        return teacher
    return session.scalar(select(Person.id).where(Person.is_admin.is_(True)).order_by(Person.id).limit(1))


def jobs_with_prefix(session: Session, prefix: str) -> list[Job]:
    """The jobs whose key begins with `prefix`, oldest first."""
    query = select(Job).where(Job.key.startswith(prefix, autoescape=True)).order_by(Job.queued_at, Job.id)
    return list(session.scalars(query))


def reference(session: Session, lab_id: int, version: str, node: str) -> Reference | None:
    """The reference runs of a version on a node."""
    return session.scalar(
        select(Reference).where(Reference.lab_id == lab_id, Reference.version == version, Reference.node == node)
    )


def references(session: Session, lab_id: int, version: str) -> list[Reference]:
    """The reference runs of a version on all nodes."""
    query = select(Reference).where(Reference.lab_id == lab_id, Reference.version == version)
    return list(session.scalars(query.order_by(Reference.node)))


def open_references(session: Session) -> list[Reference]:
    """Reference runs that are wanted or under way."""
    return list(session.scalars(select(Reference).where(Reference.state.in_(("wanted", "running")))))


def all_references(session: Session) -> list[Reference]:
    """Every reference row, in the order in which they were made."""
    return list(session.scalars(select(Reference).order_by(Reference.id)))
