"""The week's best of a cohort: who got the most computing out of what they were given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.policy.week import Window, window
from qianka.services import access
from qianka.services.platform import Caller, Platform
from qianka.store.repos import boards
from qianka.store.repos import usage as repo
from qianka.store.tables import Cohort

MOST = 10
_HOUR = 3600.0


@dataclass
class _Sum:
    """Seconds of one person; `busy` ones were used, of the measured part."""

    cpu: float = 0.0
    cpu_busy: float = 0.0
    cpu_measured: float = 0.0
    gpu: float = 0.0
    gpu_busy: float = 0.0
    gpu_measured: float = 0.0

    @property
    def key(self) -> tuple[float, float, float]:
        return (-self.gpu_busy, -self.gpu, -self.cpu_busy)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One of the best; shares in percent, None where nothing was measured."""

    rank: int
    name: str
    is_mine: bool
    gpu_hours: float
    cpu_hours: float
    gpu_busy: float | None
    cpu_busy: float | None


@dataclass(frozen=True)
class Top:
    """The best of the cohort's present week."""

    cohort: Cohort
    week: Window
    lines: list[Line] = field(default_factory=list)


def of_week(platform: Platform, caller: Caller, cohort_slug: str) -> Top:
    """The ten best of the present week. Raises NotFound."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        return of_cohort(session, platform, cohort, caller.person_id, by_alias=caller.by_alias)


def of_cohort(
    session: Session, platform: Platform, cohort: Cohort, mine: int | None = None, *, by_alias: bool = False
) -> Top:
    """The same, for whoever may see the cohort; everybody under their alias unless they show
    their name; `by_alias`: even then.

    Ordered by card time in which the card computed, then card time, then core time that was used: holding
    a card and leaving it idle wins nothing while cards are measured.
    """
    week = window(cohort.week_start, ZoneInfo(cohort.zone), platform.now())
    students = {row.id: row for row in boards.class_names(session, cohort.id)}
    means = repo.card_means(session, cohort.id, week.start)
    sums: dict[int, _Sum] = {}
    for line in repo.of_week(session, cohort.id, week.start, week.end):
        if line.person_id in students:
            _add(sums.setdefault(line.person_id, _Sum()), line, means.get((line.job_id, line.run)))
    best = sorted(sums.items(), key=lambda item: (*item[1].key, item[0]))[:MOST]
    lines: list[Line] = []
    for place, (person, used) in enumerate(best):
        row = students[person]
        rank = lines[-1].rank if place and used.key == best[place - 1][1].key else place + 1
        lines.append(
            Line(
                rank=rank,
                name=row.name if row.show_name and not by_alias else row.alias,
                is_mine=person == mine,
                gpu_hours=used.gpu / _HOUR,
                cpu_hours=used.cpu / _HOUR,
                gpu_busy=_share(used.gpu_busy, used.gpu_measured),
                cpu_busy=_share(used.cpu_busy, used.cpu_measured),
            )
        )
    return Top(cohort, week, lines)


def _add(total: _Sum, line: Any, card_mean: float | None) -> None:
    cpu, gpu = float(line.cpu_seconds), float(line.gpu_seconds)
    used = (line.result or {}).get("cpu")
    total.cpu += cpu
    total.gpu += gpu
    if isinstance(used, (int, float)):
        total.cpu_busy += min(float(used), cpu)
        total.cpu_measured += cpu
    if card_mean is not None:
        total.gpu_busy += gpu * card_mean / 100
        total.gpu_measured += gpu


def _share(part: float, whole: float) -> float | None:
    return None if whole <= 0 else min(100.0, 100 * part / whole)
