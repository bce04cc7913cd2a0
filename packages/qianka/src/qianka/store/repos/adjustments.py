"""Queries on what staff decided about grades."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from qianka.store.tables import Adjustment, Lab, Person


def of_cohort(session: Session, cohort_id: int) -> list[Adjustment]:
    """The decisions that hold in a cohort, oldest first: of one kind the last one counts."""
    query = select(Adjustment).join(Lab, Lab.id == Adjustment.lab_id)
    query = query.where(Lab.cohort_id == cohort_id, Adjustment.revoked_at.is_(None))
    return list(session.scalars(query.order_by(Adjustment.id)))


def of_person(session: Session, person_id: int) -> list[Adjustment]:
    """The decisions that hold for a person, oldest first."""
    query = select(Adjustment).where(Adjustment.person_id == person_id, Adjustment.revoked_at.is_(None))
    return list(session.scalars(query.order_by(Adjustment.id)))


def listed(session: Session, lab_id: int, person_id: int) -> list[tuple[Adjustment, Person | None]]:
    """All decisions about a person in a lab, newest first, the revoked ones too, with who made them."""
    query = (
        select(Adjustment, Person)
        .outerjoin(Person, Person.id == Adjustment.by_id)
        .where(Adjustment.lab_id == lab_id, Adjustment.person_id == person_id)
        .order_by(Adjustment.id.desc())
    )
    return [(row, person) for row, person in session.execute(query)]


def holding(session: Session, lab_id: int, person_id: int, kind: str) -> list[Adjustment]:
    """The decisions of one kind that hold for a person in a lab."""
    query = select(Adjustment).where(
        Adjustment.lab_id == lab_id,
        Adjustment.person_id == person_id,
        Adjustment.kind == kind,
        Adjustment.revoked_at.is_(None),
    )
    return list(session.scalars(query.order_by(Adjustment.id)))
