"""Jobs that the platform submits itself: the stages of an attempt, reference runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from qianka.domain.jobs import JobKind, JobState
from qianka.domain.resources import Label, Resources
from qianka.ids import new_id
from qianka.services import events
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.repos import jobs as repo
from qianka.store.tables import Job


def submit_stage(
    session: Session,
    platform: Platform,
    *,
    key: str | None,
    person_id: int,
    cohort_id: int | None,
    kind: JobKind,
    name: str,
    spec: dict[str, Any],
    resources: Resources,
    wall_limit: float,
    attempt_id: str | None = None,
    label: Label = Label.NORMAL,
    continues: bool = False,
    charged: bool = True,
    max_retries: int | None = None,
    job_id: str | None = None,
) -> Job:
    """Queue a job inside the caller's transaction; the same `key` again gives the same job (None: always a new one).

    `spec` is the text of job.json without what is said by the other arguments: argv, environment,
    limits, work, mounts, volume, runtime. Call `platform.wake_worker()` after the commit.
    """
    existing = None if key is None else repo.by_key(session, key)
    if existing is not None:
        return existing
    job_id = job_id or new_id("j")
    job = Job(
        id=job_id,
        key=key,
        cohort_id=cohort_id,
        person_id=person_id,
        attempt_id=attempt_id,
        kind=kind.value,
        name=name,
        label=label.value,
        state=JobState.PENDING.value,
        spec=complete(platform, job_id, spec, kind, name, resources, wall_limit, label),
        cpus=resources.cpus,
        memory=resources.memory,
        gpus=resources.gpus,
        nodes=resources.nodes,
        exclusive=resources.exclusive,
        wall_limit=wall_limit,
        continues=continues,
        charged=charged,
        max_retries=platform.settings.queue_max_retry if max_retries is None else max_retries,
        queued_at=platform.now(),
    )
    session.add(job)
    # The row goes first: with foreign keys and no relationship the unit of work does not know the order.
    session.flush()
    tell(session, platform, job, "queued")
    return job


def complete(
    platform: Platform,
    job_id: str,
    spec: dict[str, Any],
    kind: JobKind,
    name: str,
    resources: Resources,
    wall_limit: float,
    label: Label,
) -> dict[str, Any]:
    """The whole text of job.json: `spec` with its defaults and what the platform decides."""
    settings = platform.settings
    whole: dict[str, Any] = {
        "cwd": "/out",
        "environment": {},
        "work": None,
        "mounts": [],
        "volume": "folder",
        "runtime": None,
        "network": "none",
        "isolation": isolation(settings),
        **spec,
        "format": 1,
        "job": job_id,
        "kind": kind.value,
        "name": name,
        "resources": asdict(resources),
        "label": label.value,
    }
    whole["limits"] = {**default_limits(resources), **spec.get("limits", {}), "wall": wall_limit}
    return whole


def isolation(settings: Settings) -> dict[str, Any]:
    """How runs are contained, as it stands in job.json."""
    words: dict[str, Any] = {"backend": settings.sandbox_backend, "minimum": settings.sandbox_minimum}
    if settings.sandbox_image:
        words["image"] = settings.sandbox_image
    if settings.sandbox_docker_socket:
        words["socket"] = settings.sandbox_docker_socket
    return words


def default_limits(resources: Resources) -> dict[str, Any]:
    """Limits of a job that states none: bytes and seconds, generous but never without end."""
    return {
        "cpu": None,
        "processes": 256,
        "output": 1 << 20,
        "output_total": 256 << 20,
        "disk": 2 << 30,
        "inodes": 100_000,
        "tmp": 512 << 20,
        "shm": max(64 << 20, resources.memory // 2),
        "grace": 5.0,
    }


def tell(session: Session, platform: Platform, job: Job, kind: str, **payload: Any) -> None:
    """Emit a change of `job` on its own topic and on that of the attempt it serves."""
    facts = {"job": job.id, "name": job.name, "state": job.state, "run": job.run, **payload}
    events.emit(session, platform, f"job:{job.id}", kind, **facts)
    if job.attempt_id is None:
        events.emit_for_person(session, platform, job.person_id, "job", job=job.id, state=job.state)
    if job.attempt_id is not None:
        events.emit(session, platform, f"attempt:{job.attempt_id}", f"job_{kind}", **facts)
