"""Making and changing cohorts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.people import Role
from qianka.errors import BadInput, Conflict, Forbidden, NotFound
from qianka.services import cohorts
from qianka.services.platform import Platform
from qianka.store.tables import Audit
from qianka.testing import caller_of, enroll, make_cohort, make_person, make_platform, make_student


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path)
    yield platform
    platform.store.close()


def test_an_administrator_makes_a_cohort_whose_secret_is_its_own(platform: Platform) -> None:
    admin = caller_of(make_person(platform, admin=True))
    one = cohorts.create(platform, admin, slug="ai-2026", title="人工智能 2026 秋", cpu_hours=20)
    two = cohorts.create(platform, admin, slug="ai-2027", title="人工智能 2027 秋")
    assert (one.zone, one.week_start, one.cpu_hours) == ("Asia/Shanghai", "1 00:00", 20)
    assert len(one.secret) == 64
    assert one.secret != two.secret
    assert [c.slug for c in cohorts.list_cohorts(platform, admin)] == ["ai-2027", "ai-2026"]
    with pytest.raises(Conflict):
        cohorts.create(platform, admin, slug="ai-2026", title="again")


def test_others_make_none_and_see_only_their_own(platform: Platform) -> None:
    cohort, _ = make_cohort(platform), make_cohort(platform)
    student = caller_of(make_student(platform, cohort))
    with pytest.raises(Forbidden):
        cohorts.create(platform, student, slug="mine", title="mine")
    assert [c.slug for c in cohorts.list_cohorts(platform, student)] == [cohort.slug]
    assert cohorts.get(platform, student, cohort.slug).id == cohort.id
    with pytest.raises(NotFound):
        cohorts.get(platform, student, "elsewhere")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"slug": "Ai 2026"}, "slug"),
        ({"slug": ""}, "slug"),
        ({"title": "  "}, "title"),
        ({"zone": "CST"}, "zone"),
        ({"zone": "../etc/passwd"}, "zone"),
        ({"zone": "Asia"}, "zone"),
        ({"zone": ""}, "zone"),
        ({"week_start": "Monday"}, "week_start"),
        ({"cpu_hours": -1}, "cpu_hours"),
        ({"gpu_hours": float("nan")}, "gpu_hours"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(platform: Platform, change: dict[str, Any], reason: str) -> None:
    admin = caller_of(make_person(platform, admin=True))
    values: dict[str, Any] = {"slug": "ai", "title": "AI", **change}
    with pytest.raises(BadInput) as refused:
        cohorts.create(platform, admin, **values)
    assert refused.value.reason == reason
    assert refused.value.hint is not None


def test_a_teacher_changes_budgets_and_the_audit_keeps_both_values(platform: Platform) -> None:
    cohort = make_cohort(platform, cpu_hours=1.0)
    teacher, student = make_person(platform), make_student(platform, cohort)
    enroll(platform, cohort, teacher, Role.TEACHER)
    assert cohorts.change(platform, caller_of(teacher), cohort.slug, cpu_hours=5.0).cpu_hours == 5.0
    with platform.store.reading() as session:
        (line,) = session.query(Audit)
        assert line.details == {"before": {"cpu_hours": 1.0}, "after": {"cpu_hours": 5.0}}
    with pytest.raises(Forbidden):
        cohorts.change(platform, caller_of(student), cohort.slug, cpu_hours=50.0)
    with pytest.raises(BadInput):
        cohorts.change(platform, caller_of(teacher), cohort.slug, secret="known")
