"""What jobs use over time, and the week's best."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from qianka.schemas.usage import Top, UsageSample
from qianka.server import curve, machineviews
from qianka.server.deps import CallerDep, PlatformDep
from qianka.services import jobs, top

router = APIRouter(tags=["jobs"])


@router.get("/jobs/{job_id}/usage")
def get_job_usage(job_id: str, caller: CallerDep, platform: PlatformDep) -> list[UsageSample]:
    """CPU, memory and cards of a job over time, oldest first; at most 720 looks a run."""
    return machineviews.usage(jobs.usage_of(platform, caller, job_id))


@router.get("/jobs/{job_id}/metrics")
def get_job_metrics(job_id: str, caller: CallerDep, platform: PlatformDep) -> list[dict[str, Any]]:
    """What a job's present run wrote to metrics.jsonl so far: at most 2,000 lines, evenly left out."""
    return curve.as_json(curve.of_job(platform, caller, job_id))


@router.get("/cohorts/{cohort}/top", tags=["boards"])
def get_top(cohort: str, caller: CallerDep, platform: PlatformDep) -> Top:
    """The ten who got the most computing out of the machines this week, by alias."""
    return machineviews.top_of(top.of_week(platform, caller, cohort))
