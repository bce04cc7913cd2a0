"""The board of a lab's own metric: the best accepted score of each student or group, from the attempts that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy.orm import Session

from qianka.domain.verdicts import Verdict
from qianka.errors import NotFound, PlatformFault, Text
from qianka.grading.metrics import METRICS, Metric
from qianka.grading.model import BoardRule
from qianka.grading.ranking import Entry, rank, shown, top_share
from qianka.services import access
from qianka.services.attempts.outcome import UNCOUNTED
from qianka.services.boards.names import Named, named, owner_of
from qianka.services.labs import loaded, version_folder
from qianka.services.platform import Caller, Platform
from qianka.store.repos import boards as repo
from qianka.store.repos.records import newest_event
from qianka.store.session import Store
from qianka.store.tables import Cohort, Lab

BONUS = 0.10
_FEW = 60
"""of so many owners the attempts are read again by themselves; of more all are read"""
_MINUTE = 60.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a board. `name` is the alias, unless the person shows their name or the caller is staff."""

    rank: int | None
    name: str
    score: str | None
    points: float | None = None
    at: datetime
    bonus: bool
    mine: bool
    entries: int | None = None
    """how many hand-ins it is the best of, where that is told"""


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board as one caller sees it; students without any ended attempt are not on it."""

    lab: str
    lab_id: int
    title: str
    title_en: str
    metric: str
    higher_is_better: bool
    digits: int
    rows: list[Row]
    unit: str | None = None
    """of an efficiency board: gpu_minute or cpu_minute"""

    def as_json(self) -> dict[str, Any]:
        """For the HTTP API."""
        rows = [{**vars(row), "at": row.at.isoformat()} for row in self.rows]
        return {**vars(self), "rows": rows}


class Counted(NamedTuple):
    """An attempt that counts, as the board needs it."""

    attempt: str
    submission: str
    person: int
    group: int | None
    score: float | None


class Best(NamedTuple):
    """The attempt that ranks for an owner."""

    score: float | None
    at: datetime
    points: float | None


class Made(NamedTuple):
    """What is kept of a board: the best of each owner, whoever may stand there, until an event tells of a change."""

    version: tuple[int, int]
    seen: int
    """the newest event of all when it was made"""
    rule: tuple[str, int, bool]
    unit: str | None
    best: dict[str, Best]


_Key = tuple[int, bool]
_kept: WeakKeyDictionary[Store, dict[_Key, Made]] = WeakKeyDictionary()
_UNCOUNTED = frozenset(verdict.value for verdict in UNCOUNTED)


def board(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Board:
    """The board of a lab: best first, ties share a rank (1, 2, 2, 4), the earlier hand-in above.

    Raises NotFound, also for a lab without a metric.
    """
    return _made(platform, caller, cohort_slug, lab_slug, by_efficiency=False)


def efficiency(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Board:
    """Score per GPU-minute (CPU-minute where no attempt used a card) of the best accepted hand-in by that measure.

    The minutes are those that the ledger has for the charged jobs that made the hand-in. For a metric of which less is
    better, it is the score times the minutes, least first. Raises NotFound.
    """
    return _made(platform, caller, cohort_slug, lab_slug, by_efficiency=True)


def _made(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, *, by_efficiency: bool) -> Board:
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab = access.lab_for(session, caller, cohort, lab_slug)
        rule, size = _rule(platform, cohort, lab)
        is_staff = access.is_staff(session, caller, cohort.id)
        names = named(session, caller, cohort, lab.slug, grouped=size > 1, is_staff=is_staff)
        digits = max(rule.digits, 4) if by_efficiency else rule.digits
        wanted = (rule.metric, digits, size > 1)
        made = _best(platform.store, session, lab.id, wanted, by_efficiency=by_efficiency)
    best = {owner: one for owner, one in made.best.items() if owner in names}
    return Board(
        lab=lab.slug,
        lab_id=lab.id,
        title=lab.title,
        title_en=lab.title_en,
        metric=rule.metric,
        higher_is_better=rule.rule.higher_is_better,
        digits=digits,
        rows=_rows(best, names, rule.rule, digits, is_staff=is_staff),
        unit=made.unit,
    )


def _rule(platform: Platform, cohort: Cohort, lab: Lab) -> tuple[BoardRule, int]:
    """What ranks, and how many may hand in together."""
    try:
        rules = loaded(version_folder(platform, cohort.slug, lab.slug, lab.version))
    except PlatformFault:  # the scores are in the database; a lost folder must not take the board away
        return BoardRule(metric=next(iter(METRICS)), digits=4), 1
    if rules.board is None:
        raise NotFound(
            Text(f"实验 {lab.slug} 没有排行榜：它不按指标评分", f"lab {lab.slug} has no board: no metric is scored"),
            Text("成绩用 qianka grades 看", "see the grades with qianka grades"),
            reason="no_board",
        )
    return rules.board, rules.handin.group


def _best(store: Store, session: Session, lab_id: int, rule: tuple[str, int, bool], *, by_efficiency: bool) -> Made:
    """The best of each owner; made anew when an event has told of a change since, or the rule is another.

    Where it is known whose attempts have ended since, only those are read again: thousands may lie there.
    """
    version = repo.version(session, f"board:{lab_id}")  # before the rows: what comes between is seen next time
    kept = _kept.setdefault(store, {})
    found = kept.get((lab_id, by_efficiency))
    is_known = found is not None and found.rule == rule and version[1] > 0
    if found is not None and is_known and found.version == version:
        return found
    seen = newest_event(session)
    changed = None if found is None or not is_known or by_efficiency else _changed(session, lab_id, found, rule[2])
    metric, digits, grouped = METRICS[rule[0]], rule[1], rule[2]
    counted, unit = _counted(session, lab_id, changed), None
    if by_efficiency:
        unit, counted = _per_minute(session, lab_id, counted, metric)
    best = _best_of_each(counted, metric, digits, grouped=grouped)
    if changed is not None:  # a group's members may have handed in alone as well: that is not all read
        best = {owner: one for owner, one in best.items() if owner in changed}
    told = repo.told_of_attempts(session, [one.attempt for one in best.values()])
    fresh = {owner: Best(one.score, *told[one.attempt]) for owner, one in best.items()}
    if found is not None and changed is not None:
        fresh = {owner: one for owner, one in found.best.items() if owner not in changed} | fresh
    made = Made(version, seen, rule, unit, fresh)
    kept[lab_id, by_efficiency] = made
    return made


def _changed(session: Session, lab_id: int, found: Made, grouped: bool) -> set[str] | None:
    """The owners of all attempts that came to count since a board was made; None where that is not known."""
    ended = repo.verdicts_since(session, lab_id, found.seen)
    if ended is None or len(ended) < repo.told_since(session, f"board:{lab_id}", found.seen):
        return None  # something else has told of a change
    owners = {owner_of(person, group if grouped else None) for person, group in ended}
    return owners if len(owners) <= _FEW else None


def _counted(session: Session, lab_id: int, owners: set[str] | None = None) -> list[Counted]:
    """The newest attempt that counts of each hand-in (at least of `owners`), in the order of handing in."""
    newest: dict[str, Counted] = {}
    accepted = Verdict.ACCEPTED.value
    people = None if owners is None else [int(owner[1:]) for owner in owners if owner.startswith("p")]
    groups = [int(owner[1:]) for owner in owners or () if owner.startswith("g")]
    for attempt, submission, verdict, score, person, group in repo.ended_in_lab(session, lab_id, people, groups):
        if verdict is not None and verdict not in _UNCOUNTED:
            newest[submission] = Counted(attempt, submission, person, group, score if verdict == accepted else None)
    return list(newest.values())


def _per_minute(session: Session, lab_id: int, counted: Sequence[Counted], metric: Metric) -> tuple[str, list[Counted]]:
    """The unit, and the attempts with their score by minute; what the ledger does not know has none."""
    used = {handed: (float(cpu or 0), float(gpu or 0)) for handed, cpu, gpu in repo.used_in_lab(session, lab_id)}
    has_cards = any(gpu > 0 for _, gpu in used.values())
    found = []
    for one in counted:
        minutes = used.get(one.submission, (0.0, 0.0))[has_cards] / _MINUTE
        score = None
        if one.score is not None and minutes > 0:
            score = one.score / minutes if metric.higher_is_better else one.score * minutes
        found.append(one._replace(score=score))
    return ("gpu_minute" if has_cards else "cpu_minute"), found


def _best_of_each(counted: Sequence[Counted], metric: Metric, digits: int, *, grouped: bool) -> dict[str, Counted]:
    """The attempt that ranks for each owner: better as shown, else the earlier one."""
    best: dict[tuple[int, int | None], Counted] = {}
    for one in counted:  # in the order of handing in
        owner = (one.person, None) if not grouped or one.group is None else (0, one.group)
        known = best.get(owner)
        if known is None or _beats(one.score, known.score, metric, digits):
            best[owner] = one
    return {owner_of(person, group): one for (person, group), one in best.items()}


def _beats(mine: float | None, theirs: float | None, metric: Metric, digits: int) -> bool:
    if mine is None or (theirs is not None and not metric.better(mine, theirs)):
        return False  # what is shown as better is better: the texts are made for few
    mine_shown, theirs_shown = shown(mine, digits), shown(theirs, digits)
    if mine_shown is None:
        return False
    return theirs_shown is None or metric.better(float(mine_shown), float(theirs_shown))


def _rows(best: dict[str, Best], names: dict[str, Named], metric: Metric, digits: int, *, is_staff: bool) -> list[Row]:
    owners = sorted(best)
    entries = [Entry(person=i, score=best[owner].score, at=best[owner].at) for i, owner in enumerate(owners)]
    ranked = rank(entries, metric, digits)
    bonus = {row.entry.person for row in top_share(ranked, BONUS)}
    rows = []
    for row in ranked:
        owner = owners[row.entry.person]
        who = names[owner]
        rows.append(
            Row(
                rank=row.rank,
                name=who.name,
                score=row.shown,
                points=best[owner].points if is_staff or who.is_mine else None,
                at=row.entry.at,
                bonus=row.entry.person in bonus,
                mine=who.is_mine,
            )
        )
    return rows
