"""All that the grades of people in a cohort follow from, read once; a what-if changes it and asks again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.domain.verdicts import Verdict
from qianka.errors import PlatformFault
from qianka.policy.dates import Dates, Personal, lateness, personal
from qianka.policy.lateness import Assignment, LatePolicy, Outcome, Work, settle
from qianka.services.dates.personal import dates_of, rules_for
from qianka.services.platform import Platform
from qianka.services.versions import loaded, version_folder
from qianka.store.repos import dates as repo
from qianka.store.repos.dates import Graded, Handed
from qianka.store.tables import Cohort, Enrollment, Extension, Grade, Lab

UNCOUNTED = (Verdict.INFRA_ERROR, Verdict.CANCELLED, Verdict.INVALID, Verdict.NOT_RUN)
"""verdicts that are no grade: they never replace one and never rank"""


class Rules(NamedTuple):
    """What a version of a lab says on being late, and which hand-in counts."""

    policy: LatePolicy
    last: bool


RulesOf = Callable[[Lab, str], Rules]


class Counted(NamedTuple):
    """The attempt that counts for a person in a lab, and why its points are what they are."""

    outcome: Outcome
    graded: Graded
    handed: Handed
    mine: Personal


@dataclass(frozen=True, kw_only=True)
class Book:
    """Rows of a cohort, read in one transaction; `dates`, `extensions` and `budget` may be replaced."""

    cohort: Cohort
    labs: dict[int, Lab]
    dates: dict[int, Dates]
    extensions: tuple[Extension, ...]
    budget: int
    enrolled: dict[int, Enrollment]
    handed: dict[int, tuple[Handed, ...]]
    """by person, in the order of handing in; a group's hand-in with each member"""
    graded: dict[str, list[Graded]]
    """by submission"""
    grades: dict[tuple[int, int], Grade]
    rules_of: RulesOf
    _personal: dict[tuple[int, int], Personal] = field(init=False, repr=False, compare=False, default_factory=dict)
    """known answers; a changed copy of the book starts anew"""
    _days: dict[tuple[int, str], int] = field(init=False, repr=False, compare=False, default_factory=dict)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.cohort.zone)

    def personal(self, person_id: int, lab_id: int) -> Personal:
        """The dates that hold for a person; staff has none."""
        known = self._personal.get((person_id, lab_id))
        if known is not None:
            return known
        mine = self.enrolled.get(person_id)
        found = Personal(opens=None, due=None, locks=None, by=None)
        if mine is not None and mine.role == "student":
            rules = rules_for(self.extensions, lab_id, person_id, mine.section)
            found = personal(self.dates[lab_id], rules, self.zone)
        self._personal[person_id, lab_id] = found
        return found

    def late(self, person_id: int, handed: Handed) -> int:
        """How many calendar days late a hand-in counts as, for a person: by its policy and its earliest twin."""
        key = (person_id, handed.submission)
        if key not in self._days:
            policy = self.rules_of(self.labs[handed.lab_id], self._version(handed)).policy
            due = self.personal(person_id, handed.lab_id).due
            late = due is not None and handed.submitted_at > due  # its twin is never later
            at = self.counted_at(person_id, handed) if late else handed.submitted_at
            self._days[key] = lateness(at, due, self.zone, policy.grace_seconds)
        return self._days[key]

    def counted_at(self, person_id: int, handed: Handed) -> datetime:
        """When these files were first handed in: the same once more keeps the earlier time."""
        same = [
            one.submitted_at
            for one in self.handed[person_id]
            if one.lab_id == handed.lab_id
            and one.tree_sha256 == handed.tree_sha256
            and one.tree_sha256 is not None
            and (one.group_id, one.person_id if one.group_id is None else None)
            == (handed.group_id, handed.person_id if handed.group_id is None else None)
        ]
        return min([handed.submitted_at, *same])

    def counted(self, person_id: int) -> dict[int, Counted]:
        """What counts for a person, by lab."""
        found: dict[str, tuple[Graded, Handed]] = {}
        works: dict[int, list[Work]] = {}
        for handed in self.handed.get(person_id, ()):
            graded = self.newest(handed.submission)
            if graded is None:
                continue
            policy = self.rules_of(self.labs[handed.lab_id], graded.lab_version).policy
            found[graded.attempt] = (graded, handed)
            works.setdefault(handed.lab_id, []).append(
                Work(
                    id=graded.attempt,
                    points=graded.points or 0.0,
                    most=graded.max_points or 100.0,
                    days=self.late(person_id, handed),
                    policy=policy,
                )
            )
        outcomes = settle([self._assignment(lab_id, made) for lab_id, made in works.items()], self.budget)
        return {
            lab_id: Counted(outcome, *found[outcome.work.id], self.personal(person_id, lab_id))
            for lab_id, outcome in outcomes.items()
        }

    def newest(self, submission_id: str) -> Graded | None:
        """The newest attempt of a hand-in with a verdict that is a grade."""
        for one in reversed(self.graded.get(submission_id, [])):
            if one.verdict is not None and Verdict(one.verdict) not in UNCOUNTED:
                return one
        return None

    def of_people(self, handed: dict[int, tuple[Handed, ...]]) -> Book:
        """The same, for some people only."""
        return replace(self, handed=handed)

    def with_dates(self, lab_id: int, dates: Dates) -> Book:
        """The same, with other dates of a lab."""
        return replace(self, dates={**self.dates, lab_id: dates})

    def counting(self, lab_id: int, *, last: bool) -> Book:
        """The same, with the last hand-in (or the best) counting in a lab."""
        rules_of = self.rules_of

        def rules(lab: Lab, version: str) -> Rules:
            found = rules_of(lab, version)
            return Rules(found.policy, last) if lab.id == lab_id else found

        return replace(self, rules_of=rules)

    def _assignment(self, lab_id: int, works: list[Work]) -> Assignment:
        lab = self.labs[lab_id]
        due = self.dates[lab_id].due
        # Late days are spent by the due dates of the class: an extension must not take them from another lab.
        order = (due is None, "" if due is None else due.isoformat(), lab.slug)
        return Assignment(lab=lab_id, order=order, works=tuple(works), last=self.rules_of(lab, lab.version).last)

    def _version(self, handed: Handed) -> str:
        graded = self.newest(handed.submission)
        return self.labs[handed.lab_id].version if graded is None else graded.lab_version


