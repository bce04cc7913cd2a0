"""What a regrade would move: whom, by how much, and why. The same book that is written when it is applied."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from qianka.domain.verdicts import Verdict
from qianka.services import dates
from qianka.services.dates import UNCOUNTED, Book, Move
from qianka.services.platform import Caller, Platform
from qianka.services.regrades import reasons
from qianka.services.regrades.reasons import Change
from qianka.services.regrades.start import for_staff
from qianka.store.repos import adjustments
from qianka.store.repos import attempts as attempt_repo
from qianka.store.repos import regrades as repo
from qianka.store.tables import Attempt, Cohort, Lab, Regrade


@dataclass(frozen=True, kw_only=True)
class Line:
    """A person whose grade would move; `lab` may be another one where late days are spent anew."""

    person_id: int
    login: str
    name: str
    lab: str
    before: dict[str, Any] | None
    after: dict[str, Any]
    moved: float
    changes: list[Change]
    override: float | None = None
    """points that staff set: they count on, whatever is graded"""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A hand-in that the platform could not grade again: its grade stays as it is."""

    login: str
    name: str
    submission: str
    attempt: str
    verdict: str
    fault: str | None


@dataclass(frozen=True, kw_only=True)
class Difference:
    """All that a regrade has found so far; `digest` names exactly these lines."""

    regrade: Regrade
    lab: Lab
    cohort: Cohort
    waiting: int
    """hand-ins still being graded"""
    graded: int
    lines: list[Line]
    """who moves, most points lost first"""
    faults: list[Fault]
    digest: str


def show(platform: Platform, caller: Caller, regrade_id: str) -> Difference:
    """What a regrade would do now, over grades as they are now; for staff. Raises NotFound.

    Of one that has ended the lines are those that it moved.
    """
    with platform.store.reading() as session:
        regrade, lab, cohort = for_staff(session, caller, regrade_id)
        found = repo.attempts_of(session, regrade.id)
        moved: list[Move] = []
        if regrade.state == "open":
            moved = dates.moves(book_of(session, platform, cohort, lab, regrade, found))
        elif regrade.state == "applied":
            moved = _applied(session, regrade)
        lines = _lines(session, platform, cohort, moved)
        return Difference(
            regrade=regrade,
            lab=lab,
            cohort=cohort,
            waiting=sum(attempt.state in attempt_repo.LIVE for attempt in found),
            graded=sum(is_graded(attempt) for attempt in found),
            lines=lines,
            faults=_faults(session, found),
            digest=digest_of(moved),
        )


def book_of(
    session: Session, platform: Platform, cohort: Cohort, lab: Lab, regrade: Regrade, found: Sequence[Attempt]
) -> Book:
    """The book of everybody as if the regrade were applied; only its own people are looked at."""
    book = dates.read(session, platform, cohort, labs=[lab.id], regrade_id=regrade.id)
    mine = {attempt.submission_id for attempt in found}
    concerned = {
        person_id: rows for person_id, rows in book.handed.items() if any(row.submission in mine for row in rows)
    }
    return book.of_people(concerned)


def is_graded(attempt: Attempt) -> bool:
    """Whether an attempt ended with a verdict that is a grade: faults of the platform never move one."""
    ended = attempt.state == "done" and attempt.verdict is not None
    return ended and Verdict(str(attempt.verdict)) not in UNCOUNTED


def digest_of(moved: Sequence[Move]) -> str:
    """A name of exactly these moves, to be sent back with the approval."""
    facts = [[move.person_id, move.lab_id, move.before, move.after] for move in moved]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def _lines(session: Session, platform: Platform, cohort: Cohort, moved: Sequence[Move]) -> list[Line]:
    names = dates.names(session, moved)
    ids = [facts["attempt"] for move in moved for facts in (move.before, move.after) if facts is not None]
    attempts = repo.by_ids(session, ids)
    overrides = {
        (row.person_id, row.lab_id): row.points
        for row in adjustments.of_cohort(session, cohort.id)
        if row.kind == "override"
    }
    slugs: dict[int, str] = {}
    found = []
    for move in moved:
        if move.lab_id not in slugs:
            lab = session.get(Lab, move.lab_id)
            slugs[move.lab_id] = "" if lab is None else lab.slug
        before = None if move.before is None else attempts.get(move.before["attempt"])
        changes = reasons.between(before, attempts.get(move.after["attempt"]))
        login, name = names.get(move.person_id, ("", ""))
        found.append(
            Line(
                person_id=move.person_id,
                login=login,
                name=name,
                lab=slugs[move.lab_id],
                before=move.before,
                after=move.after,
                moved=move.points,
                changes=[*changes, *reasons.late(move.before, move.after)],
                override=overrides.get((move.person_id, move.lab_id)),
            )
        )
    found = [line for line in found if line.changes or line.moved or line.before is None]
    return sorted(found, key=lambda line: (line.moved, line.login, line.lab))


def _applied(session: Session, regrade: Regrade) -> list[Move]:
    return [
        Move(person_id=row.person_id, lab_id=row.lab_id, before=row.before, after=row.after or {})
        for row in repo.changes_of(session, regrade.id)
    ]


def _faults(session: Session, found: Sequence[Attempt]) -> list[Fault]:
    failed = [a for a in found if a.state not in attempt_repo.LIVE and not is_graded(a)]
    owners = repo.owners(session, [attempt.submission_id for attempt in failed])
    return [
        Fault(
            login=owners[attempt.submission_id][0],
            name=owners[attempt.submission_id][1],
            submission=attempt.submission_id,
            attempt=attempt.id,
            verdict=str(attempt.verdict),
            fault=(attempt.staff_notes or {}).get("fault"),
        )
        for attempt in failed
    ]
