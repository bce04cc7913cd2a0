"""Job arrays: one by its id, the jobs in it by `ID_INDEX` wherever a job's id is taken."""

from __future__ import annotations

from urllib.parse import quote

from qianka.client.api import Client, new_key
from qianka.schemas.jobs import JobArray


def is_array(name: str) -> bool:
    """Whether `name` is an array's id, and not that of one of its jobs."""
    return name.startswith("ja-") and "_" not in name


def get(client: Client, array: str) -> JobArray:
    """The array and how its jobs stand."""
    return JobArray.model_validate(client.transport.get(f"/api/arrays/{quote(array, safe='')}"))


def cancel(client: Client, array: str) -> JobArray:
    """Cancel all of its jobs that have not ended."""
    headers = {"Idempotency-Key": new_key()}  # cancelling twice is cancelling once
    found = client.transport.post(f"/api/arrays/{quote(array, safe='')}/cancel", headers=headers)
    return JobArray.model_validate(found)
