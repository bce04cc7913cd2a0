"""The reference solution timed on a node: the median of a few runs, made once for each version and node."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from sqlalchemy.orm import Session

from qianka.domain.jobs import JobKind, JobState
from qianka.grading import stages
from qianka.grading.checks.memory import peak
from qianka.grading.checks.time import seconds
from qianka.grading.model import Lab as LabRules
from qianka.grading.progress import ReferenceState
from qianka.services import jobs
from qianka.services.labs import data
from qianka.services.labs.folders import VersionFolder, loaded, version_folder
from qianka.services.platform import Platform
from qianka.store.repos import jobs as job_repo
from qianka.store.repos import labs as repo
from qianka.store.tables import Cohort, Job, Lab, Reference


def state(
    platform: Platform, cohort: Cohort, lab: Lab, version: str, node: str
) -> tuple[ReferenceState, dict[str, Any]]:
    """Where the reference of a version on a node stands, and its figures once ready; asks for one that is missing."""
    folder = version_folder(platform, cohort.slug, lab.slug, version)
    rules = loaded(folder)
    if not rules.compared or rules.reference is None or not (folder.source / rules.reference.folder).is_dir():
        return "unneeded", {}
    with platform.store.reading() as session:
        row = repo.reference(session, lab.id, version, node)
    if row is None:
        row = Reference(lab_id=lab.id, version=version, node=node, state="wanted", created_at=platform.now())
        with platform.store.transaction() as session:
            session.add(row)
            session.flush()
            _advance(session, platform, cohort, lab, row)
        platform.wake_worker()
    known: dict[str, ReferenceState] = {"done": "ready", "failed": "failed"}
    return known.get(row.state, "waiting"), dict(row.figures)


def advance(platform: Platform, reference_id: int) -> str:
    """Submit what is missing of a reference, take in what ended; returns its state."""
    with platform.store.transaction() as session:
        row = session.get(Reference, reference_id)
        found = None if row is None else repo.with_cohort(session, row.lab_id)
        if row is None or found is None:
            return "failed"
        lab, cohort = found
        _advance(session, platform, cohort, lab, row)
    platform.wake_worker()
    return row.state


def renew(session: Session, lab: Lab) -> None:
    """Let failed references of the lab's version be tried once more."""
    for row in repo.references(session, lab.id, lab.version):
        if row.state == "failed":
            row.state, row.job_ids = "wanted", []


def _advance(session: Session, platform: Platform, cohort: Cohort, lab: Lab, row: Reference) -> None:
    folder = version_folder(platform, cohort.slug, lab.slug, row.version)
    rules = loaded(folder)
    if row.state not in ("wanted", "running"):
        return
    if row.state == "wanted":
        round_ = int((row.figures or {}).get("round", 0)) + 1
        row.figures, row.state = {"round": round_}, "running"
    _submit(session, platform, cohort, lab, row, folder, rules, "train", {})
    trained = _of_stage(session, row, "train")
    if "predict" in rules.compared and trained[0].state == JobState.COMPLETED.value:
        outs = {"train": platform.folders.jobs / trained[0].id / "out"}
        _submit(session, platform, cohort, lab, row, folder, rules, "predict", outs)
    _settle(session, row, rules)


def _submit(
    session: Session,
    platform: Platform,
    cohort: Cohort,
    lab: Lab,
    row: Reference,
    folder: VersionFolder,
    rules: LabRules,
    name: str,
    outs: dict[str, Any],
) -> None:
    if rules.reference is None:
        return
    paths = stages.Paths(
        tree=folder.source / rules.reference.folder,
        train_data=folder.made / "train",
        test_data=folder.made / "test",
        answers=folder.made / "answers",
        runtime=platform.folders.runtime,
        outs=outs,
    )
    stage = stages.stage(rules, paths, name)
    submitted = [
        jobs.submit_stage(
            session,
            platform,
            key=f"{_prefix(row, name)}{number}",
            person_id=data.payer(lab),
            cohort_id=cohort.id,
            kind=JobKind.REFERENCE,
            name=f"reference-{name}",
            spec=stage.spec,
            resources=stage.resources,
            wall_limit=stage.wall,
            continues=True,
            charged=False,
        ).id
        for number in range(1, rules.reference.runs + 1)
    ]
    row.job_ids = list(dict.fromkeys([*row.job_ids, *submitted])) if row.job_ids else submitted


def _settle(session: Session, row: Reference, rules: LabRules) -> None:
    """Enter the medians once every run has ended; a solution that does not complete is a failed reference."""
    made = job_repo.by_ids(session, row.job_ids)
    if any(not JobState(job.state).ended for job in made.values()):
        return
    figures: dict[str, Any] = {"round": row.figures["round"]}
    for name in ("train", "predict") if "predict" in rules.compared else ("train",):
        runs = [job.result or {} for job in _of_stage(session, row, name) if job.state == JobState.COMPLETED.value]
        if not runs:
            failed = [{"job": job.id, "state": job.state, "reason": job.reason} for job in made.values()]
            row.state, row.figures = "failed", {**figures, "failed": failed}
            return
        figures[name] = {
            "cpu": _median([seconds(run, "cpu") for run in runs]),
            "wall": _median([seconds(run, "wall") for run in runs]),
            "peak_memory": _median([peak(run) for run in runs]),
            "runs": [
                {key: run.get(key) for key in ("job", "wall", "cpu", "peak_memory", "disturbed", "node")}
                for run in runs
            ],
        }
    row.state, row.figures = "done", figures


def _of_stage(session: Session, row: Reference, name: str) -> list[Job]:
    return repo.jobs_with_prefix(session, _prefix(row, name))


def _prefix(row: Reference, name: str) -> str:
    return f"reference:{row.id}:{row.figures['round']}:{name}-"


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
