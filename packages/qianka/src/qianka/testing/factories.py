"""Factories: rows that a test needs but does not speak about, with sound defaults.

Each opens a transaction of its own and returns the detached row. Names count up (`student1`,
`student2`, ...), so two calls never collide.
"""

from __future__ import annotations

import itertools
import secrets
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from qianka.clock import Clock
from qianka.domain.jobs import JobKind
from qianka.domain.people import Role
from qianka.domain.resources import Label, Resources
from qianka.ids import new_id
from qianka.services import jobs
from qianka.services.platform import Caller, Platform
from qianka.settings import Settings
from qianka.store.session import Store
from qianka.store.tables import Attempt, Base, Cohort, Enrollment, Job, Lab, Person, Submission
from qianka.testing.clock import FakeClock
from qianka.testing.stores import fresh_store

_numbers = itertools.count(1)
_Row = TypeVar("_Row", bound=Base)


def make_platform(
    data_dir: Path, *, store: Store | None = None, clock: Clock | None = None, **settings: Any
) -> Platform:
    """A platform on `data_dir` with a fresh store and a fake clock; `settings` by field name."""
    platform = Platform(
        settings=Settings(data_dir=str(data_dir), **settings), store=store or fresh_store(), clock=clock or FakeClock()
    )
    platform.folders.make()
    return platform


def make_person(platform: Platform, login: str | None = None, *, admin: bool = False, **fields: Any) -> Person:
    """A person who can be asked for by `caller_of`."""
    number = next(_numbers)
    login = login or f"student{number}"
    values: dict[str, Any] = {
        "student_number": f"2026{number:06}",
        "name": f"学生{number}",
        "alias": f"alias{number}",
        "created_at": platform.now(),
        **fields,
    }
    return _save(platform, Person(login=login, is_admin=admin, **values))


def caller_of(person: Person) -> Caller:
    """`person` as the one who asks."""
    return Caller(person_id=person.id, login=person.login, is_admin=person.is_admin)


def make_cohort(platform: Platform, slug: str | None = None, *, zone: str = "Asia/Shanghai", **fields: Any) -> Cohort:
    """A cohort without budgets, in `zone`."""
    slug = slug or f"cohort{next(_numbers)}"
    values: dict[str, Any] = {"title": slug, "secret": secrets.token_hex(16), "created_at": platform.now(), **fields}
    return _save(platform, Cohort(slug=slug, zone=zone, **values))


def enroll(platform: Platform, cohort: Cohort, person: Person, role: Role = Role.STUDENT, **fields: Any) -> Enrollment:
    """`person` in `cohort`."""
    row = Enrollment(cohort_id=cohort.id, person_id=person.id, role=role.value, since=platform.now(), **fields)
    return _save(platform, row)


def make_student(platform: Platform, cohort: Cohort, login: str | None = None, **fields: Any) -> Person:
    """A person enrolled in `cohort` as a student."""
    person = make_person(platform, login, **fields)
    enroll(platform, cohort, person)
    return person


def make_lab(
    platform: Platform, cohort: Cohort, slug: str = "lab1", *, due_at: datetime | None = None, **fields: Any
) -> Lab:
    """A published lab; its folder is not made."""
    values: dict[str, Any] = {"title": slug, "version": "v1", "published_at": platform.now(), **fields}
    return _save(platform, Lab(cohort_id=cohort.id, slug=slug, due_at=due_at, **values))


def make_submission(platform: Platform, lab: Lab, person: Person, **fields: Any) -> Submission:
    """An accepted hand-in of `person`; its tree is not made."""
    values: dict[str, Any] = {
        "id": new_id("s"),
        "idempotency_key": secrets.token_hex(8),
        "filename": "hw.zip",
        "size": 1024,
        "archive_sha256": secrets.token_hex(32),
        "tree_sha256": secrets.token_hex(32),
        "state": "accepted",
        "submitted_at": platform.now(),
        **fields,
    }
    return _save(platform, Submission(cohort_id=lab.cohort_id, lab_id=lab.id, person_id=person.id, **values))


def make_attempt(platform: Platform, submission: Submission, *, state: str = "queued", **fields: Any) -> Attempt:
    """An attempt of `submission`."""
    values: dict[str, Any] = {
        "id": new_id("a"),
        "number": 1,
        "lab_version": "v1",
        "queued_at": platform.now(),
        **fields,
    }
    row = Attempt(
        submission_id=submission.id, lab_id=submission.lab_id, person_id=submission.person_id, state=state, **values
    )
    return _save(platform, row)


def make_job(
    platform: Platform,
    person: Person,
    *,
    cohort: Cohort | None = None,
    resources: Resources | None = None,
    spec: dict[str, Any] | None = None,
    wall_limit: float = 60.0,
    label: Label = Label.NORMAL,
    **fields: Any,
) -> Job:
    """A PENDING job of `person` that runs `true`; `fields` as `services.jobs.submit_stage` takes them."""
    fields.setdefault("key", f"test:{secrets.token_hex(8)}")
    with platform.store.transaction() as session:
        return jobs.submit_stage(
            session,
            platform,
            person_id=person.id,
            cohort_id=cohort.id if cohort else None,
            kind=fields.pop("kind", JobKind.RUN),
            name=fields.pop("name", "true"),
            spec=spec or {"argv": ["true"]},
            resources=resources or Resources(memory=64 << 20),
            wall_limit=wall_limit,
            label=label,
            **fields,
        )


def _save(platform: Platform, row: _Row) -> _Row:
    with platform.store.transaction() as session:
        session.add(row)
    return row
