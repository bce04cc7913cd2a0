"""Publishing a lab that came as an archive or lies on this disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from qianka import intake, logs
from qianka.adapters import datasets
from qianka.errors import BadInput, Language, NotFound, Text
from qianka.schemas.labs import Lab, LabReport
from qianka.server import labviews
from qianka.services import access, cohorts, labs, regrades
from qianka.services.platform import Caller, Platform

MAX_BYTES = 1 << 30
"""of one lab, unpacked"""
MAX_FILE = 512 << 20

log = logs.get("server.publishing")


def publish_archive(
    platform: Platform,
    caller: Caller,
    cohort: str,
    archive: Path,
    *,
    slug: str,
    due: datetime | None,
    opens: datetime | None,
    practice: bool,
    language: Language,
) -> Lab:
    """Unpack the zip of a lab folder and publish it. Raises what intake and labs.publish raise."""
    require_teacher(platform, caller, cohort)
    with _unpacked(platform, archive, f"{slug}.zip") as folder:
        return publish_folder(
            platform,
            caller,
            cohort,
            folder,
            slug=slug,
            due=due,
            opens=opens,
            practice=practice,
            language=language,
        )


def check_archive(
    platform: Platform, caller: Caller, cohort: str, archive: Path, *, practice: bool, language: Language
) -> LabReport:
    """What is wrong with the zip of a lab folder; publishes nothing. Raises what intake raises."""
    require_teacher(platform, caller, cohort)
    with _unpacked(platform, archive, "lab.zip") as folder:
        return labviews.report(labs.check_lab(folder, practice=practice), language)


@contextmanager
def _unpacked(platform: Platform, archive: Path, name: str) -> Iterator[Path]:
    rules = intake.Rules(
        max_archive=platform.settings.server_upload_mb * 1_000_000, max_bytes=MAX_BYTES, max_file=MAX_FILE
    )
    with tempfile.TemporaryDirectory(dir=platform.folders.incoming, prefix="lab-") as scratch:
        tree = intake.take(archive, Path(scratch), rules, name)
        yield Path(scratch) / tree.digest


def publish_folder(
    platform: Platform,
    caller: Caller,
    cohort: str,
    folder: Path,
    *,
    slug: str | None,
    due: datetime | None,
    opens: datetime | None,
    practice: bool,
    language: Language,
) -> Lab:
    """Publish a folder; data sets that its lab.toml names are fetched first. Raises what labs.publish raises."""
    require_teacher(platform, caller, cohort)
    if not folder.is_dir():
        raise NotFound(Text(f"没有文件夹 {folder}", f"there is no folder {folder}"))
    report = labs.check_lab(folder, practice=practice)
    if report.lab is not None and report.ok:
        _fetch(platform, report.lab.data.cache)
    row = labs.publish(platform, caller, cohort, folder, due, opens, slug=slug, practice=practice)
    shown = labviews.lab(platform, cohorts.get(platform, caller, cohort), row)
    shown.warnings = labviews.warnings(report, language)
    shown.regrade = _outdated(regrades.outdated(platform, row), cohort, row.slug, language)
    return shown


def _outdated(count: int, cohort: str, lab: str, language: Language) -> str | None:
    """That a new version leaves the grades there are alone, and what to run to change that."""
    if not count:
        return None
    command = f"qianka lab regrade start {lab} --cohort {cohort} --reason …"
    return Text(
        f"已有 {count} 个成绩是按旧版本评的，保持不变；要按新版本重评（先预演）：{command}",
        f"{count} grades come from earlier versions and stay as they are; to grade them by this one, "
        f"rehearsed first: {command}",
    ).say(language)


def require_teacher(platform: Platform, caller: Caller, cohort: str) -> None:
    """Raises NotFound or Forbidden, before anything is unpacked."""
    with platform.store.reading() as session:
        access.require_teacher(session, caller, access.cohort_for(session, caller, cohort).id)


def aware(instant: datetime | None) -> datetime | None:
    """An instant; raises BadInput for one without an offset."""
    if instant is not None and instant.tzinfo is None:
        raise BadInput(
            Text(f"时间 {instant.isoformat()} 没有时区", f"the time {instant.isoformat()} has no offset"),
            Text("如 2026-12-20T23:59+08:00", "such as 2026-12-20T23:59+08:00"),
            reason="naive_time",
        )
    return instant


def _fetch(platform: Platform, names: tuple[str, ...]) -> None:
    for name in names:
        if not (platform.folders.cache / name).is_dir():
            datasets.provide(name, platform.folders.cache, mnist_url=platform.settings.mirror_mnist, say=log.info)
