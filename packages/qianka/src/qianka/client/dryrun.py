"""What a submit would do."""

from __future__ import annotations

from qianka.client.api import Client
from qianka.schemas.jobs import DryRun, NewJob


def dry_run(client: Client, job: NewJob) -> DryRun:
    """The size, the most it can cost and the exact batch script; no job is made."""
    return DryRun.model_validate(client.transport.post("/api/jobs/dry-run", job.model_dump()))
