"""Looking at labs: what is published, how far it is prepared, what students may take home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qianka.errors import Text, Unavailable
from qianka.services import access
from qianka.services.labs.folders import version_folder
from qianka.services.platform import Caller, Platform
from qianka.store.repos import labs as repo
from qianka.store.tables import Lab


def list_labs(platform: Platform, caller: Caller, cohort_slug: str) -> list[Lab]:
    """The labs of a cohort; students see those that have opened."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        found = repo.of_cohort(session, cohort.id)
        if access.is_staff(session, caller, cohort.id):
            return found
    now = platform.now()
    return [lab for lab in found if lab.opens_at is None or lab.opens_at <= now]


def get(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Lab:
    """One lab; raises NotFound."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        return access.lab_for(session, caller, cohort, lab_slug)


def public_version(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Path:
    """A zip with what students may have: published again with `practice=True` it is a lab without secrets.

    Raises Unavailable while the data is still being prepared.
    """
    lab = get(platform, caller, cohort_slug, lab_slug)
    path = version_folder(platform, cohort_slug, lab_slug, lab.version).public
    if not path.is_file():
        raise Unavailable(
            Text("实验数据还在准备", "the lab's data is still being prepared"),
            Text("过一两分钟再试", "try again in a minute or two"),
            reason="not_prepared",
        )
    return path


def readiness(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> dict[str, Any]:
    """For staff: whether data and reference of the present version are there, and what failed."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        lab = access.lab_for(session, caller, cohort, lab_slug)
        jobs = repo.jobs_with_prefix(session, f"prepare:{lab.id}:{lab.version}:")
        rows = repo.references(session, lab.id, lab.version)
    folder = version_folder(platform, cohort_slug, lab_slug, lab.version)
    return {
        "version": lab.version,
        "prepared": folder.made.is_dir(),
        "prepare_jobs": [{"id": job.id, "state": job.state} for job in jobs],
        "references": [{"node": row.node, "state": row.state, "figures": row.figures} for row in rows],
    }
