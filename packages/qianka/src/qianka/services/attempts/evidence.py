"""Gathers what the jobs of an attempt have left, for `grading.judge`. Every read is capped."""

from __future__ import annotations

import os
from typing import Any

from qianka import jobdir
from qianka.errors import Text
from qianka.grading import flags, stages
from qianka.grading.judge import Evidence
from qianka.intake import encoding
from qianka.services.attempts.case import Case
from qianka.services.attempts.tries import tries_before
from qianka.services.platform import Platform
from qianka.store.tables import Job

STDERR, STDOUT = 16 << 10, 64 << 10
MAX_NAMES = 200


def gather(platform: Platform, case: Case, reference: dict[str, Any] | None) -> Evidence:
    """Evidence of all stages that have ended. `reference`: None when nothing is compared."""
    ended = {name: job for name, job in case.jobs.items() if job.ended_at is not None}
    tree = case.paths(platform).tree
    programs = [name for name in ("train", "predict") if name in ended]
    paired = [name for name in ("tests", "notebook") if name in ended]
    printed: dict[str, str] = {name: _tail(platform, ended[name], "stdout", STDOUT) for name in programs}
    printed |= {name: _tail(platform, ended[name], "peer.stdout", STDOUT) for name in paired}
    return Evidence(
        results={name: _result(job) for name, job in ended.items()},
        stderr={name: _tail(platform, ended[name], "stderr", STDERR) for name in [*programs, *paired]},
        stdout=printed,
        names={name: _names(platform, ended[name]) for name in programs},
        score=_figures(platform, ended, "judge"),
        style=_figures(platform, ended, "style"),
        reports={name: _figures(platform, ended, name) for name in paired},
        tries=tries_before(platform, case) if paired else 0,
        reference=reference,
        flags=tuple(flags.of_sources(tree)) if tree.is_dir() else (),
        tree=str(tree),
        late=case.submission.late,
        start_share=platform.settings.grading_start_share,
    )


def unreadable_sources(platform: Platform, case: Case) -> tuple[tuple[Text, Text], ...]:
    """Sources that Python will not read, before anything runs: (what is wrong, what to do)."""
    tree = case.paths(platform).tree
    return tuple((problem.text, problem.hint) for problem in encoding.check(tree) if problem.is_fatal)


def isolation(case: Case) -> str | None:
    """The lowest level at which a stage ran."""
    order = ("none", "degraded", "full")
    levels = [str((job.result or {}).get("isolation")) for job in case.jobs.values()]
    known = [level for level in levels if level in order]
    return min(known, key=order.index) if known else None


def _result(job: Job) -> dict[str, Any]:
    """result.json; what the platform knows by itself where a job ended without one."""
    return job.result or {"state": job.state, "reason": job.reason}


def _tail(platform: Platform, job: Job, stream: str, size: int) -> str:
    result = job.result or {}
    side, name = (result.get("peer") or {}, stream[5:]) if stream.startswith("peer.") else (result, stream)
    total = (side.get("output") or {}).get(name)
    number = result.get("run")
    if not isinstance(total, int) or not isinstance(number, int):
        return ""
    folder = platform.folders.jobs / job.id
    try:
        return jobdir.read_log(folder, number, stream, max(0, total - size), size)[0]
    except (OSError, jobdir.FormatError):
        return ""  # a log explains, it decides nothing


def _names(platform: Platform, job: Job) -> tuple[str, ...]:
    try:
        with os.scandir(platform.folders.jobs / job.id / "out") as entries:
            return tuple(sorted(entry.name for entry, _ in zip(entries, range(MAX_NAMES), strict=False)))
    except OSError:
        return ()


def _figures(platform: Platform, ended: dict[str, Job], stage: str) -> object:
    """What a stage of ours wrote; None when it wrote nothing that can be read."""
    job = ended.get(stage)
    if job is None:
        return None
    try:
        return jobdir.read_json(str(platform.folders.jobs / job.id / "out" / stages.FIGURES[stage]))
    except (OSError, jobdir.FormatError):
        return None
