"""The records of a job directory: the job, the fence, the wish to cancel, the results."""

from __future__ import annotations

import os

from qianka.jobdir.codec import FormatError, dumps
from qianka.jobdir.files import read_json, sync_folder, write_aside, write_json, write_once
from qianka.jobdir.layout import job_dir, run_dir, safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = str | os.PathLike[str]

FORMAT = 1


def make(jobs_root: Path, job: dict[str, Any]) -> str:
    """Make the directory of a job and write job.json once; returns the directory.

    Doing it again with the same job changes nothing. Raises FormatError for an unfit id, or when
    another job of this id is there.
    """
    directory = job_dir(jobs_root, safe_id(job.get("job")))
    for folder in (directory, os.path.join(directory, "runs"), os.path.join(directory, "out")):
        os.makedirs(folder, mode=0o755, exist_ok=True)
    path = os.path.join(directory, "job.json")
    if not write_once(path, job) and dumps(read_json(path)) != dumps(job):
        raise FormatError(f"{path}: holds another job of the same id")
    return directory


def read_job(directory: Path) -> dict[str, Any]:
    """job.json. Raises FileNotFoundError, FormatError."""
    job = read_json(os.path.join(os.fspath(directory), "job.json"))
    if job.get("format") != FORMAT:
        raise FormatError(f"job.json is of format {job.get('format')!r}, this program reads {FORMAT}")
    return job


def set_fence(directory: Path, fence: dict[str, Any]) -> None:
    """Name the only run whose result counts, and where it runs: {"run", "node", "cores", "cards"}."""
    run_dir(directory, fence["run"])
    write_json(os.path.join(os.fspath(directory), "fence.json"), fence)


def read_fence(directory: Path) -> dict[str, Any] | None:
    """The fence, or None before the first run."""
    try:
        return read_json(os.path.join(os.fspath(directory), "fence.json"))
    except FileNotFoundError:
        return None


def ask_cancel(directory: Path) -> None:
    """Leave the mark that cancelling was asked for: a run that starts later finds it."""
    path = os.path.join(os.fspath(directory), "cancel")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644))
    sync_folder(os.fspath(directory))


def cancel_asked(directory: Path) -> bool:
    """Whether cancelling was asked for."""
    return os.path.lexists(os.path.join(os.fspath(directory), "cancel"))


def claim(directory: Path, run: int) -> bool:
    """Take run `run`; False when a supervisor has taken it before."""
    path = run_dir(directory, run)
    try:
        os.mkdir(path, 0o755)
    except FileExistsError:
        return False
    sync_folder(os.path.dirname(path))
    return True


def put_result(directory: Path, run: int, result: dict[str, Any]) -> str:
    """Write the result of a run, exactly once; returns the name it got.

    `result.json` when the fence still names this run (or there is no fence), otherwise, and when
    a result is there already, `result.stale.json`.
    """
    folder = run_dir(directory, run)
    fence = read_fence(directory)
    stale = fence is not None and fence.get("run") != run
    if not stale and write_once(os.path.join(folder, "result.json"), result):
        return "result.json"
    path = os.path.join(folder, "result.stale.json")
    os.rename(write_aside(path, dumps(result) + "\n"), path)
    return "result.stale.json"


def read_result(directory: Path, run: int) -> dict[str, Any] | None:
    """The result of a run, or None while there is none. Raises FormatError for a damaged one."""
    try:
        result = read_json(os.path.join(run_dir(directory, run), "result.json"))
    except FileNotFoundError:
        return None
    if result.get("format") != FORMAT or result.get("run") != run:
        raise FormatError(f"result.json of run {run} is not of this run or format")
    return result
