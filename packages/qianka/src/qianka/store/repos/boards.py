"""Queries on boards: those of predictions, and what the board of a lab's own metric is made from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, false, func, or_, select
from sqlalchemy.orm import Session, undefer

from qianka.store.repos.groups import shared_by_members
from qianka.store.tables import (
    Attempt,
    Board,
    Enrollment,
    Entry,
    EntryReceipt,
    Event,
    Group,
    GroupMember,
    Job,
    Ledger,
    Person,
    Standing,
    Submission,
)

SCORED = "scored"
_CHUNK = 500


def of_cohort(session: Session, cohort_id: int) -> list[Board]:
    """The boards of predictions of a cohort, in the order of their names."""
    return list(session.scalars(select(Board).where(Board.cohort_id == cohort_id).order_by(Board.slug)))


def by_slug(session: Session, cohort_id: int, slug: str) -> Board | None:
    """The board of that name."""
    return session.scalar(select(Board).where(Board.cohort_id == cohort_id, Board.slug == slug))


def entry_by_key(session: Session, person_id: int, key: str) -> Entry | None:
    """The entry that a person made with an idempotency key."""
    return session.scalar(select(Entry).where(Entry.person_id == person_id, Entry.idempotency_key == key))


def receipt_of(session: Session, entry_id: str) -> EntryReceipt | None:
    """The receipt of an entry; an invalid one has none."""
    return session.scalar(select(EntryReceipt).where(EntryReceipt.entry_id == entry_id))


def charged_between(
    session: Session,
    board_id: str,
    person_id: int,
    group_id: int | None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> int:
    """How many entries of a person (or of their group) used up a try in [start, end); None: without that bound."""
    query = select(func.count()).where(
        Entry.board_id == board_id, Entry.charged.is_(True), _counts_for(person_id, group_id)
    )
    if start is not None:
        query = query.where(Entry.submitted_at >= start)
    if end is not None:
        query = query.where(Entry.submitted_at < end)
    return session.scalar(query) or 0


def last_number(session: Session, board_id: str, owner: str) -> int:
    """The number of an owner's newest entry on a board; 0 when there is none."""
    query = select(func.max(Entry.number)).where(Entry.board_id == board_id, Entry.owner == owner)
    return session.scalar(query) or 0


def scored_facts(session: Session, board_id: str, owner: str) -> Sequence[Any]:
    """What an owner's standing is made from, one row an entry that counts, in the order of recording."""
    query = (
        select(Entry.id, Entry.public, Entry.private, Entry.shown, Entry.selected, Entry.submitted_at)
        .where(Entry.board_id == board_id, Entry.owner == owner, Entry.state == SCORED)
        .order_by(Entry.number)
    )
    return session.execute(query).all()


def scored(session: Session, board_id: str, owner: str) -> list[Entry]:
    """An owner's entries that count, in the order of recording."""
    query = select(Entry).where(Entry.board_id == board_id, Entry.owner == owner, Entry.state == SCORED)
    return list(session.scalars(query.order_by(Entry.number)))


def owners(session: Session, board_id: str) -> list[str]:
    """Everybody who entered anything on a board."""
    return list(session.scalars(select(Entry.owner).where(Entry.board_id == board_id).distinct().order_by(Entry.owner)))


def entries(
    session: Session, board_id: str, *, person_id: int | None = None, before: str | None = None, limit: int = 100
) -> list[tuple[Entry, Person]]:
    """Entries newest first (of a person and their groups), with who sent them."""
    query = select(Entry, Person).join(Person, Person.id == Entry.person_id).where(Entry.board_id == board_id)
    if person_id is not None:
        query = query.where(or_(Entry.person_id == person_id, Entry.group_id.in_(_groups_of(person_id))))
    if before is not None:
        query = query.where(Entry.id < before)
    rows = session.execute(query.order_by(Entry.id.desc()).limit(limit))
    return [(entry, person) for entry, person in rows]


def standing(session: Session, board_id: str, owner: str) -> Standing | None:
    """Where an owner stands, with the losses of their Ladder."""
    query = select(Standing).where(Standing.board_id == board_id, Standing.owner == owner)
    return session.scalar(query.options(undefer(Standing.losses)))


def drop_standing(session: Session, board_id: str, owner: str) -> None:
    """Take an owner off a board."""
    session.execute(delete(Standing).where(Standing.board_id == board_id, Standing.owner == owner))


def standings(session: Session, board_id: str, *, private: bool) -> Sequence[Any]:
    """(owner, entries, score, at) of everybody by one part: columns, since every look at a board reads all of them."""
    part = (Standing.private, Standing.private_at) if private else (Standing.public, Standing.public_at)
    query = select(Standing.owner, Standing.entries, part[0].label("score"), part[1].label("at"))
    return session.execute(query.where(Standing.board_id == board_id).order_by(Standing.owner)).all()


def class_names(session: Session, cohort_id: int) -> Sequence[Any]:
    """(id, name, alias, show_name) of every active student."""
    query = (
        select(Person.id, Person.name, Person.alias, Person.show_name)
        .join(Enrollment, Enrollment.person_id == Person.id)
        .where(Enrollment.cohort_id == cohort_id, Enrollment.role == "student", Enrollment.state == "active")
    )
    return session.execute(query).all()


def group_names(session: Session, cohort_id: int) -> Sequence[Any]:
    """(id, name, alias) of every group."""
    return session.execute(select(Group.id, Group.name, Group.alias).where(Group.cohort_id == cohort_id)).all()


