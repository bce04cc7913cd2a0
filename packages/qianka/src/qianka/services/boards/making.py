"""Boards of predictions: made from a folder, from a Kaggle-style folder, and their dates changed."""

from __future__ import annotations

import re
import secrets
import tempfile
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.errors import BadInput, Conflict, NotFound, Text
from qianka.grading import answers as reading
from qianka.grading import boardfile, scoring
from qianka.grading.boardfile import BoardError
from qianka.grading.boardmodel import BoardRules, BoardSpec
from qianka.grading.metrics import METRICS
from qianka.ids import new_id
from qianka.services import access, audit, events
from qianka.services.boards.allowance import check_open
from qianka.services.boards.loading import Opened, opened
from qianka.services.platform import Caller, Platform
from qianka.services.submissions.storage import archive_path, hash_file, keep_archive
from qianka.store.repos import boards as repo
from qianka.store.repos import people
from qianka.store.tables import Board, Cohort
from qianka.tomlfile.reader import Problem

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
SPEC, ANSWERS, SAMPLE, SOLUTION = "board.toml", "answers.csv", "sample_submission.csv", "solution.csv"
MAX_ANSWERS = 256 << 20
_TRIES = 32
"""secrets tried until both parts of the split have a score"""


def create(platform: Platform, caller: Caller, cohort_slug: str, folder: Path, slug: str) -> Board:
    """Make a board of a folder (board.toml, answers.csv, optionally sample_submission.csv); for teachers.

    Raises BoardError naming file, line and key, Conflict for a name that is taken, Forbidden.
    """
    spec = boardfile.parse(_bytes(folder, SPEC))
    return _create(platform, caller, cohort_slug, folder, slug, spec, ANSWERS)


def import_kaggle(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    folder: Path,
    slug: str,
    *,
    metric: str,
    title: str | None = None,
    **changes: Any,
) -> Board:
    """Make a board of sample_submission.csv and solution.csv with its column Usage; for teachers.

    The columns are those of the sample; Kaggle's own limits are the defaults: 5 a day, 2 final choices, no
    Ladder. `changes`: other fields of BoardRules. Raises BoardError, BadInput, Conflict, Forbidden.
    """
    if metric not in METRICS:
        raise BadInput(
            Text(f"没有指标 {metric}", f"there is no metric {metric}"),
            Text(f"可用：{', '.join(METRICS)}", f"there are: {', '.join(METRICS)}"),
            reason="metric",
        )
    header = _bytes(folder, SAMPLE).decode("utf-8-sig", "replace").split("\n", 1)[0].strip().split(",")
    if len(header) != 2:
        raise BoardError(
            [Problem(SAMPLE, 1, "", Text("应有两列：编号和预测", "must have two columns: id and prediction"))]
        )
    usage = reading.USAGE in _bytes(folder, SOLUTION).decode("utf-8-sig", "replace").split("\n", 1)[0]
    values = {"title": title or slug, "metric": metric, "public": {"ladder": False}}
    values["predictions"] = {"id": header[0].strip('"'), "column": header[1].strip('"')}
    values["split"] = {"with": "usage" if usage else "hash"}
    spec = boardfile.spec_from(values)
    spec = replace(spec, rules=replace(spec.rules, **changes))
    return _create(platform, caller, cohort_slug, folder, slug, spec, SOLUTION)


def change(platform: Platform, caller: Caller, cohort_slug: str, board_slug: str, **values: Any) -> Opened:
    """Change title, dates (`opens_at`, `due_at`, `reveal_at`) or limits (`a_day`, `a_week`, `total`); for teachers.

    Fields that are not given stay. Raises BadInput for dates out of order, NotFound, Forbidden.
    """
    with platform.store.transaction() as session:
        board = opened(session, caller, cohort_slug, board_slug)
        access.require_teacher(session, caller, board.cohort.id)
        row = board.row
        before = {name: _plain(getattr(row, name, board.rules.as_json().get(name))) for name in values}
        limits = {name: value for name, value in values.items() if name in ("a_day", "a_week", "total")}
        for name in values.keys() - limits.keys():
            setattr(row, name, values[name])
        if limits:
            row.rules = {**row.rules, **limits}
        _check_order(row)
        after = {name: _plain(value) for name, value in values.items()}
        audit.record(session, platform, caller, "board.change", _target(board.cohort, row), before=before, after=after)
        events.emit(session, platform, board.topic, "changed")
        return Opened(board.cohort, row, BoardRules.from_json(row.rules))


def sample_of(platform: Platform, caller: Caller, cohort_slug: str, board_slug: str) -> Path:
    """The sample file that shows the form of an entry. Raises NotFound, Conflict before the opening."""
    with platform.store.reading() as session:
        board = opened(session, caller, cohort_slug, board_slug)
        if not access.is_staff(session, caller, board.cohort.id):
            check_open(board, platform.now())
        sha256 = board.row.sample_sha256
    path = None if sha256 is None else archive_path(platform, sha256)
    if path is None or not path.exists():
        raise NotFound(Text("这个排行榜没有样例文件", "this board has no sample file"), reason="no_sample")
    return path


