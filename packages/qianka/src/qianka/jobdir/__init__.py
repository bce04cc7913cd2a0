"""The one reader and writer of a job directory: the contract between all parts of the platform.

Standard library only, and of it only what starts fast: a supervisor imports this for every run.
That is also why the names below are looked up when they are first used.

    DATA/jobs/JOB/  job.json fence.json cancel  out/  runs/N/ (beat, logs, metrics.jsonl, result.json)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qianka.jobdir.beat import alive, read_beat, silent_for
    from qianka.jobdir.codec import FormatError, dumps, loads
    from qianka.jobdir.files import read_json, write_json
    from qianka.jobdir.layout import job_dir, run_dir, runs, safe_id
    from qianka.jobdir.logs import read_log
    from qianka.jobdir.printing import printable
    from qianka.jobdir.records import (
        ask_cancel,
        cancel_asked,
        make,
        read_fence,
        read_job,
        read_result,
        set_fence,
    )
    from qianka.jobdir.spec import filled

__all__ = [
    "FormatError",
    "alive",
    "ask_cancel",
    "cancel_asked",
    "dumps",
    "filled",
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

_HOME = {
    "beat": ("alive", "read_beat", "silent_for"),
    "codec": ("FormatError", "dumps", "loads"),
    "files": ("read_json", "write_json"),
    "layout": ("job_dir", "run_dir", "runs", "safe_id"),
    "logs": ("read_log",),
    "printing": ("printable",),
    "records": ("ask_cancel", "cancel_asked", "make", "read_fence", "read_job", "read_result", "set_fence"),
    "spec": ("filled",),
}


def __getattr__(name: str) -> object:
    for module, names in _HOME.items():
        if name in names:
            import importlib

            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
