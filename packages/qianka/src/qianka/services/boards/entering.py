"""Entering predictions: scored at the door, recorded once however often it is retried, receipted.

A file that breaks a rule is recorded as invalid and a fault of ours as failed: neither costs a try, neither
ranks, and the best of before stays. The file is in its place, named by its content, before the one
transaction that records entry, receipt and standing together.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from qianka import logs, receipts
from qianka.errors import Conflict, Forbidden, Text, TooLarge
from qianka.grading import entry_texts, predictions, scoring
from qianka.grading.answers import Answers
from qianka.grading.predictions import BadPredictions, Problem
from qianka.ids import new_id
from qianka.services import access, audit, events, groups
from qianka.services.boards import allowance, standings
from qianka.services.boards.loading import Opened, answers_of, opened
from qianka.services.boards.names import owner_of
from qianka.services.boards.standings import Scores
from qianka.services.platform import Caller, Platform
from qianka.services.submissions import key_of, storage
from qianka.services.submissions.handin import PLATFORM
from qianka.services.submissions.limits import check_quota
from qianka.store.repos import boards as repo
from qianka.store.repos import people
from qianka.store.tables import Entry, EntryReceipt, Group, Person

log = logs.get("services.boards")


class Entered(NamedTuple):
    """What became of a file; only a scored one has a receipt. `again`: it was there already, this was a retry."""

    entry: Entry
    receipt: EntryReceipt | None
    again: bool = False


@dataclass(frozen=True)
class Door:
    """Where somebody enters, and as whom."""

    board: Opened
    person: Person
    group: Group | None
    is_staff: bool

    @property
    def group_id(self) -> int | None:
        return None if self.group is None else self.group.id

    @property
    def owner(self) -> str:
        return owner_of(self.person.id, self.group_id)


@dataclass(frozen=True)
class File:
    """The upload as the server measured it."""

    path: Path
    filename: str
    sha256: str
    size: int
    key: str
    received_at: datetime


def door_of(session: Session, caller: Caller, cohort_slug: str, board_slug: str) -> Door:
    """The door at which the caller enters. Raises NotFound, Forbidden (suspended), Conflict (group too big)."""
    board = opened(session, caller, cohort_slug, board_slug)
    return door_at(session, caller, board, is_staff=access.is_staff(session, caller, board.cohort.id))


def door_at(session: Session, caller: Caller, board: Opened, *, is_staff: bool) -> Door:
    """The caller's door at a board. Raises Forbidden (suspended), Conflict (group too big)."""
    if not is_staff:
        access.require_active(session, caller, board.cohort.id)
    person = None if caller.person_id is None else session.get(Person, caller.person_id)
    if person is None:
        raise Forbidden(Text("平台自身不参加排名", "the platform itself enters nothing"))
    group = None
    if not is_staff:
        group = groups.handing_in(session, board.cohort, board.row.slug, board.rules.group, person.id)
    return Door(board, person, group, is_staff)


def check_announced(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    board_slug: str,
    filename: str,
    size: int | None,
    key: str = "",
) -> int:
    """What can be said before a byte is read: the bytes that a file may have at most.

    Raises TooLarge for a greater announced size, Refused for the name of another kind of file, Conflict,
    OverLimit, NotFound, Forbidden. A retry with the `key` of an entry that is there is let in.
    """
    now = platform.now()
    with platform.store.reading() as session:
        door = door_of(session, caller, cohort_slug, board_slug)
        if repo.entry_by_key(session, door.person.id, key) is None:
            _check(session, platform, door, now)
    code = predictions.problem_of_name(filename)
    if code is not None:
        columns = predictions.Columns(id=door.board.rules.id_column, column=door.board.rules.column, labels=None)
        raise entry_texts.refused([entry_texts.say(Problem(code, 1), columns)])
    limit = door.board.rules.max_bytes
    if size is not None and size > limit:
        raise too_large(limit)
    return limit