def _create(
    platform: Platform, caller: Caller, cohort_slug: str, folder: Path, slug: str, spec: BoardSpec, answers: str
) -> Board:
    if not _SLUG.fullmatch(slug):
        raise BadInput(
            Text(f"排行榜代号 {slug!r} 不合规", f"{slug!r} is no name for a board"),
            Text("用小写字母、数字和连字符", "use lower-case letters, digits and hyphens"),
            reason="slug",
        )
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_teacher(session, caller, cohort.id)
        _require_free(session, caller, cohort, slug, spec.lab)
    data = _bytes(folder, answers)
    secret = _secret(data, spec)
    sample = _bytes(folder, SAMPLE) if (folder / SAMPLE).is_file() else None
    kept = _keep(platform, data), None if sample is None else _keep(platform, sample)
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab_id = _require_free(session, caller, cohort, slug, spec.lab)
        row = Board(
            id=new_id("b"),
            cohort_id=cohort.id,
            lab_id=lab_id,
            slug=slug,
            title=spec.title,
            title_en=spec.title_en,
            metric=spec.metric,
            digits=spec.digits,
            rules=spec.rules.as_json(),
            answers_sha256=kept[0],
            sample_sha256=kept[1],
            secret=secret,
            opens_at=_instant(spec.opens, cohort.zone),
            due_at=_instant(spec.due, cohort.zone),
            reveal_at=_instant(spec.reveal, cohort.zone),
            created_at=platform.now(),
            created_by=caller.person_id,
        )
        session.add(row)
        session.flush()
        audit.record(session, platform, caller, "board.create", _target(cohort, row), metric=row.metric)
    return row


def _require_free(session: Session, caller: Caller, cohort: Cohort, slug: str, lab: str | None) -> int | None:
    """The id of the lab it belongs to. A board has an address of its own, so no lab may have its name but its own."""
    taken = repo.by_slug(session, cohort.id, slug) is not None
    if taken or people.lab_by_slug(session, cohort.id, slug) is not None:
        raise Conflict(
            Text(f"已经有名为 {slug} 的排行榜或实验", f"there is a board or a lab named {slug} already"),
            Text("换一个代号", "choose another name"),
            reason="slug_taken",
        )
    return None if lab is None else access.lab_for(session, caller, cohort, lab).id


def _secret(data: bytes, spec: BoardSpec) -> str:
    """A key under which both parts of the answers have a score. Raises BoardError when there is none."""
    for _ in range(_TRIES):
        secret = secrets.token_hex(32)
        found = reading.read(data, spec.rules, spec.metric, secret)
        try:
            reading.check(found, spec.metric)
        except scoring.Undefined as error:
            reason = str(error)
            if spec.rules.split == "usage":
                break
            continue
        return secret
    text = Text(
        f"公开或私有部分算不出 {spec.metric}：{reason}",
        f"{spec.metric} has no value on the public or private part: {reason}",
    )
    raise BoardError([Problem(ANSWERS, 1, "", text)])


def _bytes(folder: Path, name: str) -> bytes:
    """A file of the folder. Raises BoardError when it is missing or huge."""
    path = folder / name
    try:
        if path.is_symlink() or path.stat().st_size > MAX_ANSWERS:
            raise BoardError([Problem(name, 1, "", Text("文件太大（上限 256 MB）", "is too big (256 MB at most)"))])
        return path.read_bytes()
    except OSError as error:
        raise BoardError([Problem(name, 1, "", Text("缺少这个文件", "is missing"))]) from error


def _keep(platform: Platform, data: bytes) -> str:
    """Keep bytes among the blobs; their hash."""
    handle, name = tempfile.mkstemp(dir=platform.folders.incoming, prefix="board-")
    with open(handle, "wb") as file:
        file.write(data)
    path = Path(name)
    sha256, _ = hash_file(path)
    keep_archive(platform, path, sha256)
    return sha256


def _instant(local: datetime | None, zone: str) -> datetime | None:
    return None if local is None else local.replace(tzinfo=ZoneInfo(zone)).astimezone(timezone.utc)


def _check_order(row: Board) -> None:
    marks = [one for one in (row.opens_at, row.due_at, row.reveal_at) if one is not None]
    if marks != sorted(marks) or (row.reveal_at is not None and row.due_at is None):
        raise BadInput(
            Text("顺序应是：开放、截止、公布", "the order is: opens, due, reveal"),
            Text("检查年月日；要公布就要有截止", "look at the dates; a reveal needs a deadline"),
            reason="dates",
        )


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _target(cohort: Cohort, row: Board) -> str:
    return f"board:{cohort.slug}/{row.slug}"
