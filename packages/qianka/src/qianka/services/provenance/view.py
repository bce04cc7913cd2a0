"""Matching a hand-in with the jobs of its author (or their group), by content alone: names and folders do not matter.

A job of anybody else is told to staff, as a flag; to students it does not exist.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath

from sqlalchemy.orm import Session

from qianka.errors import Text
from qianka.services import access
from qianka.services.platform import Caller, Platform
from qianka.services.versions import version_folder
from qianka.store.repos import groups, provenance, submissions
from qianka.store.tables import Job, JobTrace, Ledger, OutFile, Person, Submission, TreeFile

SMALL = 32
"""bytes: a file below proves nothing about where it came from"""
MOST_JOBS = 100
MOST_FLAGS = 50
_GIVEN_BYTES = 256 << 20
CODE = (".py", ".ipynb", ".sh", ".c", ".cc", ".cpp", ".cu", ".h", ".java", ".js", ".ts", ".r", ".jl", ".m")
WEIGHTS = (".pt", ".pth", ".ckpt", ".safetensors", ".npz", ".npy", ".onnx", ".h5", ".hdf5", ".pkl", ".joblib", ".bin")


@dataclass
class Source:
    """A job that made some of a hand-in's files, or ran its code."""

    job: Job
    person: Person
    trace: JobTrace | None
    lines: list[Ledger]
    left: list[str] = field(default_factory=list)
    """paths of the hand-in that it left in out/"""
    ran: list[str] = field(default_factory=list)
    """paths of the hand-in that were in its code"""
    is_whole: bool = False
    """it left a file of the hand-in, or ran all of its code"""

    @property
    def gpu_seconds(self) -> float:
        return sum(line.gpu_seconds for line in self.lines)

    @property
    def cpu_seconds(self) -> float:
        return sum(line.cpu_seconds for line in self.lines)


@dataclass(frozen=True)
class Origin:
    """Where one file of the hand-in came from: out, code, given (with the lab), small, elsewhere or none."""

    path: str
    size: int
    kind: str
    """code, weights or other"""
    origin: str
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flag:
    """For staff: the same file in an earlier job of somebody else."""

    path: str
    job: Job
    person: Person
    place: str
    """out or code"""


@dataclass
class Provenance:
    """What made a hand-in, beside what cannot be traced."""

    sources: list[Source]
    files: list[Origin]
    flags: list[Flag]
    runs: int
    gpu_seconds: float
    cpu_seconds: float

    @property
    def untraced(self) -> list[Origin]:
        """Files without an origin, weights first."""
        rank = {"weights": 0, "code": 1, "other": 2}
        return sorted((file for file in self.files if file.origin == "none"), key=lambda file: rank[file.kind])

    @property
    def sentence(self) -> Text:
        """All of it in one sentence."""
        count = len(self.untraced)
        rest_zh = f"；{count} 个文件查不到来历" if count else ""
        rest_en = f"; {count} {'file' if count == 1 else 'files'} cannot be traced" if count else ""
        if not self.runs:
            return Text(f"没有找到产生它的任务{rest_zh}", f"no job here made it{rest_en}")
        seconds, zh, en = (
            (self.gpu_seconds, "GPU 小时", "GPU-h") if self.gpu_seconds else (self.cpu_seconds, "CPU 小时", "CPU-h")
        )
        hours = seconds / 3600
        shown = f"{hours:.1f}" if hours >= 0.1 else f"{hours:.2g}"
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        return Text(
            f"在这里训练：{self.runs} 次运行，{shown} {zh}{rest_zh}", f"trained here: {runs}, {shown} {en}{rest_en}"
        )


@dataclass(frozen=True)
class _File:
    path: str
    size: int
    sha256: str

    @property
    def kind(self) -> str:
        suffix = PurePosixPath(self.path).suffix.lower()
        return "code" if suffix in CODE else "weights" if suffix in WEIGHTS else "other"


def of_submission(platform: Platform, caller: Caller, submission_id: str) -> Provenance:
    """Raises NotFound."""
    with platform.store.reading() as session:
        row = access.submission_for(session, caller, submission_id)
        _, lab, _, cohort = submissions.with_lab_and_person(session, submission_id)
        files = [_File(str(f["path"]), int(f["size"]), str(f["sha256"])) for f in row.files]
        given = _given(version_folder(platform, cohort.slug, lab.slug, lab.version).public)
        telling = [file for file in files if file.size >= SMALL and file.sha256 not in given]
        owners = [row.person_id] if row.group_id is None else groups.member_ids(session, row.group_id)
        owners = sorted({row.person_id, *owners})
        is_staff = access.is_staff(session, caller, row.cohort_id)
        matches = _Matches(session, row, telling, owners)
        seen = {job.id: job for job in matches.jobs() if _may_see(caller, job, row, is_staff=is_staff)}
        sources = _sources(session, matches, seen, telling)
        flags = _flags(session, row, telling, owners) if is_staff else []
    made = [source for source in sources if source.is_whole]
    lines = [line for source in made for line in source.lines]
    return Provenance(
        sources=sources[:MOST_JOBS],
        files=[_origin(file, matches, seen, given) for file in files],
        flags=flags,
        runs=max(len(lines), len(made)),
        gpu_seconds=sum(line.gpu_seconds for line in lines),
        cpu_seconds=sum(line.cpu_seconds for line in lines),
    )


