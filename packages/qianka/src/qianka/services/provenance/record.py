"""Recording what people's own jobs ran and left. A loop of the worker's, beside the dispatcher: hashing takes time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from qianka import jobdir, logs
from qianka.adapters import metrics
from qianka.adapters.metrics import Point
from qianka.services.platform import Platform
from qianka.services.provenance import contents
from qianka.services.provenance.contents import Contents
from qianka.store.repos import provenance as repo
from qianka.store.tables import Job, JobTrace, OutFile, TreeFile

BATCH = 20
CURVE = 100
"""points kept of a curve"""
_MOST_METRICS = 16 << 20
_MOST_CONFIG = 64 << 10
_MOST_NAMES = 64
_SEED = re.compile(r"-?\d{1,18}")
_VARIABLES = ("SEED", "QIANKA_SEED", "PL_GLOBAL_SEED")

_log = logs.get("provenance")


class Recorder:
    """One step records a few jobs; `guard` is called in every transaction and raises when it must not happen."""

    def __init__(self, platform: Platform, *, guard: Callable[[Session], None] = lambda _: None) -> None:
        self.platform = platform
        self._guard = guard

    def step(self) -> bool:
        """Whether there was so much that another step should follow at once."""
        with self.platform.store.reading() as session:
            jobs = repo.untraced(session, BATCH)
            known = {tree for job in jobs if (tree := self._tree(job)) and repo.is_tree_known(session, tree)}
        for job in jobs:
            tree = self._tree(job)
            code = Contents() if tree is None or tree in known else self._hashed(self.platform.folders.trees / tree)
            trace, out = self._look(job, tree)
            with self.platform.store.transaction() as session:
                self._guard(session)
                if session.get(JobTrace, job.id) is not None:
                    continue
                session.add(trace)
                session.add_all([OutFile(job_id=job.id, path=f.path, size=f.size, sha256=f.sha256) for f in out.files])
                if tree is not None and not repo.is_tree_known(session, tree):
                    session.add_all(
                        [TreeFile(tree=tree, path=f.path, size=f.size, sha256=f.sha256) for f in code.files]
                    )
            if tree is not None:
                known.add(tree)
        return len(jobs) == BATCH

    def _look(self, job: Job, tree: str | None) -> tuple[JobTrace, Contents]:
        folder = Path(jobdir.job_dir(self.platform.folders.jobs, job.id))
        trace = JobTrace(job_id=job.id, tree=tree, traced_at=self.platform.now(), figures={}, curve={}, skipped=[])
        is_there = (folder / "out").is_dir()
        out = self._hashed(folder / "out") if is_there else Contents()
        trace.is_gone = not is_there
        trace.files, trace.skipped = len(out.files), out.skipped
        points = _points(folder / "runs" / str(job.run) / "metrics.jsonl")
        trace.figures, trace.curve = _last(points), _curve(points)
        trace.seed, trace.seed_from = _seed(job.spec, points, folder / "out" / "config.json")
        return trace, out

    def _hashed(self, folder: Path) -> Contents:
        try:
            return contents.of_folder(folder)
        except OSError as error:
            # What cannot be read proves nothing; the rest is recorded all the same.
            _log.warning("%s cannot be hashed: %s", folder, error)
            return Contents()

    def _tree(self, job: Job) -> str | None:
        work = job.spec.get("work")
        if not isinstance(work, str):
            return None
        folder, name = os.path.split(work)
        # Server and worker may have been told of the data directory by different paths.
        return name if os.path.realpath(folder) == os.path.realpath(self.platform.folders.trees) else None


def _points(path: Path) -> list[Point]:
    try:
        return metrics.read(path, limit=_MOST_METRICS).points
    except OSError:
        return []


def _last(points: list[Point]) -> dict[str, float | None]:
    """The last value of each metric, the names first met."""
    found: dict[str, float | None] = {}
    for point in points:
        for name, value in point.values.items():
            if name != "seed" and (name in found or len(found) < _MOST_NAMES):
                found[name] = value
    return found


def _curve(points: list[Point]) -> dict[str, Any]:
    """The loss, or else the first metric that has a curve."""
    names = ["loss", *(name for name in _last(points) if name != "loss")]
    for name in names:
        values = [(point.step, value) for point in points if (value := point.values.get(name)) is not None]
        if len(values) >= 2:
            each = -(-len(values) // CURVE)
            kept = values[::each] if values[-1] in values[::each] else [*values[::each], values[-1]]
            return {"name": name, "steps": [step for step, _ in kept], "values": [value for _, value in kept]}
    return {}


def _seed(spec: dict[str, Any], points: list[Point], config: Path) -> tuple[str | None, str | None]:
    """(seed, where it was said): all of it is the program's own word."""
    for point in points[:100]:
        number = point.values.get("seed")
        if number is not None and number.is_integer():
            return str(int(number)), "metrics"
    if (told := _of_config(config)) is not None:
        return told, "config"
    argv = [str(word) for word in spec.get("argv") or []]
    for place, word in enumerate(argv):
        name, _, value = word.partition("=")
        if name in ("--seed", "-seed", "--random-seed"):
            value = value or (argv[place + 1] if place + 1 < len(argv) else "")
            if _SEED.fullmatch(value):
                return value, "arguments"
    variables = spec.get("environment") or {}
    for name in _VARIABLES:
        if _SEED.fullmatch(str(variables.get(name, ""))):
            return str(variables[name]), "environment"
    return None, None


def _of_config(path: Path) -> str | None:
    """`seed` of the configuration that the kit writes beside the metrics."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        try:
            found = json.loads(file.read(_MOST_CONFIG))
        except (OSError, ValueError, RecursionError):
            return None
    seed = found.get("seed") if isinstance(found, dict) else None
    is_whole = isinstance(seed, int) and not isinstance(seed, bool) and abs(seed) < 1 << 63
    return str(seed) if is_whole else None
