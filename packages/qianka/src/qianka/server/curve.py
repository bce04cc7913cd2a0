"""Learning curves from metrics.jsonl: what student code wrote, so every line is doubted."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from qianka import jobdir
from qianka.services.platform import Platform
from qianka.store.repos import attempts as repo

CAP = 8 << 20
LINES = 2000
WIDTH, HEIGHT = 600, 160


def metrics(platform: Platform, attempt_id: str) -> list[dict[str, Any]]:
    """The lines that the training of an attempt has written so far, at most LINES of them, evenly left out.

    Whether the caller may see the attempt is checked before.
    """
    with platform.store.reading() as session:
        found = repo.jobs_of(session, attempt_id)
    train = next((job for job in reversed(found) if job.name.startswith("train") and job.run > 0), None)
    if train is None:
        return []
    folder = Path(jobdir.job_dir(platform.folders.jobs, train.id))
    return thinned(parse(_read(folder / "runs" / str(train.run) / "metrics.jsonl")))


def parse(data: bytes) -> list[dict[str, Any]]:
    """The lines that are objects of finite numbers with a step; others are passed over."""
    lines = []
    for raw in data.splitlines():
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        if not isinstance(line, dict):
            continue
        plain = {str(key)[:60]: value for key, value in list(line.items())[:50] if _is_number(value)}
        if "step" in plain:
            lines.append(plain)
    return lines


def thinned(lines: list[dict[str, Any]], most: int = LINES) -> list[dict[str, Any]]:
    """At most `most` of the lines, evenly; the last one is always among them."""
    if len(lines) <= most:
        return lines
    stride = math.ceil(len(lines) / (most - 1))
    return [*lines[:-1:stride], lines[-1]]


def points(lines: list[dict[str, Any]], name: str = "loss") -> str:
    """The `points` of an SVG polyline of one metric in a WIDTH × HEIGHT box; empty with fewer than two."""
    values = [(float(line["step"]), float(line[name])) for line in thinned(lines, 300) if name in line]
    if len(values) < 2:
        return ""
    steps, heights = [step for step, _ in values], [value for _, value in values]
    left, wide = min(steps), max(steps) - min(steps) or 1.0
    low, tall = min(heights), max(heights) - min(heights) or 1.0
    return " ".join(
        f"{(step - left) / wide * WIDTH:.1f},{HEIGHT - (value - low) / tall * HEIGHT:.1f}" for step, value in values
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e30


def _read(path: Path) -> bytes:
    try:
        return jobdir.files.read_bytes(str(path), CAP)
    except (OSError, jobdir.FormatError):
        return b""  # not begun, not readable, or more than anybody looks at
