"""What the engine notes of a run beside it, so that a restart finds the Slurm job again.

`slurm-RUN.json` in the job directory: written without an id before sbatch is called (the intent), and with
it after. A crash in between leaves the intent; the job is then looked for by its name.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass

from qianka.jobdir import FormatError
from qianka.jobdir.files import read_json, write_json


@dataclass(frozen=True, kw_only=True)
class Record:
    """One run's way into Slurm."""

    name: str
    asked_at: float
    """seconds since 1970"""
    supervised: bool
    id: str | None = None
    account: str | None = None
    """whose job it is; None: the service's own"""


def path_of(directory: str, run: int) -> str:
    """Where the record of a run lies."""
    return os.path.join(directory, f"slurm-{run}.json")


def read(directory: str, run: int) -> Record | None:
    """The record of a run; None when it was never to be submitted. Raises FormatError."""
    try:
        found = read_json(path_of(directory, run))
    except FileNotFoundError:
        return None
    try:
        return Record(**found)
    except TypeError as error:
        raise FormatError(f"{path_of(directory, run)}: {error}") from error


def write(directory: str, run: int, record: Record) -> None:
    """Note it, atomically."""
    write_json(path_of(directory, run), asdict(record))
