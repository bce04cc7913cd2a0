"""Looking at labs: what is published, how far it is prepared, what students may take home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qianka.errors import NotFound, Text, Unavailable
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
    return [lab for lab in found if _is_open(platform, lab)]


def get(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Lab:
    """One lab; raises NotFound, for students also before it opens."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab = access.lab_for(session, caller, cohort, lab_slug)
        staff = access.is_staff(session, caller, cohort.id)
    if not staff and not _is_open(platform, lab):
        raise NotFound(
            Text(f"实验 {lab_slug} 还没有开放", f"the lab {lab_slug} is not open yet"),
            Text("用 qianka lab list 查看有哪些", "see which there are: qianka lab list"),
            reason="no_lab",
        )
    return lab


def _is_open(platform: Platform, lab: Lab) -> bool:
    return lab.opens_at is None or lab.opens_at <= platform.now()


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
