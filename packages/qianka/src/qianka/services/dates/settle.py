"""Grades made what the rules say: compared first (a what-if), then written with the change on record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from qianka.services import events
from qianka.services.dates.book import Book, Counted, read
from qianka.services.platform import Caller, Platform
from qianka.store.repos import dates as repo
from qianka.store.tables import Cohort, Grade, GradeChange, Lab


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why grades are looked at again, and who asked for it."""

    why: str
    caller: Caller
    reason: str = ""
    regrade_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Move:
    """A grade that becomes another one; None before: there was none."""

    person_id: int
    lab_id: int
    before: dict[str, Any] | None
    after: dict[str, Any]

    @property
    def points(self) -> float:
        """By how many points the grade moves."""
        before = 0.0 if self.before is None else float(self.before["points"])
        return round(float(self.after["points"]) - before, 2)


def moves(book: Book) -> list[Move]:
    """What would change if the grades were made what the book says."""
    found = []
    for person_id in sorted(book.handed):
        for lab_id, counted in sorted(book.counted(person_id).items()):
            grade = book.grades.get((person_id, lab_id))
            before = None if grade is None else as_facts(grade)
            after = _facts(counted)
            if before != after:
                found.append(Move(person_id=person_id, lab_id=lab_id, before=before, after=after))
    return found


def write(session: Session, platform: Platform, book: Book, changed: Iterable[Move], cause: Cause) -> None:
    """Make the grades what `changed` says, each with a record of what it was; late marks follow too."""
    now = platform.now()
    for move in changed:
        key = (move.person_id, move.lab_id)
        grade = book.grades.get(key)
        if grade is None:
            grade = book.grades[key] = Grade(person_id=move.person_id, lab_id=move.lab_id)
            session.add(grade)
        after = move.after
        grade.attempt_id, grade.verdict = after["attempt"], after["verdict"]
        grade.points, grade.raw_points, grade.penalty = after["points"], after["raw_points"], after["penalty"]
        grade.max_points, grade.days_late, grade.late_days = after["max_points"], after["days_late"], after["late_days"]
        grade.updated_at = now
        session.add(
            GradeChange(
                at=now,
                lab_id=move.lab_id,
                person_id=move.person_id,
                why=cause.why,
                reason=cause.reason,
                by_id=cause.caller.person_id,
                regrade_id=cause.regrade_id,
                before=move.before,
                after=after,
            )
        )
        # Without figures: all members of a group listen to one attempt, and each has a grade of their own.
        told = {"attempt": after["attempt"], "why": cause.why}
        events.emit(session, platform, f"attempt:{after['attempt']}", "grade", **told)
        events.emit_for_person(session, platform, move.person_id, "grade", **told)
    _mark_late(session, book)


def settle_people(
    session: Session,
    platform: Platform,
    cohort: Cohort,
    people: Sequence[int] | None,
    cause: Cause,
    lab: Lab | None = None,
) -> list[Move]:
    """Bring the grades of `people` (None: everybody) up to date, inside the caller's transaction."""
    session.flush()
    book = read(session, platform, cohort, people, labs=None if lab is None else [lab.id])
    changed = moves(book)
    write(session, platform, book, changed, cause)
    return changed


def as_facts(grade: Grade) -> dict[str, Any]:
    """A grade as it is kept in a record of changes."""
    return {
        "attempt": grade.attempt_id,
        "verdict": grade.verdict,
        "points": grade.points,
        "raw_points": grade.points + grade.penalty if grade.raw_points is None else grade.raw_points,
        "max_points": grade.max_points,
        "penalty": grade.penalty,
        "days_late": grade.days_late,
        "late_days": grade.late_days,
    }


def _facts(counted: Counted) -> dict[str, Any]:
    outcome = counted.outcome
    return {
        "attempt": counted.graded.attempt,
        "verdict": str(counted.graded.verdict),
        "points": outcome.points,
        "raw_points": outcome.work.points,
        "max_points": outcome.work.most,
        "penalty": outcome.penalty,
        "days_late": outcome.work.days,
        "late_days": outcome.late_days,
    }


def _mark_late(session: Session, book: Book) -> None:
    """The mark `late` of hand-ins, by the same dates; a group's by those of whoever sent it."""
    changed: dict[bool, list[str]] = {True: [], False: []}
    for person_id, rows in book.handed.items():
        for handed in rows:
            if handed.person_id == person_id and (is_late := book.late(person_id, handed) > 0) != handed.late:
                changed[is_late].append(handed.submission)
    for is_late, ids in changed.items():
        repo.mark_late(session, ids, is_late)


def names(session: Session, found: Iterable[Move]) -> dict[int, tuple[str, str]]:
    """(login, name) of the people whose grades move."""
    return repo.logins(session, {move.person_id for move in found})
