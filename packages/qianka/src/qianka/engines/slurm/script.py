"""The batch script of one run: job.json + the site's ways, put into the one visible template (job.sh.txt)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qianka.engines.slurm.site import Site


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where one run's files are, as the compute nodes see them: what the engine knows and job.json does not.

    `supervisor` empty: the script runs the job's own command (plain, torchrun, container).
    Otherwise it is run instead, once, as one task, with its last word replaced by the run number.
    """

    stdout: str
    stderr: str
    out: str
    """the writable folder: /out of the job; also the working directory"""
    work: str | None = None
    """the code: /work of the job"""
    name: str = ""
    """Slurm's name of the job; empty: `<job>.<run>`"""
    comment: str = ""
    supervisor: tuple[str, ...] = ()
    requeue: bool = False
    """whether Slurm itself may start the script again after a node failed or a preemption"""


def render(job: Mapping[str, Any], run: int, site: Site, places: Places) -> str:
    """The text of the batch script that starts run number `run` of `job` (the text of job.json).

    Everything from job and person is quoted; options that say who runs it (uid, gid, export) are not in
    here: whoever calls sbatch gives `--export=NONE` (and as root `--uid`, `--gid`) on the command line.
    """
    raise NotImplementedError
