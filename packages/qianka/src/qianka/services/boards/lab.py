"""The board of a lab: the best accepted score of each student, computed from the attempts that count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from qianka.domain.verdicts import Verdict
from qianka.errors import PlatformFault
from qianka.grading.metrics import METRICS
from qianka.grading.model import BoardRule
from qianka.grading.ranking import Entry, Ranked, rank, shown, top_share
from qianka.services import access
from qianka.services.attempts.outcome import last_of_each
from qianka.services.labs import loaded, version_folder
from qianka.services.platform import Caller, Platform
from qianka.store.repos import attempts as repo
from qianka.store.tables import Attempt, Person, Submission

BONUS = 0.10


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a board. `name` is the alias, unless the person shows their name or the caller is staff."""

    rank: int | None
    name: str
    score: str | None
    points: float | None
    at: datetime
    bonus: bool
    mine: bool


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board as one caller sees it; students without any ended attempt are not on it."""

    lab: str
    title: str
    title_en: str
    metric: str
    higher_is_better: bool
    digits: int
    rows: list[Row]

    def as_json(self) -> dict[str, Any]:
        """For the HTTP API."""
        rows = [{**vars(row), "at": row.at.isoformat()} for row in self.rows]
        return {**vars(self), "rows": rows}


def board(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Board:
    """The board of a lab: best first, ties share a rank (1, 2, 2, 4), the earlier hand-in above. Raises NotFound."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab = access.lab_for(session, caller, cohort, lab_slug)
        staff = access.is_staff(session, caller, cohort.id)
        pairs = last_of_each(repo.done_in_lab(session, lab.id))
        people = {
            person.id: person for person, enrolled in repo.students(session, cohort.id) if enrolled.state == "active"
        }
    rule = _rule(platform, cohort_slug, lab_slug, lab.version)
    best = _best_of_each(pairs, people, rule)
    entries = [
        Entry(person=person, score=_score(attempt), at=submission.submitted_at)
        for person, (attempt, submission) in best.items()
    ]
    ranked = rank(entries, rule.rule, rule.digits)
    bonus = {row.entry.person for row in top_share(ranked, BONUS)}
    return Board(
        lab=lab.slug,
        title=lab.title,
        title_en=lab.title_en,
        metric=rule.metric,
        higher_is_better=rule.rule.higher_is_better,
        digits=rule.digits,
        rows=[_row(row, best, people, caller, staff, bonus) for row in ranked],
    )


def _rule(platform: Platform, cohort_slug: str, lab_slug: str, version: str) -> BoardRule:
    try:
        return loaded(version_folder(platform, cohort_slug, lab_slug, version)).board
    except PlatformFault:  # the scores are in the database; a lost folder must not take the board away
        return BoardRule(metric=next(iter(METRICS)), digits=4)


def _best_of_each(
    pairs: list[tuple[Attempt, Submission]], people: dict[int, Person], rule: BoardRule
) -> dict[int, tuple[Attempt, Submission]]:
    """The attempt that ranks for each student: better as shown, else the earlier one."""
    best: dict[int, tuple[Attempt, Submission]] = {}
    for attempt, submission in pairs:  # in the order of handing in
        if attempt.person_id not in people:
            continue
        known = best.get(attempt.person_id)
        if known is None or _beats(attempt, known[0], rule):
            best[attempt.person_id] = (attempt, submission)
    return best


def _beats(attempt: Attempt, known: Attempt, rule: BoardRule) -> bool:
    mine, theirs = shown(_score(attempt), rule.digits), shown(_score(known), rule.digits)
    if mine is None:
        return False
    return theirs is None or rule.rule.better(float(mine), float(theirs))


def _score(attempt: Attempt) -> float | None:
    return attempt.score if attempt.verdict == Verdict.ACCEPTED.value else None


def _row(
    row: Ranked,
    best: dict[int, tuple[Attempt, Submission]],
    people: dict[int, Person],
    caller: Caller,
    staff: bool,
    bonus: set[int],
) -> Row:
    person = people[row.entry.person]
    attempt, _ = best[person.id]
    mine = person.id == caller.person_id
    return Row(
        rank=row.rank,
        name=person.name if staff or mine or person.show_name else person.alias,
        score=row.shown,
        points=attempt.points if staff or mine else None,
        at=row.entry.at,
        bonus=person.id in bonus,
        mine=mine,
    )
