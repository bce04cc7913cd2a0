"""Learning curves: what training wrote to metrics.jsonl, thinned for a page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from qianka import jobdir
from qianka.adapters import metrics
from qianka.adapters.metrics import Point
from qianka.services import access
from qianka.services.platform import Caller, Platform
from qianka.store.repos import attempts as repo

CAP = 8 << 20
LINES = 2000
WIDTH, HEIGHT = 600, 160


def of_attempt(platform: Platform, attempt_id: str) -> list[Point]:
    """What the training of an attempt has written so far, at most LINES points, evenly left out.

    Whether the caller may see the attempt is checked before.
    """
    with platform.store.reading() as session:
        found = repo.jobs_of(session, attempt_id)
    train = next((job for job in reversed(found) if job.name.startswith("train") and job.run > 0), None)
    if train is None:
        return []
    return _of_run(platform, train.id, train.run)


def of_job(platform: Platform, caller: Caller, job_id: str) -> list[Point]:
    """What the present run of a job has written so far, as `of_attempt`.

    Raises NotFound, and Forbidden for a stage whose output is for staff.
    """
    with platform.store.reading() as session:
        job = access.job_for(session, caller, job_id)
        access.require_output(session, caller, job)
    return _of_run(platform, job.id, job.run) if job.run > 0 else []


def _of_run(platform: Platform, job_id: str, run: int) -> list[Point]:
    folder = Path(jobdir.job_dir(platform.folders.jobs, job_id))
    try:
        return thinned(metrics.read(folder / "runs" / str(run) / "metrics.jsonl", limit=CAP).points)
    except OSError:
        return []  # not readable at this moment: the curve is an extra


def as_json(points: list[Point]) -> list[dict[str, Any]]:
    """Points as the API sends them; a value of null was not finite."""
    return [{"step": point.step, "time": point.time, **point.values} for point in points]


def thinned(points: list[Point], most: int = LINES) -> list[Point]:
    """At most `most` of the points, evenly; the last one is always among them."""
    if len(points) <= most:
        return points
    return [*points[: -1 : math.ceil(len(points) / (most - 1))], points[-1]]


def polyline(points: list[Point], name: str = "loss") -> str:
    """The `points` of an SVG polyline of one metric in a WIDTH × HEIGHT box; empty with fewer than two."""
    return _line([(float(p.step), value) for p in thinned(points, 300) if (value := p.values.get(name)) is not None])


def line_of(steps: list[int], values: list[float | None]) -> str:
    """The same of a curve that is kept as two lists."""
    return _line([(float(step), value) for step, value in zip(steps, values, strict=True) if value is not None])


def _line(values: list[tuple[float, float]]) -> str:
    if len(values) < 2:
        return ""
    steps, heights = [step for step, _ in values], [value for _, value in values]
    left, wide = min(steps), max(steps) - min(steps) or 1.0
    low, tall = min(heights), max(heights) - min(heights) or 1.0
    return " ".join(
        f"{(step - left) / wide * WIDTH:.1f},{HEIGHT - (value - low) / tall * HEIGHT:.1f}" for step, value in values
    )
