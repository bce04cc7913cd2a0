"""Where a hand-in's files came from."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer


class Curve(Answer):
    """One metric of a run, thinned."""

    name: str
    steps: list[int]
    values: list[float | None]


class ProvenanceJob(Answer):
    """A job that made some of the files, or ran the code."""

    id: str
    name: str
    login: str
    state: str
    queued_at: datetime
    ended_at: datetime | None = None
    runs: int
    gpu_seconds: float
    cpu_seconds: float
    seed: str | None = None
    """as the program said it"""
    seed_from: str | None = None
    """metrics, config, arguments or environment"""
    figures: dict[str, float | None] = Field(default_factory=dict)
    """the last value of each metric"""
    curve: Curve | None = None
    left: list[str] = Field(default_factory=list)
    """files of the hand-in that it left in out/"""
    ran: list[str] = Field(default_factory=list)
    """files of the hand-in that were in its code"""
    counts: bool
    """it left a file of the hand-in, or ran all of its code"""
    not_hashed: int = 0
    """files of its out/ that were too many or too large to be compared (at most 20 are counted)"""


class FileOrigin(Answer):
    """Where one file came from."""

    path: str
    size: int
    kind: str
    """code, weights or other"""
    origin: str
    """out, code, given (with the lab), small, elsewhere (a job outside this cohort) or none"""
    jobs: list[str] = Field(default_factory=list)


class SameFile(Answer):
    """For staff: the same file in an earlier job of somebody else."""

    path: str
    login: str
    name: str
    job: str
    place: str
    """out or code"""
    queued_at: datetime


class Provenance(Answer):
    """What made a hand-in, beside what cannot be traced."""

    submission: str
    sentence: str
    runs: int
    gpu_seconds: float
    cpu_seconds: float
    jobs: list[ProvenanceJob]
    files: list[FileOrigin]
    untraced: list[FileOrigin]
    flags: list[SameFile] = Field(default_factory=list)
    """empty for students"""