def group_people(session: Session, cohort_id: int) -> Sequence[Any]:
    """(group id, person id, show_name) of everybody who is in a group."""
    query = (
        select(GroupMember.group_id, GroupMember.person_id, Person.show_name)
        .join(Group, Group.id == GroupMember.group_id)
        .join(Person, Person.id == GroupMember.person_id)
        .where(Group.cohort_id == cohort_id, GroupMember.state == "member")
    )
    return session.execute(query).all()


def version(session: Session, topic: str) -> tuple[int, int]:
    """What changes whenever a board does: the newest of its events and how many there are.

    On PostgreSQL an event may be committed after one with a greater id; the count tells of it.
    """
    newest, count = session.execute(
        select(func.coalesce(func.max(Event.id), 0), func.count()).where(Event.topic == topic)
    ).one()
    return newest, count


def told_since(session: Session, topic: str, after: int) -> int:
    """How many events a topic had since the event with id `after`."""
    return session.scalar(select(func.count()).where(Event.topic == topic, Event.id > after)) or 0


def verdicts_since(session: Session, lab_id: int, after: int) -> list[tuple[int, int | None]] | None:
    """(person id, group id) of each attempt that came to count in a lab since the event with id `after`.

    None where that is no longer known, since old events were removed, or where they are too many to be worth it.
    """
    if session.scalar(select(Event.id).where(Event.id <= after).limit(1)) is None:
        return None
    query = select(Event.topic).where(Event.id > after, Event.kind == "verdict").limit(_CHUNK)
    topics = session.scalars(query).all()
    if len(topics) == _CHUNK:
        return None
    whose = (
        select(Attempt.id, Submission.person_id, Submission.group_id)
        .join(Submission, Submission.id == Attempt.submission_id)
        .where(Attempt.id.in_([topic.partition(":")[2] for topic in topics]))
        .where(Attempt.lab_id == lab_id, Attempt.counts.is_(True))
    )
    found = {f"attempt:{row[0]}": (row[1], row[2]) for row in session.execute(whose)}
    return [found[topic] for topic in topics if topic in found]


def ended_in_lab(
    session: Session, lab_id: int, people: Collection[int] | None = None, groups: Collection[int] = ()
) -> Sequence[Any]:
    """Ended attempts of a lab, in the order of handing in: what its board is made from, and no more.

    (attempt id, submission id, verdict, score, person id, group id), thousands of rows. `people`: only what
    these persons or `groups` handed in.
    """
    query = (
        select(
            Attempt.id,
            Attempt.submission_id,
            Attempt.verdict,
            Attempt.score,
            Submission.person_id,
            Submission.group_id,
        )
        .join(Submission, Submission.id == Attempt.submission_id)
        .where(Attempt.counts.is_(True))
        .order_by(Submission.submitted_at, Submission.id, Attempt.number)
    )
    if people is None:
        return session.execute(query.where(Attempt.lab_id == lab_id, Attempt.state == "done")).all()
    # Few hand-ins: begun from these, each with its attempts. SQLite would begin from all that are done.
    whose = [Submission.person_id.in_(people)] if people else []
    whose += [Submission.group_id.in_(groups)] if groups else []
    few = query.add_columns(Attempt.state).where(Submission.lab_id == lab_id, or_(false(), *whose))
    return [row[:-1] for row in session.execute(few) if row[-1] == "done"]


def told_of_attempts(session: Session, attempt_ids: Sequence[str]) -> dict[str, tuple[datetime, float | None]]:
    """When each attempt was handed in, and its points."""
    found: dict[str, tuple[datetime, float | None]] = {}
    for start in range(0, len(attempt_ids), _CHUNK):
        query = (
            select(Attempt.id, Submission.submitted_at, Attempt.points)
            .join(Submission, Submission.id == Attempt.submission_id)
            .where(Attempt.id.in_(attempt_ids[start : start + _CHUNK]))
        )
        found.update((attempt, (at, points)) for attempt, at, points in session.execute(query))
    return found


def used_in_lab(session: Session, lab_id: int) -> Sequence[Any]:
    """(submission id, core-seconds, card-seconds) of the charged jobs of each attempt, older attempts first."""
    query = (
        select(Attempt.submission_id, func.sum(Ledger.cpu_seconds), func.sum(Ledger.gpu_seconds))
        .join(Job, Job.attempt_id == Attempt.id)
        .join(Ledger, Ledger.job_id == Job.id)
        .where(Attempt.lab_id == lab_id, Ledger.charged.is_(True))
        .group_by(Attempt.submission_id, Attempt.number)
        .order_by(Attempt.number)
    )
    return session.execute(query).all()


def stored_bytes(session: Session, person_id: int, without: str) -> int:
    """Bytes of the predictions a person sent, each content once, leaving out the one with hash `without`."""
    sizes = (
        select(func.max(Entry.size).label("size"))
        .where(Entry.person_id == person_id, Entry.state != "invalid", Entry.sha256 != without)
        .group_by(Entry.sha256)
        .subquery()
    )
    return session.scalar(select(func.coalesce(func.sum(sizes.c.size), 0))) or 0


def _counts_for(person_id: int, group_id: int | None) -> ColumnElement[bool]:
    if group_id is None:
        return Entry.person_id == person_id
    members = select(GroupMember.person_id).where(GroupMember.group_id == group_id, GroupMember.state == "member")
    # Whoever is in a group of the cohort and in one of this board has the tries of both but once.
    together = Entry.group_id.in_(shared_by_members(group_id))
    return or_(Entry.group_id == group_id, together, Entry.group_id.is_(None) & Entry.person_id.in_(members))


def _groups_of(person_id: int) -> Any:
    return select(GroupMember.group_id).where(GroupMember.person_id == person_id, GroupMember.state == "member")
