"""Budgets a week, in the cohort's own zone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from qianka.domain.people import Role
from qianka.domain.resources import Resources
from qianka.errors import Forbidden, NotFound, OverLimit
from qianka.services import budgets
from qianka.services.platform import Platform
from qianka.store.tables import Cohort, Ledger, Person
from qianka.testing import (
    FakeClock,
    caller_of,
    enroll,
    make_cohort,
    make_job,
    make_person,
    make_platform,
    make_student,
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2026, 9, 9, 4, 0, tzinfo=timezone.utc))  # Wednesday noon in Shanghai


@pytest.fixture
def platform(tmp_path: Path, clock: FakeClock) -> Iterator[Platform]:
    platform = make_platform(tmp_path, clock=clock)
    yield platform
    platform.store.close()


def spend(
    platform: Platform, cohort: Cohort, person: Person, ended_at: datetime, hours: float, *, charged: bool = True
) -> None:
    job = make_job(platform, person, cohort=cohort, charged=charged)
    with platform.store.transaction() as session:
        row = session.merge(job)
        row.state = "COMPLETED"
        session.add(
            Ledger(
                job_id=job.id,
                run=1,
                person_id=person.id,
                cohort_id=cohort.id,
                kind="run",
                cpu_seconds=hours * 3600,
                gpu_seconds=hours * 360,
                charged=charged,
                started_at=ended_at,
                ended_at=ended_at,
            )
        )


def test_a_week_counts_from_its_local_start_and_forgets_the_one_before(platform: Platform, clock: FakeClock) -> None:
    cohort = make_cohort(platform, cpu_hours=10, week_start="1 08:00")
    student = make_student(platform, cohort)
    monday = datetime(2026, 9, 7, 0, 0, tzinfo=timezone.utc)  # 08:00 in Shanghai
    spend(platform, cohort, student, monday - timedelta(seconds=1), 5)
    spend(platform, cohort, student, monday, 2)
    spend(platform, cohort, student, monday + timedelta(days=1), 1, charged=False)
    budget = budgets.show(platform, caller_of(student), cohort.slug)
    assert (budget.start, budget.end) == (monday, monday + timedelta(days=7))
    assert (budget.cpu.used, budget.cpu.left, budget.gpu.used, budget.gpu.left) == (2.0, 8.0, 0.2, None)
    clock.set(budget.end)
    assert budgets.show(platform, caller_of(student), cohort.slug).cpu.used == 0.0


def test_what_is_queued_or_running_is_held_and_other_cohorts_do_not_count(platform: Platform) -> None:
    cohort, other = make_cohort(platform, cpu_hours=10), make_cohort(platform)
    student = make_student(platform, cohort)
    make_job(platform, student, cohort=cohort, wall_limit=3600, resources=Resources(cpus=2))
    make_job(platform, student, cohort=cohort, wall_limit=3600, charged=False)
    make_job(platform, student, cohort=other, wall_limit=3600)
    assert budgets.show(platform, caller_of(student), cohort.slug).cpu.reserved == 2.0


def test_a_refusal_names_the_resource_the_rest_and_the_instant_of_the_reset(platform: Platform) -> None:
    cohort = make_cohort(platform, gpu_hours=1.0, cpu_hours=100, zone="America/Detroit", week_start="3 06:00")
    student = make_student(platform, cohort)
    with platform.store.transaction() as session, pytest.raises(OverLimit) as refused:
        budgets.admit(session, platform, cohort, student.id, Resources(gpus=2), 3600)
    assert refused.value.reason == "budget_gpu"
    assert refused.value.details["left"] == 1.0
    assert refused.value.details["resets_at"] == "2026-09-09T10:00:00+00:00"
    assert refused.value.hint is not None
    assert "2026-09-09 06:00 (UTC-04:00, America/Detroit)" in refused.value.hint.zh


def test_a_job_that_needs_none_of_a_spent_budget_is_taken(platform: Platform) -> None:
    cohort = make_cohort(platform, gpu_hours=0.0)
    student = make_student(platform, cohort)
    with platform.store.transaction() as session:
        budgets.admit(session, platform, cohort, student.id, Resources(cpus=4), 3600)


def test_only_staff_sees_the_budget_of_another(platform: Platform) -> None:
    cohort, other = make_cohort(platform), make_cohort(platform)
    student, classmate, teacher = make_student(platform, cohort), make_student(platform, cohort), make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    enroll(platform, other, teacher, Role.STUDENT)
    assert budgets.show(platform, caller_of(teacher), cohort.slug, student.login).cpu.used == 0.0
    with pytest.raises(Forbidden):
        budgets.show(platform, caller_of(classmate), cohort.slug, student.login)
    with pytest.raises(Forbidden):
        budgets.show(platform, caller_of(teacher), other.slug, student.login)
    with pytest.raises(NotFound):
        budgets.show(platform, caller_of(student), other.slug)