def too_large(limit: int) -> TooLarge:
    """The refusal of a file above `limit` bytes."""
    megabytes = f"{limit / (1 << 20):g}"
    return TooLarge(
        Text(f"文件超过 {megabytes} MB", f"the file is above {megabytes} MB"),
        Text("只留编号和预测两列；这不占次数", "leave only ids and predictions; this costs no try"),
        reason="too_big",
        limit=limit,
    )


def enter(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    board_slug: str,
    path: Path,
    filename: str,
    key: str,
    *,
    sha256: str | None = None,
    size: int | None = None,
) -> Entered:
    """Take an uploaded file (complete, in `incoming`) as the caller's entry, and score it.

    `key` makes a retry the same entry. Raises NotFound, Forbidden (suspended), Conflict (not open, past
    due, key used for something else), OverLimit (tries, quota), TooLarge, PlatformFault (answers lost).
    """
    now = platform.now()
    if sha256 is None or size is None:
        sha256, size = storage.hash_file(path)
    file = File(path, filename, sha256, size, key, now)
    with platform.store.reading() as session:
        door = door_of(session, caller, cohort_slug, board_slug)
        before = _again(session, door, file)
        if before is not None:
            path.unlink(missing_ok=True)
            return before
        _check(session, platform, door, now)
        _check_room(session, platform, door, file)
    if size > door.board.rules.max_bytes:
        raise too_large(door.board.rules.max_bytes)
    entry, losses = _scored(door, file, answers_of(platform, door.board))
    if entry.state == repo.SCORED:
        storage.keep_archive(platform, path, sha256)
    else:
        path.unlink(missing_ok=True)
    return _record(platform, caller, door, file, entry, losses)


def _scored(door: Door, file: File, answers: Answers) -> tuple[Entry, Any]:
    """The entry that a file makes, not recorded yet, with the losses of its public rows."""
    entry = _entry(door, file)
    code = predictions.problem_of_name(file.filename)
    try:
        if code is not None:
            return _invalid(entry, [Problem(code, 1)], answers), ()
        with file.path.open("rb") as data:
            found = predictions.read(data, answers.columns, answers.rows)
        scores = standings.score(found, answers, door.board.row.metric, with_losses=door.board.rules.ladder)
    except BadPredictions as error:
        return _invalid(entry, error.problems, answers), ()
    except (scoring.Undefined, ArithmeticError) as error:
        log.error("board %s: scoring %s failed: %s", door.board.row.id, file.sha256, error)
        entry.state, entry.refusal = "failed", {"problems": [], "fault": str(error)}
        return entry, ()
    if not _is_possible(scores, door):
        return _invalid(entry, [Problem("score_overflow", 1)], answers), ()
    entry.state, entry.public, entry.private = repo.SCORED, scores.public, scores.private
    entry.charged = not door.is_staff
    return entry, scores.losses


def _is_possible(scores: Scores, door: Door) -> bool:
    metric, huge = door.board.metric, 1e300
    return all(metric.admits(one) and abs(one) < huge for one in (scores.public, scores.private))


def _invalid(entry: Entry, problems: list[Problem], answers: Answers) -> Entry:
    entry.state = "invalid"
    entry.refusal = {"problems": [entry_texts.say(problem, answers.columns) for problem in problems]}
    return entry


def _check(session: Session, platform: Platform, door: Door, now: datetime) -> None:
    """Raises when nothing is taken from this person now. Staff may try a board at any time."""
    if door.is_staff:
        return
    allowance.check_time(door.board, now)
    allowance.check_left(
        allowance.allowance_of(session, door.board, door.person.id, door.group_id, now, is_staff=False)
    )


def _check_group(session: Session, door: Door) -> None:
    """Raises Conflict when the person joined or left a group while the file was scored."""
    if door.is_staff:
        return
    board = door.board
    group = groups.handing_in(session, board.cohort, board.row.slug, board.rules.group, door.person.id)
    if (None if group is None else group.id) != door.group_id:
        raise Conflict(
            Text("你的小组刚刚变了", "your group has just changed"),
            Text("再交一次；这不占次数", "enter it again; this cost no try"),
            reason="group_changed",
        )


