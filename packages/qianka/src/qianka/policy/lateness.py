"""What being late costs: penalties by the day, with a cap and a floor, and a budget of late days.

Pure: the outcome follows from the works alone, whatever order they were graded in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Mode = Literal["refuse", "mark", "penalty"]


@dataclass(frozen=True, kw_only=True)
class LatePolicy:
    """The `[handin]` of a lab on being late. Shares are of the points earned, the floor of the full points."""

    mode: Mode = "mark"
    grace_seconds: int = 0
    per_day: float = 0.0
    """share of the points taken for each calendar day"""
    steps: tuple[float, ...] = ()
    """instead of `per_day`: the share taken after 1, 2, … days; the last holds for all days after"""
    cap: float = 1.0
    """most share that is ever taken"""
    floor: float = 0.0
    """points are never lowered to below this share of the full points"""
    most_days: int | None = None
    """later than that nothing is accepted; None: until the lock"""
    budget_days: int | None = None
    """late days of the cohort's budget that this lab takes at most; None: all there are"""

    @property
    def takes_late(self) -> bool:
        """Whether late hand-ins are accepted at all."""
        return self.mode != "refuse"

    def share(self, days: int) -> float:
        """The share of the points taken for `days` calendar days that no late day covers."""
        if self.mode != "penalty" or days <= 0:
            return 0.0
        taken = self.steps[min(days, len(self.steps)) - 1] if self.steps else self.per_day * days
        return min(taken, self.cap, 1.0)

    def points(self, raw: float, most: float, days: int) -> float:
        """What is left of `raw` points (of `most`) after `days` days, to two digits; never more than `raw`."""
        left = raw - raw * self.share(days)
        return min(raw, round(max(left, min(raw, self.floor * most)), 2))


@dataclass(frozen=True, kw_only=True)
class Work:
    """One graded hand-in: points before any penalty, how many calendar days late, by which policy."""

    id: str
    points: float
    most: float
    days: int
    policy: LatePolicy


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A person's works in one lab, in the order of handing in. `order`: when late days are spent on it."""

    lab: int
    order: Any
    """sorts the labs of a cohort: by due date of the class, labs without one last"""
    works: tuple[Work, ...]
    last: bool = False
    """the last hand-in counts instead of the best"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The work that counts in a lab, the late days spent on it, and what is left of its points."""

    work: Work
    late_days: int
    points: float

    @property
    def penalty(self) -> float:
        """Points taken for being late."""
        return round(self.work.points - self.points, 2)


def settle(assignments: Iterable[Assignment], budget: int) -> dict[int, Outcome]:
    """What counts in each lab of one person, with `budget` late days for the whole cohort.

    Late days are spent lab by lab in the order of due dates, never in that of grading. In a lab the best
    hand-in is that with the most points after its penalty; of equals the one that costs fewer late days,
    then the earlier. No late day is spent where it saves no point.
    """
    left, found = max(0, budget), {}
    for one in sorted(assignments, key=lambda one: one.order):
        if not one.works:
            continue
        outcomes = [_spend(work, left) for work in one.works]
        chosen = outcomes[-1]
        if not one.last:
            chosen = max(outcomes, key=lambda outcome: (outcome.points, -outcome.late_days))
        left -= chosen.late_days
        found[one.lab] = chosen
    return found


def _spend(work: Work, left: int) -> Outcome:
    """A work with as few of the late days left as bring it the most points."""
    limit = left if work.policy.budget_days is None else min(left, work.policy.budget_days)
    usable = min(work.days, limit) if work.policy.mode == "penalty" else 0
    best = work.policy.points(work.points, work.most, work.days - usable)
    spent = next(n for n in range(usable + 1) if work.policy.points(work.points, work.most, work.days - n) == best)
    return Outcome(work=work, late_days=spent, points=best)
