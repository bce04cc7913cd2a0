"""Queries on persons, tokens, cohorts and enrollments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, or_, select, update
from sqlalchemy.orm import Session

from qianka.store.tables import Audit, Cohort, Enrollment, Identity, Lab, Person, Token

# Asked with nearly every request: made once, since to make a statement takes as long as to execute it.
_COHORT = select(Cohort).where(Cohort.slug == bindparam("slug"))
_ENROLLMENT = select(Enrollment).where(
    Enrollment.cohort_id == bindparam("cohort"), Enrollment.person_id == bindparam("person")
)
_TOKEN = select(Token, Person).join(Person, Person.id == Token.person_id).where(Token.secret_hash == bindparam("hash"))

_CHUNK = 500  # parameters in one IN (…): SQLite's older limit is 999


def cohort_by_slug(session: Session, slug: str) -> Cohort | None:
    """The cohort named `slug`."""
    return session.scalar(_COHORT, {"slug": slug})


def cohorts_of(session: Session, person_id: int) -> list[tuple[Cohort, Enrollment]]:
    """The cohorts a person is in, newest first, with the enrollment."""
    query = (
        select(Cohort, Enrollment)
        .join(Enrollment, Enrollment.cohort_id == Cohort.id)
        .where(Enrollment.person_id == person_id)
        .order_by(Cohort.id.desc())
    )
    return [(cohort, enrollment) for cohort, enrollment in session.execute(query)]


def all_cohorts(session: Session) -> list[Cohort]:
    """Every cohort, newest first."""
    return list(session.scalars(select(Cohort).order_by(Cohort.id.desc())))


def lab_by_slug(session: Session, cohort_id: int, slug: str) -> Lab | None:
    """The lab published as `slug` in a cohort."""
    return session.scalar(select(Lab).where(Lab.cohort_id == cohort_id, Lab.slug == slug))


def enrollment(session: Session, cohort_id: int, person_id: int) -> Enrollment | None:
    """What a person is in a cohort, active or suspended."""
    return session.scalar(_ENROLLMENT, {"cohort": cohort_id, "person": person_id})


def class_list(session: Session, cohort_id: int) -> list[tuple[Enrollment, Person]]:
    """Everybody in a cohort, by student number, then login."""
    query = (
        select(Enrollment, Person)
        .join(Person, Person.id == Enrollment.person_id)
        .where(Enrollment.cohort_id == cohort_id)
        .order_by(Person.student_number.nulls_first(), Person.login)
    )
    return [(row, person) for row, person in session.execute(query)]


def shares_cohort_as_staff(session: Session, staff_id: int, person_id: int, roles: Sequence[str]) -> bool:
    """Whether `staff_id` is active with one of `roles` in a cohort in which `person_id` is."""
    theirs = select(Enrollment.cohort_id).where(Enrollment.person_id == person_id)
    query = select(Enrollment.id).where(
        Enrollment.person_id == staff_id,
        Enrollment.role.in_(roles),
        Enrollment.state == "active",
        Enrollment.cohort_id.in_(theirs),
    )
    return session.scalar(query.limit(1)) is not None


def staff_anywhere(session: Session, person_ids: Iterable[int], roles: Sequence[str]) -> set[int]:
    """Which of `person_ids` are administrators or hold one of `roles` in any cohort."""
    wanted = list(person_ids)
    found: set[int] = set()
    for start in range(0, len(wanted), _CHUNK):
        part = wanted[start : start + _CHUNK]
        found.update(session.scalars(select(Person.id).where(Person.id.in_(part), Person.is_admin.is_(True))))
        found.update(
            session.scalars(
                select(Enrollment.person_id).where(Enrollment.person_id.in_(part), Enrollment.role.in_(roles))
            )
        )
    return found


def person_by_login(session: Session, login: str) -> Person | None:
    """The person who signs in as `login` (lower case)."""
    return session.scalar(select(Person).where(Person.login == login))


def person_by_identity(session: Session, method: str, subject: str) -> Person | None:
    """Who came by that identity of a sign-in method before."""
    query = select(Person).join(Identity, Identity.person_id == Person.id)
    return session.scalar(query.where(Identity.method == method, Identity.subject == subject))


def persons_by_campus_id(session: Session, campus_id: str) -> list[Person]:
    """The persons with that student number or login, compared without regard to case."""
    wanted = campus_id.lower()
    query = select(Person).where(or_(func.lower(Person.student_number) == wanted, Person.login == wanted))
    return list(session.scalars(query))


def anybody(session: Session) -> bool:
    """Whether there is any person at all."""
    return session.scalar(select(Person.id).limit(1)) is not None


def persons_by_numbers(session: Session, numbers: Iterable[str]) -> list[Person]:
    """The persons with one of the student numbers, compared without regard to case."""
    wanted = sorted({number.lower() for number in numbers})
    found: list[Person] = []
    for start in range(0, len(wanted), _CHUNK):
        part = wanted[start : start + _CHUNK]
        found.extend(session.scalars(select(Person).where(func.lower(Person.student_number).in_(part))))
    return found


def persons_by_logins(session: Session, logins: Iterable[str]) -> list[Person]:
    """The persons with one of the logins."""
    wanted = sorted(set(logins))
    found: list[Person] = []
    for start in range(0, len(wanted), _CHUNK):
        found.extend(session.scalars(select(Person).where(Person.login.in_(wanted[start : start + _CHUNK]))))
    return found


def aliases(session: Session) -> set[str]:
    """Every alias in use."""
    return set(session.scalars(select(Person.alias)))


def lock_person(session: Session, person_id: int) -> Person | None:
    """The person, locked until the transaction ends (on SQLite the transaction itself is the lock)."""
    return session.scalar(select(Person).where(Person.id == person_id).with_for_update())


def token_by_hash(session: Session, secret_hash: str) -> tuple[Token, Person] | None:
    """The token with that hash and its owner."""
    row = session.execute(_TOKEN, {"hash": secret_hash}).one_or_none()
    return None if row is None else (row[0], row[1])


def live_tokens(session: Session, person_id: int, now: datetime) -> list[Token]:
    """Tokens of a person that still open the door, newest first."""
    query = select(Token).where(Token.person_id == person_id, Token.revoked_at.is_(None), Token.expires_at > now)
    return list(session.scalars(query.order_by(Token.id.desc())))


def revoke_tokens(session: Session, person_id: int, now: datetime, keep: int | None = None) -> None:
    """Revoke every token of a person, except the one with id `keep`."""
    query = update(Token).where(Token.person_id == person_id, Token.revoked_at.is_(None))
    if keep is not None:
        query = query.where(Token.id != keep)
    session.execute(query.values(revoked_at=now))


def failures_since(session: Session, action: str, since: datetime, login: str, address: str | None) -> tuple[int, ...]:
    """How often `action` was audited since then: (this login from this address, this login, this address)."""
    rows = session.execute(
        select(Audit.target, Audit.address).where(
            Audit.at > since, Audit.action == action, or_(Audit.target == login, Audit.address == address)
        )
    ).all()
    both = sum(target == login and place == address for target, place in rows)
    by_login = sum(target == login for target, _ in rows)
    by_address = 0 if address is None else sum(place == address for _, place in rows)
    return both, by_login, by_address