def _check_room(session: Session, platform: Platform, door: Door, file: File) -> None:
    if not door.is_staff:
        entered = repo.stored_bytes(session, door.person.id, file.sha256)
        check_quota(session, platform, door.person.id, file.sha256, file.size + entered)


def _again(session: Session, door: Door, file: File) -> Entered | None:
    found = repo.entry_by_key(session, door.person.id, file.key)
    if found is None:
        return None
    if found.board_id != door.board.row.id or found.sha256 != file.sha256:
        raise Conflict(
            Text("这个 Idempotency-Key 已经用于另一份提交", "this Idempotency-Key was used for another entry"),
            Text("新的提交换一个新的随机值", "take a new random value for a new entry"),
            reason="key_reused",
        )
    return Entered(found, repo.receipt_of(session, found.id), again=True)


def _record(platform: Platform, caller: Caller, door: Door, file: File, entry: Entry, losses: Any) -> Entered:
    """Write everything in one transaction; when a retry was quicker, that one counts."""
    key = key_of(platform)
    try:
        with platform.store.transaction() as session:
            people.lock_person(session, door.person.id)
            groups.lock(session, door.group_id)
            before = _again(session, door, file)
            if before is not None:
                return before
            if entry.state == repo.SCORED:
                _check(session, platform, door, file.received_at)
                _check_group(session, door)
            entry.number = repo.last_number(session, entry.board_id, entry.owner) + 1
            session.add(entry)
            session.flush()
            receipt = None
            if entry.state == repo.SCORED:
                standings.step(session, door.board, entry, losses)
                receipt = _receipt(door, entry, key)
                session.add(receipt)
                events.emit(session, platform, door.board.topic, "changed")
            _audit(session, platform, caller, door, entry)
            session.flush()
            return Entered(entry, receipt)
    except IntegrityError:
        with platform.store.reading() as session:
            before = _again(session, door, file)
        if before is None:
            raise
        return before


def _audit(session: Session, platform: Platform, caller: Caller, door: Door, entry: Entry) -> None:
    codes = [one["code"] for one in (entry.refusal or {}).get("problems", [])]
    audit.record(session, platform, caller, f"entry.{entry.state}", entry.id, board=door.board.row.slug, problems=codes)


def _entry(door: Door, file: File) -> Entry:
    name = "".join(letter for letter in file.filename if letter.isprintable())
    return Entry(
        id=new_id("e"),
        board_id=door.board.row.id,
        owner=door.owner,
        person_id=door.person.id,
        group_id=door.group_id,
        idempotency_key=file.key,
        filename=name[:200] or "predictions.csv",
        size=file.size,
        sha256=file.sha256,
        charged=False,
        selected=False,
        submitted_at=file.received_at,
    )


def _receipt(door: Door, entry: Entry, key: receipts.Key) -> EntryReceipt:
    receipt_id = new_id("r")
    body = receipts.make_body(
        receipt=receipt_id,
        submission=entry.id,
        platform=PLATFORM,
        login=door.person.login,
        student_number=door.person.student_number,
        cohort=door.board.cohort.slug,
        lab=door.board.row.slug,
        submitted_at=entry.submitted_at,
        is_late=False,
        filename=entry.filename,
        size=entry.size,
        archive_sha256=entry.sha256,
        tree_sha256="",
        files=[{"path": entry.filename, "size": entry.size, "sha256": entry.sha256}],
        notes=[],
    )
    signed = receipts.sign(key, body)
    return EntryReceipt(
        id=receipt_id,
        entry_id=entry.id,
        body=signed.body,
        signature=signed.signature,
        key_id=signed.key_id,
        created_at=entry.submitted_at,
    )
