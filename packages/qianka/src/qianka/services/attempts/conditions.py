"""What an attempt was graded with: enough to grade it again, and to tell why a second time differs."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from qianka.adapters.environment import environment
from qianka.services.attempts.case import Case
from qianka.services.platform import Platform

FORMAT = 1


def conditions_of(platform: Platform, case: Case, reference: Mapping[str, Any] | None) -> dict[str, Any]:
    """Versions, digests, nodes and reference figures of an attempt that ends; never the seed itself.

    `reference`: the figures it was compared with; None: with none.
    """
    installed = environment(platform.folders.runtime)
    return {
        "format": FORMAT,
        "platform": _version(),
        "lab_version": case.attempt.lab_version,
        "tree_sha256": case.submission.tree_sha256,
        "seed_sha256": _digest_of_seed(platform, case),
        "environment": None if installed is None else installed._asdict(),
        "nodes": {name: str((job.result or {}).get("node")) for name, job in sorted(case.jobs.items())},
        "reference": None if reference is None else dict(reference),
    }


@functools.lru_cache(maxsize=1)
def _version() -> str:
    try:
        return version("qianka")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0"


def _digest_of_seed(platform: Platform, case: Case) -> str | None:
    try:
        return hashlib.sha256((case.folder(platform).secret / "seed").read_bytes()).hexdigest()
    except OSError:
        return None
