"""The one reader and writer of a job directory: the contract between all parts of the platform.

Standard library only, and of it only what starts fast: a supervisor imports this for every run.

    DATA/jobs/JOB/  job.json fence.json cancel  out/  runs/N/ (beat, logs, metrics.jsonl, result.json)
"""

from __future__ import annotations

from qianka.jobdir.beat import alive, read_beat, silent_for
from qianka.jobdir.codec import FormatError, dumps, loads
from qianka.jobdir.files import read_json, write_json
from qianka.jobdir.layout import job_dir, run_dir, runs, safe_id
from qianka.jobdir.logs import printable, read_log
from qianka.jobdir.records import (
    ask_cancel,
    cancel_asked,
    make,
    read_fence,
    read_job,
    read_result,
    set_fence,
)

__all__ = [
    "FormatError",
    "alive",
    "ask_cancel",
    "cancel_asked",
    "dumps",
    "job_dir",
    "loads",
    "make",
    "printable",
    "read_beat",
    "read_fence",
    "read_job",
    "read_json",
    "read_log",
    "read_result",
    "run_dir",
    "runs",
    "safe_id",
    "set_fence",
    "silent_for",
    "write_json",
]
