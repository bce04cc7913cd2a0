"""Preparing a lab's data: the teacher's script as a job, its output moved into place once it is complete."""

from __future__ import annotations

import csv
import secrets
import shutil
import zipfile
from pathlib import Path
from typing import Literal

from sqlalchemy.orm import Session

from qianka import logs
from qianka.domain.jobs import JobKind, JobState
from qianka.errors import PlatformFault, Text
from qianka.grading import masters, stages
from qianka.grading.model import Lab as LabRules
from qianka.grading.reader import FILE
from qianka.services import jobs
from qianka.services.labs.check import parts_of
from qianka.services.labs.folders import VersionFolder, loaded, version_folder
from qianka.services.platform import Platform
from qianka.store.repos import labs as repo
from qianka.store.tables import Cohort, Job, Lab

State = Literal["waiting", "ready", "failed"]
_log = logs.get("labs.data")
_PUBLIC = ("starter", "guide")
_EPOCH = (2020, 1, 1, 0, 0, 0)


def start(session: Session, platform: Platform, cohort: Cohort, lab: Lab, *, again: bool = False) -> None:
    """Queue the job that makes the data of the lab's version, unless it is there or on its way.

    `again`: also after one that failed. Raises PlatformFault when a data set is not in the cache.
    """
    folder = version_folder(platform, cohort.slug, lab.slug, lab.version)
    made = repo.jobs_with_prefix(session, _prefix(lab, lab.version))
    if folder.made.is_dir() or any(not JobState(job.state).ended for job in made):
        return
    if made and (made[-1].state == JobState.COMPLETED.value or not again):
        return
    rules = loaded(folder)
    _require_cache(platform, rules)
    stage = stages.prepare(rules, platform.folders.cache, folder.secret, platform.folders.runtime)
    jobs.submit_stage(
        session,
        platform,
        key=f"{_prefix(lab, lab.version)}{len(made) + 1}",
        person_id=payer(lab),
        cohort_id=cohort.id,
        kind=JobKind.REFERENCE,
        name=stage.name,
        spec=stage.spec,
        resources=stage.resources,
        wall_limit=stage.wall,
        continues=True,
        charged=False,
    )


def advance(platform: Platform, cohort: Cohort, lab: Lab, version: str) -> State:
    """Take over the data once its job has ended; where a version's data stands."""
    folder = version_folder(platform, cohort.slug, lab.slug, version)
    if folder.made.is_dir():
        return "ready"
    with platform.store.reading() as session:
        made = repo.jobs_with_prefix(session, _prefix(lab, version))
    if not made:
        if lab.version != version:
            return "failed"
        with platform.store.transaction() as session:
            start(session, platform, cohort, lab)
        platform.wake_worker()
        return "waiting"
    last = made[-1]
    if not JobState(last.state).ended:
        return "waiting"
    if last.state != JobState.COMPLETED.value:
        return "failed"
    return "ready" if _adopt(platform, folder, last) else "failed"


def payer(lab: Lab) -> int:
    """Whose name the platform's own jobs for a lab carry. Raises PlatformFault for a lab without one."""
    if lab.published_by is None:
        raise PlatformFault(Text("实验没有发布人", "the lab has nobody who published it"))
    return lab.published_by


def make_public(folder: VersionFolder, rules: LabRules) -> None:
    """Pack what students may have: lab.toml, handout, starter, guide, training data, public tests."""
    aside = folder.public.with_name(f".public-{secrets.token_hex(8)}")
    with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, name in _public_files(folder, rules):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    aside.replace(folder.public)


def _public_files(folder: VersionFolder, rules: LabRules) -> list[tuple[Path, str]]:
    """(file, name in the archive). The public test takes the place of the hidden one."""
    found = [(folder.source / FILE, FILE)]
    found += [(path, path.name) for path in sorted(folder.source.glob("README*")) if path.is_file()]
    for name in _PUBLIC:
        found += _below(folder.source / name, name)
    found += _below(folder.made / "train", "data/train")
    found += _below(folder.made / "public" / "test", "data/test")
    answers = folder.made / "public" / "answers.csv"
    if answers.is_file():
        found.append((answers, "data/answers/answers.csv"))
    found += [(path, path.relative_to(rules.folder).as_posix()) for path in masters.public_files(rules)]
    return found


def _below(folder: Path, name: str) -> list[tuple[Path, str]]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [(path, f"{name}/{path.relative_to(folder).as_posix()}") for path in files]


def _prefix(lab: Lab, version: str) -> str:
    return f"prepare:{lab.id}:{version}:"


def _require_cache(platform: Platform, rules: LabRules) -> None:
    missing = [name for name in rules.data.cache if not (platform.folders.cache / name).is_dir()]
    if missing:
        listed = ", ".join(missing)
        raise PlatformFault(
            Text(f"数据集不在缓存里：{listed}", f"data sets are not in the cache: {listed}"),
            Text(
                f"放到 {platform.folders.cache} 里，或运行 qianka data get {missing[0]}",
                f"put them into {platform.folders.cache}, or run qianka data get {missing[0]}",
            ),
            reason="no_data",
        )


def _adopt(platform: Platform, folder: VersionFolder, job: Job) -> bool:
    """Move what the job made into place; False when it is not what a lab needs."""
    out = platform.folders.jobs / job.id / "out"
    rules = loaded(folder)
    problem = _problem_of(out, rules)
    if problem is not None:
        _log.warning("data of %s: %s", folder.source, problem)
        return False
    aside = folder.side / f".made-{secrets.token_hex(8)}"
    try:
        shutil.copytree(out, aside)
        for path in [aside, *aside.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        aside.replace(folder.made)
    except OSError:
        if not folder.made.is_dir():
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    make_public(folder, rules)
    return True


def _problem_of(out: Path, rules: LabRules) -> str | None:
    for name in parts_of(rules):
        if not (out / name).is_dir():
            return f"the script wrote no {name}/"
    if rules.predictions is None:
        return None
    wanted = [rules.predictions.id_column, rules.predictions.column]
    try:
        with (out / "answers" / "answers.csv").open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return f"answers/answers.csv: {error}"
    return None if header[: len(wanted)] == wanted else f"answers/answers.csv begins with {header}, not {wanted}"
