"""Budgets: core-hours and card-hours that a person may use a week in a cohort.

Admission is safe: a job is taken only if what was used this week, what open jobs may still use and
its own limit all fit. Hand-ins are never refused for a budget, but their training counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.clock import utc_offset
from qianka.domain.resources import Resources
from qianka.errors import OverLimit, Text
from qianka.policy.week import window
from qianka.services import access
from qianka.services.platform import Caller, Platform
from qianka.store.repos import jobs as repo
from qianka.store.tables import Cohort

_HOUR = 3600.0


@dataclass(frozen=True, kw_only=True)
class Account:
    """One resource in the present week; hours, `limit` None: without end."""

    used: float
    reserved: float
    limit: float | None

    @property
    def left(self) -> float | None:
        """Hours that may still be asked for."""
        return None if self.limit is None else max(0.0, self.limit - self.used - self.reserved)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A person's budgets in a cohort; the week runs from `start` to `end` (UTC)."""

    cpu: Account
    gpu: Account
    start: datetime
    end: datetime
    zone: str


def budget_of(session: Session, platform: Platform, cohort: Cohort, person_id: int) -> Budget:
    """What a person has used, reserved and left in the cohort's present week."""
    week = window(cohort.week_start, ZoneInfo(cohort.zone), platform.now())
    cpu, gpu = repo.charged_between(session, person_id, cohort.id, week.start, week.end)
    cpu_open, gpu_open = repo.reserved(session, person_id, cohort.id)
    return Budget(
        cpu=Account(used=cpu / _HOUR, reserved=cpu_open / _HOUR, limit=cohort.cpu_hours),
        gpu=Account(used=gpu / _HOUR, reserved=gpu_open / _HOUR, limit=cohort.gpu_hours),
        start=week.start,
        end=week.end,
        zone=cohort.zone,
    )


def show(platform: Platform, caller: Caller, cohort_slug: str, login: str | None = None) -> Budget:
    """The caller's budget, or that of `login` for staff of the cohort."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        person_id = caller.person_id
        if login is not None and login != caller.login:
            access.require_staff(session, caller, cohort.id)
            person_id = access.person_for(session, caller, login).id
        return budget_of(session, platform, cohort, person_id or 0)


def admit(
    session: Session,
    platform: Platform,
    cohort: Cohort,
    person_id: int,
    resources: Resources,
    wall_limit: float,
    held: tuple[float | None, int | None] = (None, None),
    jobs: int = 1,
) -> None:
    """Raises OverLimit when `jobs` such jobs would not fit what is left, saying how much there is and until when.

    Counted are the cores and cards of all nodes together, or `held` (cores, cards) where it says more.
    """
    budget = budget_of(session, platform, cohort, person_id)
    cpus = resources.all_cpus if held[0] is None else held[0]
    gpus = resources.all_gpus if held[1] is None else held[1]
    for name, account, count in (("CPU", budget.cpu, cpus), ("GPU", budget.gpu, float(gpus))):
        asked = jobs * count * wall_limit / _HOUR
        left = account.left
        if left is None or asked == 0 or asked <= left + 1e-9:
            continue
        raise _over(budget, name, account, asked, left)


def _over(budget: Budget, name: str, account: Account, asked: float, left: float) -> OverLimit:
    again = budget.end.astimezone(ZoneInfo(budget.zone))
    when = f"{again:%Y-%m-%d %H:%M} ({utc_offset(again)}, {budget.zone})"
    return OverLimit(
        Text(
            f"本周 {name} 预算不够：要 {asked:.2f} 小时，还剩 {left:.2f}（上限 {account.limit:g}，已用 "
            f"{account.used:.2f}，排队和运行中占 {account.reserved:.2f}）",
            f"this week's {name} budget does not cover it: {asked:.2f} hours asked, {left:.2f} left (limit "
            f"{account.limit:g}, used {account.used:.2f}, held by open jobs {account.reserved:.2f})",
        ),
        Text(
            f"调小时间上限或资源，取消不用的任务，或等到 {when} 重置",
            f"ask for less time or fewer resources, cancel jobs you do not need, or wait for {when}",
        ),
        reason=f"budget_{name.lower()}",
        asked=asked,
        left=left,
        limit=account.limit,
        resets_at=budget.end.isoformat(),
    )
