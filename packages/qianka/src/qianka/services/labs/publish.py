"""Publishing: a checked folder becomes an immutable version in a cohort, by copy and one rename."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import shutil
from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

from qianka.errors import BadInput, Conflict, Text
from qianka.grading.model import Lab as LabRules
from qianka.grading.reader import LabError
from qianka.services import access, audit, dates, events
from qianka.services.labs import data, reference
from qianka.services.labs.check import LEFT_OUT, check_lab, is_ready_made
from qianka.services.labs.folders import VersionFolder, version_folder
from qianka.services.platform import Caller, Platform
from qianka.store.repos import labs as repo
from qianka.store.repos import people
from qianka.store.tables import Cohort, Lab

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def publish(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    folder: Path,
    due: datetime | None = None,
    opens: datetime | None = None,
    *,
    slug: str | None = None,
    practice: bool = False,
) -> Lab:
    """Publish the lab in `folder` as `slug` (default: the folder's name); for the cohort's teachers.

    The same content again is the same version; its data is prepared and its reference timed by the
    worker. What was graded stays graded as it was: a new version reaches it by a regrade alone.
    `due`, `opens`: None leaves what is set. Raises LabError, BadInput, Conflict, Forbidden.
    """
    report = check_lab(folder, practice=practice)
    if report.lab is None or not report.ok:
        raise LabError(report.errors)
    slug = slug or folder.resolve().name
    if not _SLUG.fullmatch(slug):
        raise BadInput(
            Text(f"实验代号 {slug!r} 不合规", f"{slug!r} is no name for a lab"),
            Text("文件夹名用小写字母、数字和连字符", "name the folder with lower-case letters, digits and hyphens"),
            reason="slug",
        )
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_teacher(session, caller, cohort.id)
    version = content_hash(folder)
    _place(platform, cohort, slug, version, report.lab)
    with platform.store.transaction() as session:
        known = people.lab_by_slug(session, cohort.id, slug)
        before = None if known is None else dates.dates_of(known)
        lab = _record(session, platform, caller, cohort, slug, version, report.lab, due, opens)
        if before is not None:
            dates.apply_dates(session, platform, caller, cohort, lab, before)
        data.start(session, platform, cohort, lab, again=True)
        reference.renew(session, lab)
        audit.record(session, platform, caller, "lab.publish", f"lab:{cohort_slug}/{slug}", version=version)
        events.emit_for_cohort(session, platform, cohort.slug, "lab", lab=slug)
    platform.wake_worker()
    return lab


def change_dates(
    platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, due: datetime | None, opens: datetime | None
) -> Lab:
    """Set or lift due date and opening of a lab; see `services.dates.change_dates`, which tells who is affected."""
    return dates.change_dates(platform, caller, cohort_slug, lab_slug, due=due, opens=opens).row


def content_hash(folder: Path) -> str:
    """The version: 16 hexadecimal digits of a hash over names and contents of all files that are published."""
    total = hashlib.sha256()
    for path in sorted(_published(folder)):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return total.hexdigest()[:16]


def seed_of(cohort: Cohort, slug: str, version: str) -> str:
    """What this cohort's hidden inputs are perturbed by: the same for one version, told to nobody."""
    message = f"{slug}/{version}".encode()
    return hmac.new(cohort.secret.encode(), message, hashlib.sha256).hexdigest()


def _record(
    session: Session,
    platform: Platform,
    caller: Caller,
    cohort: Cohort,
    slug: str,
    version: str,
    rules: LabRules,
    due: datetime | None,
    opens: datetime | None,
) -> Lab:
    payer = caller.person_id or repo.first_teacher(session, cohort.id)
    if payer is None:
        raise Conflict(
            Text(
                "这门课还没有教师，平台没有人可记名",
                "this cohort has no teacher whose name the lab's own jobs could carry",
            ),
            Text(
                "先加入一位教师：qianka people add --role teacher",
                "add a teacher first: qianka people add --role teacher",
            ),
            reason="no_teacher",
        )
    lab = people.lab_by_slug(session, cohort.id, slug) or Lab(cohort_id=cohort.id, slug=slug)
    lab.title, lab.title_en, lab.version = rules.title.zh, rules.title.en, version
    lab.published_at, lab.published_by = platform.now(), payer
    lab.due_at, lab.opens_at = due or lab.due_at, opens or lab.opens_at
    dates.check_order(dates.dates_of(lab))
    session.add(lab)
    session.flush()
    return lab


def _place(platform: Platform, cohort: Cohort, slug: str, version: str, lab: LabRules) -> None:
    """Copy the lab to its place; a rename makes it whole or not there."""
    folder = lab.folder
    target = version_folder(platform, cohort.slug, slug, version)
    if target.source.is_dir():
        return
    target.source.parent.mkdir(parents=True, exist_ok=True)
    aside = VersionFolder(target.source.with_name(f".new-{secrets.token_hex(8)}"))
    try:
        aside.secret.mkdir(parents=True)
        (aside.secret / "seed").write_text(seed_of(cohort, slug, version) + "\n", "ascii")
        _copy(folder, aside.source)
        if is_ready_made(lab):
            aside.made.mkdir()
            for name in ("train", "test", "answers", "public"):
                if (folder / "data" / name).is_dir():
                    shutil.copytree(folder / "data" / name, aside.made / name)
            data.make_public(aside, lab)
        for part, place in ((aside.side, target.side), (aside.source, target.source)):
            open_up(part)
            _move(part, place)
    finally:
        shutil.rmtree(aside.side, ignore_errors=True)
        shutil.rmtree(aside.source, ignore_errors=True)


def _move(part: Path, place: Path) -> None:
    """Rename `part` to `place`, unless another process has put the same there meanwhile."""
    try:
        part.replace(place)
    except OSError:
        if not place.is_dir():
            raise


def _published(folder: Path) -> list[Path]:
    found = []
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        hidden = any(part in LEFT_OUT or part.startswith(".") for part in parts)
        if path.is_file() and not hidden and path.suffix != ".pyc":
            found.append(path)
    return found


def _copy(folder: Path, target: Path) -> None:
    for path in _published(folder):
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def open_up(folder: Path) -> None:
    """Let every uid read: runs have uids of their own. The data directory above keeps people out."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
