"""Where things lie in a job directory."""

from __future__ import annotations

import os

from qianka.jobdir.codec import FormatError

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
STREAMS = ("stdout", "stderr")
PEER_STREAMS = ("peer.stdout", "peer.stderr")
"""of the other side of a paired run"""


def job_dir(jobs_root: str | os.PathLike[str], job: str) -> str:
    """The directory of job `job`. Raises FormatError for an id that could be anything but one plain name."""
    return os.path.join(os.fspath(jobs_root), safe_id(job))


def safe_id(job: object) -> str:
    """`job`, when it is fit to be a folder's name. Raises FormatError otherwise."""
    if not isinstance(job, str) or not 0 < len(job) <= 100 or not _LETTERS.issuperset(job) or job[0] in ".-_":
        raise FormatError(f"{job!r} is no job id: letters, digits, '-', '_' and '.', at most 100")
    return job


def run_dir(directory: str | os.PathLike[str], run: int) -> str:
    """The folder of run `run` (1, 2, …) of the job in `directory`."""
    if isinstance(run, bool) or not isinstance(run, int) or run < 1:
        raise FormatError(f"{run!r} is no run number")
    return os.path.join(os.fspath(directory), "runs", str(run))


def runs(directory: str | os.PathLike[str]) -> list[int]:
    """The numbers of the runs that were ever claimed, ascending."""
    try:
        names = os.listdir(os.path.join(os.fspath(directory), "runs"))
    except FileNotFoundError:
        return []
    return sorted(int(name) for name in names if name.isdecimal() and name.isascii())


def log_path(directory: str | os.PathLike[str], run: int, stream: str) -> str:
    """Where the head, in the end all that is kept, of `stdout` or `stderr` lies (`peer.stdout` for a peer's)."""
    if stream not in STREAMS and stream not in PEER_STREAMS:
        raise FormatError(f"{stream!r} is neither stdout nor stderr")
    return os.path.join(run_dir(directory, run), stream + ".log")