class _Matches:
    """The owners' jobs by the contents that they ran or left."""

    def __init__(self, session: Session, row: Submission, files: list[_File], owners: list[int]) -> None:
        hashes = [file.sha256 for file in files]
        self.left = _by_hash(provenance.left_by(session, hashes, row.submitted_at, owners))
        self.ran = _by_hash(provenance.run_by(session, hashes, row.submitted_at, owners))

    def jobs(self) -> list[Job]:
        found = {job.id: job for table in (self.left, self.ran) for jobs in table.values() for job in jobs.values()}
        return sorted(found.values(), key=lambda job: (job.queued_at, job.id), reverse=True)


def _by_hash(rows: Iterable[tuple[OutFile | TreeFile, Job]]) -> dict[str, dict[str, Job]]:
    found: dict[str, dict[str, Job]] = {}
    for file, job in rows:
        found.setdefault(file.sha256, {})[job.id] = job
    return found


def _may_see(caller: Caller, job: Job, row: Submission, *, is_staff: bool) -> bool:
    """A job in another cohort is its owner's own affair; members of a group see what the group made."""
    if caller.is_admin or job.person_id == caller.person_id:
        return True
    return job.cohort_id == row.cohort_id and (is_staff or row.group_id is not None)


def _sources(session: Session, matches: _Matches, seen: dict[str, Job], files: list[_File]) -> list[Source]:
    people = provenance.people(session, {job.person_id for job in seen.values()})
    traces, lines = provenance.traces(session, seen), provenance.used(session, seen)
    found = {id_: Source(job, people[job.person_id], traces.get(id_), lines.get(id_, [])) for id_, job in seen.items()}
    for file in files:
        for id_ in matches.left.get(file.sha256, {}):
            if id_ in found:
                found[id_].left.append(file.path)
        for id_ in matches.ran.get(file.sha256, {}):
            if id_ in found:
                found[id_].ran.append(file.path)
    code = {file.path for file in files if file.kind == "code"}
    for source in found.values():
        source.is_whole = bool(source.left) or (bool(code) and code <= set(source.ran))
    return sorted(found.values(), key=lambda source: (not source.is_whole, -source.job.queued_at.timestamp()))


def _origin(file: _File, matches: _Matches, seen: dict[str, Job], given: frozenset[str]) -> Origin:
    left, ran = matches.left.get(file.sha256, {}), matches.ran.get(file.sha256, {})
    jobs = tuple(id_ for id_ in seen if id_ in left or id_ in ran)
    if file.size < SMALL:
        origin = "small"
    elif file.sha256 in given:
        origin = "given"
    elif not left and not ran:
        origin = "none"
    elif not jobs:
        origin = "elsewhere"
    else:
        origin = "out" if any(id_ in left for id_ in jobs) else "code"
    return Origin(file.path, file.size, file.kind, origin, jobs)


def _flags(session: Session, row: Submission, files: list[_File], owners: list[int]) -> list[Flag]:
    """The earliest job of each other person in the cohort that had the same file."""
    paths = {file.sha256: file.path for file in files if file.kind != "other"}
    met: dict[tuple[str, int], tuple[str, Job]] = {}
    places = (("out", provenance.left_by), ("code", provenance.run_by))
    for place, ask in places:
        for file, job in ask(session, paths, row.submitted_at, owners, of_others=True):
            key = (file.sha256, job.person_id)
            if job.cohort_id == row.cohort_id and (key not in met or job.queued_at < met[key][1].queued_at):
                met[key] = (place, job)
    people = provenance.people(session, {person for _, person in met})
    found = [Flag(paths[sha], job, people[person], place) for (sha, person), (place, job) in met.items()]
    return sorted(found, key=lambda flag: (flag.job.queued_at, flag.path))[:MOST_FLAGS]


def _given(public: Path) -> frozenset[str]:
    """Contents that every student was given with the lab."""
    try:
        what = public.stat()
    except OSError:
        return frozenset()
    return _given_in(public, what.st_mtime_ns, what.st_size)


@lru_cache(maxsize=64)
def _given_in(public: Path, _changed: int, _size: int) -> frozenset[str]:
    found = set()
    left = _GIVEN_BYTES
    try:
        with zipfile.ZipFile(public) as archive:
            for entry in archive.infolist():
                if not entry.is_dir() and entry.file_size <= left:
                    left -= entry.file_size
                    found.add(hashlib.sha256(archive.read(entry)).hexdigest())
    except (OSError, zipfile.BadZipFile):
        return frozenset(found)
    return frozenset(found)