def read(
    session: Session,
    platform: Platform,
    cohort: Cohort,
    people: Sequence[int] | None = None,
    *,
    labs: Sequence[int] | None = None,
    regrade_id: str | None = None,
) -> Book:
    """The book of `people` (None: all) over `labs` (None: all); `regrade_id`: as if that regrade were applied.

    With late days to spend, labs are never looked at alone: what one takes, another lacks.
    """
    found = repo.labs(session, cohort.id)
    if labs is not None and cohort.late_days == 0:
        found = {lab_id: found[lab_id] for lab_id in labs}
    handed = repo.handed(session, list(found), people)
    groups = repo.members(session, {one.group_id for one in handed if one.group_id is not None})
    by_person: dict[int, list[Handed]] = {}
    for one in handed:
        others = [] if one.group_id is None else groups.get(one.group_id, [])
        for person_id in dict.fromkeys([one.person_id, *others]):
            if people is None or person_id in people:
                by_person.setdefault(person_id, []).append(one)
    return Book(
        cohort=cohort,
        labs=found,
        dates={lab_id: dates_of(lab) for lab_id, lab in found.items()},
        extensions=tuple(repo.extensions(session, cohort.id)),
        budget=cohort.late_days,
        enrolled=repo.enrollments(session, cohort.id, people),
        handed={person_id: tuple(rows) for person_id, rows in by_person.items()},
        graded=repo.graded(session, list(found), people, regrade_id=regrade_id) if handed else {},
        grades=repo.grades(session, list(found), people),
        rules_of=rules_reader(platform, cohort),
    )


def rules_reader(platform: Platform, cohort: Cohort) -> RulesOf:
    """Reads the late policy of versions, each once. Where none can be read nothing is taken from anybody."""
    known: dict[tuple[int, str], Rules] = {}

    def rules_of(lab: Lab, version: str) -> Rules:
        if (lab.id, version) not in known:
            known[lab.id, version] = _rules(platform, cohort, lab, version)
        return known[lab.id, version]

    return rules_of


def _rules(platform: Platform, cohort: Cohort, lab: Lab, version: str) -> Rules:
    for name in dict.fromkeys((version, lab.version)):
        try:
            rules = loaded(version_folder(platform, cohort.slug, lab.slug, name))
        except PlatformFault:
            continue
        return Rules(rules.handin.policy, rules.grade == "last")
    return Rules(LatePolicy(), last=False)
