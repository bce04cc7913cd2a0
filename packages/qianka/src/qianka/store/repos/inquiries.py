"""Queries on inquiries about grades."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from qianka.store.tables import Grade, Inquiry, InquiryMessage, Lab, Person


class Found(NamedTuple):
    """An inquiry with what it is about, its first words and how many messages it has."""

    inquiry: Inquiry
    lab: Lab
    person: Person
    messages: int
    by_staff: bool
    """whether its newest message is of staff"""
    first: str


def listed(
    session: Session,
    cohort_id: int,
    *,
    person_id: int | None,
    state: str | None,
    lab_id: int | None,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[Found]:
    """Inquiries of a cohort (of one person), the one that moved last first."""
    query = select(Inquiry).where(Inquiry.cohort_id == cohort_id)
    if person_id is not None:
        query = query.where(Inquiry.person_id == person_id)
    if state is not None:
        query = query.where(Inquiry.state == state)
    if lab_id is not None:
        query = query.where(Inquiry.lab_id == lab_id)
    if before is not None:
        moved, name = before
        query = query.where((Inquiry.moved_at < moved) | ((Inquiry.moved_at == moved) & (Inquiry.id < name)))
    query = query.order_by(Inquiry.moved_at.desc(), Inquiry.id.desc()).limit(limit)
    return with_facts(session, list(session.scalars(query)))


def with_facts(session: Session, rows: list[Inquiry]) -> list[Found]:
    """`rows` with lab, person and a word of their messages, in few queries however many they are."""
    ids = [row.id for row in rows]
    bounds = session.execute(
        select(InquiryMessage.inquiry_id, func.min(InquiryMessage.id), func.max(InquiryMessage.id), func.count())
        .where(InquiryMessage.inquiry_id.in_(ids))
        .group_by(InquiryMessage.inquiry_id)
    ).all()
    wanted = {number for _, first, last, _ in bounds for number in (first, last)}
    texts = {row.id: row for row in session.scalars(select(InquiryMessage).where(InquiryMessage.id.in_(wanted)))}
    of = {inquiry: (texts[first], texts[last], count) for inquiry, first, last, count in bounds}
    labs = {row.id: row for row in session.scalars(select(Lab).where(Lab.id.in_({row.lab_id for row in rows})))}
    people = {
        row.id: row for row in session.scalars(select(Person).where(Person.id.in_({row.person_id for row in rows})))
    }
    found = []
    for row in rows:
        first, last, count = of[row.id]
        found.append(Found(row, labs[row.lab_id], people[row.person_id], count, last.by_staff, first.text))
    return found


def messages(session: Session, inquiry_id: str) -> list[tuple[InquiryMessage, Person]]:
    """The messages of an inquiry, oldest first, with who wrote them."""
    query = (
        select(InquiryMessage, Person)
        .join(Person, Person.id == InquiryMessage.person_id)
        .where(InquiryMessage.inquiry_id == inquiry_id)
        .order_by(InquiryMessage.id)
    )
    return [(row, person) for row, person in session.execute(query)]


def open_of(session: Session, lab_id: int, person_id: int) -> Inquiry | None:
    """The inquiry of a person in a lab that is open."""
    query = select(Inquiry).where(Inquiry.lab_id == lab_id, Inquiry.person_id == person_id, Inquiry.state == "open")
    return session.scalar(query.limit(1))


def locked(session: Session, inquiry_id: str) -> Inquiry | None:
    """An inquiry, locked until the transaction ends."""
    return session.scalar(select(Inquiry).where(Inquiry.id == inquiry_id).with_for_update())


def written_since(session: Session, person_id: int, since: datetime) -> int:
    """How many messages a person has written since then."""
    query = select(func.count()).where(InquiryMessage.person_id == person_id, InquiryMessage.at > since)
    return session.scalar(query) or 0


def count_open(session: Session, cohort_id: int) -> int:
    """How many inquiries of a cohort are open."""
    return session.scalar(select(func.count()).where(Inquiry.cohort_id == cohort_id, Inquiry.state == "open")) or 0


def counting_attempt(session: Session, lab_id: int, person_id: int) -> str | None:
    """The grading that counts for a person in a lab."""
    return session.scalar(select(Grade.attempt_id).where(Grade.lab_id == lab_id, Grade.person_id == person_id))


def newest_of_person(session: Session, person_id: int) -> dict[int, str]:
    """A person's newest inquiry by lab."""
    query = select(Inquiry.lab_id, Inquiry.id).where(Inquiry.person_id == person_id)
    return {row[0]: row[1] for row in session.execute(query.order_by(Inquiry.opened_at, Inquiry.id))}
