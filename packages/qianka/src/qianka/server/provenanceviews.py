"""Provenance as the API and the page show it."""

from __future__ import annotations

from qianka.errors import Language
from qianka.schemas.provenance import Curve, FileOrigin, Provenance, ProvenanceJob, SameFile
from qianka.services import provenance
from qianka.services.platform import Caller, Platform


def shown(platform: Platform, caller: Caller, submission_id: str, language: Language) -> Provenance:
    """What made a hand-in. Raises NotFound."""
    found = provenance.of_submission(platform, caller, submission_id)
    return Provenance(
        submission=submission_id,
        sentence=found.sentence.say(language),
        runs=found.runs,
        gpu_seconds=found.gpu_seconds,
        cpu_seconds=found.cpu_seconds,
        jobs=[_job(source) for source in found.sources],
        files=[_file(file) for file in found.files],
        untraced=[_file(file) for file in found.untraced],
        flags=[_flag(flag) for flag in found.flags],
    )


def _job(source: provenance.Source) -> ProvenanceJob:
    job, trace = source.job, source.trace
    return ProvenanceJob(
        id=job.id,
        name=job.name,
        login=source.person.login,
        state=job.state,
        queued_at=job.queued_at,
        ended_at=job.ended_at,
        runs=max(1, len(source.lines)),
        gpu_seconds=source.gpu_seconds,
        cpu_seconds=source.cpu_seconds,
        seed=None if trace is None else trace.seed,
        seed_from=None if trace is None else trace.seed_from,
        figures={} if trace is None else trace.figures,
        curve=Curve.model_validate(trace.curve) if trace is not None and trace.curve else None,
        left=source.left,
        ran=source.ran,
        counts=source.is_whole,
        not_hashed=0 if trace is None else len(trace.skipped),
    )


def _file(file: provenance.Origin) -> FileOrigin:
    return FileOrigin(path=file.path, size=file.size, kind=file.kind, origin=file.origin, jobs=list(file.jobs))


def _flag(flag: provenance.Flag) -> SameFile:
    return SameFile(
        path=flag.path,
        login=flag.person.login,
        name=flag.person.name,
        job=flag.job.id,
        place=flag.place,
        queued_at=flag.job.queued_at,
    )
