"""Handing in: one upload becomes exactly one submission with a receipt, however often it is retried.

The order makes a crash at any point harmless: the tree and the archive are in their places, named by
their content, before the one transaction that records submission, receipt and attempt together.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from qianka import intake, receipts
from qianka.domain.jobs import JobState
from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.errors import Conflict, Forbidden, PlatformFault, Refused, Text
from qianka.grading import labfile
from qianka.grading.model import Handin
from qianka.grading.reader import LabError
from qianka.ids import new_id
from qianka.services import access, audit, dates, events, groups
from qianka.services.platform import Caller, Platform
from qianka.services.submissions import limits, storage, twins
from qianka.store.repos import attempts, people, submissions
from qianka.store.repos import groups as group_repo
from qianka.store.tables import Attempt, Cohort, Group, Lab, Person, Receipt, Submission

PLATFORM = "Qianka"
KEY_FILE = "receipt.pem"


class HandedIn(NamedTuple):
    """What became of a hand-in; an invalid one has neither receipt nor attempt.

    `again`: it was there already, this was a retry.
    """

    submission: Submission
    receipt: Receipt | None
    attempt: Attempt | None
    again: bool = False


@dataclass(frozen=True)
class Place:
    """Where somebody hands in: all that the rules ask about."""

    cohort: Cohort
    lab: Lab
    rules: Handin
    person: Person
    is_staff: bool
    group: Group | None = None

    @property
    def group_id(self) -> int | None:
        """Whose counter and grade it is: a group's, or (None) the person's own."""
        return None if self.group is None else self.group.id


@dataclass(frozen=True)
class Terms:
    """On what terms a hand-in is taken; `twin`: the earlier one of the same files whose time counts."""

    late: bool = False
    twin: Submission | None = None


@dataclass(frozen=True)
class Upload:
    """The uploaded archive as the server measured it."""

    path: Path
    filename: str
    sha256: str
    size: int
    key: str
    received_at: datetime


def hand_in(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    lab_slug: str,
    archive: Path,
    filename: str,
    key: str,
    *,
    sha256: str | None = None,
    size: int | None = None,
) -> HandedIn:
    """Take an uploaded archive (a complete file in `incoming`) as the caller's hand-in.

    `key` makes a retry the same hand-in; `sha256` and `size` are the server's own figures from the
    upload, measured here when not given. A hand-in that breaks a rule of intake is recorded as
    invalid, costs no try, and comes back with its `refusal`. Raises NotFound, Forbidden (suspended),
    Conflict (not open, past due, key used for something else), OverLimit (tries, quota), Unavailable.
    """
    now = platform.now()
    with platform.store.reading() as session:
        place = place_of(session, platform, caller, cohort_slug, lab_slug)
        if sha256 is None or size is None:
            sha256, size = storage.hash_file(archive)
        upload = Upload(archive, filename, sha256, size, key, now)
        before = _again(session, place, upload)
        if before is not None:
            archive.unlink(missing_ok=True)
            return before
        _check(session, platform, caller, place, upload)
    try:
        tree = intake.take(archive, platform.folders.trees, storage.rules_of(place.rules), filename)
    except Refused as refusal:
        handed = _record(platform, caller, place, upload, _invalid(place, upload, refusal), None)
        archive.unlink(missing_ok=True)
        return handed
    storage.keep_archive(platform, archive, sha256)
    handed = _record(platform, caller, place, upload, _accepted(place, upload, tree), tree)
    platform.wake_worker()
    return handed


def place_of(session: Session, platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Place:
    """The place where the caller hands in. Raises NotFound, Forbidden, PlatformFault for a broken lab."""
    cohort = access.cohort_for(session, caller, cohort_slug)
    lab = access.lab_for(session, caller, cohort, lab_slug)
    access.require_active(session, caller, cohort.id)
    person = None if caller.person_id is None else session.get(Person, caller.person_id)
    if person is None:
        raise Forbidden(Text("平台自身不能提交", "the platform itself hands nothing in"))
    try:
        spec = labfile.load(platform.folders.labs / cohort.slug / lab.slug / lab.version)
    except LabError as error:
        raise PlatformFault(
            Text(f"实验 {lab.slug} 的定义读不了", f"the definition of lab {lab.slug} cannot be read"),
            Text("请教师重新发布这个实验；这不占次数", "ask the teacher to publish it again; this costs no try"),
            reason="broken_lab",
        ) from error
    is_staff = access.is_staff(session, caller, cohort.id)
    group = None if is_staff else groups.handing_in(session, cohort, lab.slug, spec.handin.group, person.id)
    return Place(cohort, lab, spec.handin, person, is_staff, group)


@lru_cache(maxsize=8)
def signing_key(path: Path) -> receipts.Key:
    """The platform's key, read once a process."""
    return receipts.load_or_make_key(path)


def key_of(platform: Platform) -> receipts.Key:
    """The key that signs this platform's receipts."""
    return signing_key(platform.folders.secrets / KEY_FILE)


def _check(
    session: Session, platform: Platform, caller: Caller, place: Place, upload: Upload, tree_sha256: str | None = None
) -> Terms:
    """On what terms it is taken; raises when it is not. Staff may try a lab at any time.

    The same files once more after the due date keep the time of the first hand-in and cost no try.
    `tree_sha256`: None before the archive is unpacked, when only the same archive is known again.
    """
    access.require_active(session, caller, place.cohort.id)
    access.require_open(place.cohort)
    if place.is_staff:
        return Terms()
    policy, now = place.rules.policy, upload.received_at
    found = dates.check_time(session, place.cohort, place.lab, policy, place.person.id, now)
    twin = None
    if found.days > 0:
        twin = submissions.same_files(
            session, place.lab.id, place.person.id, place.group_id, archive=upload.sha256, tree=tree_sha256
        )
    if twin is None:
        _check_tries(session, place, now)
    limits.check_quota(session, platform, place.person.id, upload.sha256, upload.size)
    return Terms(late=found.days > 0 and (twin is None or twin.late), twin=twin)


def _check_tries(session: Session, place: Place, now: datetime) -> None:
    limits.check_tries(
        limits.tries_of(
            session,
            place.cohort,
            place.lab,
            place.rules,
            place.person.id,
            now,
            is_staff=False,
            group_id=place.group_id,
        )
    )


def _again(session: Session, place: Place, upload: Upload) -> HandedIn | None:
    """The hand-in that this key made before. Raises Conflict when it was another one."""
    found = submissions.by_key(session, place.person.id, upload.key)
    if found is None:
        return None
    if found.lab_id != place.lab.id or found.archive_sha256 != upload.sha256:
        raise Conflict(
            Text("这个 Idempotency-Key 已经用于另一份提交", "this Idempotency-Key was used for another hand-in"),
            Text("新的提交换一个新的随机值", "take a new random value for a new hand-in"),
            reason="key_reused",
        )
    attempt = submissions.newest_attempts(session, [found.id]).get(found.id)
    return HandedIn(found, submissions.receipt_of(session, found.id), attempt, again=True)


def _record(
    platform: Platform, caller: Caller, place: Place, upload: Upload, submission: Submission, tree: intake.Tree | None
) -> HandedIn:
    """Write everything in one transaction; when a retry was quicker, that one counts."""
    key = key_of(platform) if tree is not None else None
    try:
        with platform.store.transaction() as session:
            people.lock_person(session, place.person.id)
            groups.lock(session, place.group_id)
            before = _again(session, place, upload)
            if before is not None:
                return before
            if tree is None or key is None:
                return _write_invalid(session, platform, caller, place, submission)
            terms = _check(session, platform, caller, place, upload, submission.tree_sha256)
            submission.late = terms.late
            if terms.twin is not None:
                submission.same_as, submission.charged = terms.twin.id, False
            return _write_accepted(session, platform, caller, place, submission, key)
    except IntegrityError:
        with platform.store.reading() as session:
            before = _again(session, place, upload)
        if before is None:
            raise
        return before


def _write_invalid(
    session: Session, platform: Platform, caller: Caller, place: Place, submission: Submission
) -> HandedIn:
    session.add(submission)
    reason = (submission.refusal or {}).get("reason")
    audit.record(session, platform, caller, "submission.invalid", submission.id, lab=place.lab.slug, reason=reason)
    session.flush()
    return HandedIn(submission, None, None)


def _write_accepted(
    session: Session, platform: Platform, caller: Caller, place: Place, submission: Submission, key: receipts.Key
) -> HandedIn:
    now = submission.submitted_at
    _supersede(session, platform, place, submission)
    session.add(submission)
    session.flush()
    receipt = _receipt(place, submission, key)
    attempt = twins.copied(session, place.lab, submission) or Attempt(
        id=new_id("a"),
        submission_id=submission.id,
        lab_id=place.lab.id,
        person_id=place.person.id,
        number=1,
        state="queued",
        lab_version=place.lab.version,
        queued_at=now,
    )
    session.add_all([receipt, attempt])
    session.flush()
    events.emit_of_attempt(session, platform, attempt, "queued")
    if attempt.state == "done":
        members = [] if place.group_id is None else group_repo.member_ids(session, place.group_id)
        cause, whose = dates.Cause(why="graded", caller=Caller.system()), [place.person.id, *members]
        dates.settle_people(session, platform, place.cohort, whose, cause, place.lab)
        events.emit_of_attempt(session, platform, attempt, "verdict", verdict=attempt.verdict, points=attempt.points)
    audit.record(session, platform, caller, "submission.accept", submission.id, lab=place.lab.slug, receipt=receipt.id)
    session.flush()
    return HandedIn(submission, receipt, attempt)


def _supersede(session: Session, platform: Platform, place: Place, newer: Submission) -> None:
    """Cancel what the person or group has queued in this lab and give the try back; what has begun goes on.

    The grader ends the waiting jobs of a cancelled attempt.
    """
    queued = submissions.queued_attempts(session, place.lab.id, place.person.id, place.group_id)
    jobs = attempts.job_states(session, [attempt.id for attempt in queued])
    words = VERDICTS[Verdict.CANCELLED]
    for attempt in queued:
        if any(state != JobState.PENDING.value for _, state in jobs[attempt.id]):
            continue
        attempt.state, attempt.verdict, attempt.ended_at = "cancelled", Verdict.CANCELLED.value, newer.submitted_at
        attempt.next_try_at, attempt.stage = None, ""
        older = session.get(Submission, attempt.submission_id)
        if older is not None and older.id != newer.same_as:  # the same files once more are free, not free twice
            older.charged = False
        told = {"verdict": attempt.verdict, "zh": words.zh, "en": words.en, "newer": newer.id}
        events.emit_of_attempt(session, platform, attempt, "verdict", **told)


def _receipt(place: Place, submission: Submission, key: receipts.Key) -> Receipt:
    receipt_id = new_id("r")
    body = receipts.make_body(
        receipt=receipt_id,
        submission=submission.id,
        platform=PLATFORM,
        login=place.person.login,
        student_number=place.person.student_number,
        cohort=place.cohort.slug,
        lab=place.lab.slug,
        submitted_at=submission.submitted_at,
        is_late=submission.late,
        filename=submission.filename,
        size=submission.size,
        archive_sha256=submission.archive_sha256,
        tree_sha256=submission.tree_sha256 or "",
        files=submission.files,
        notes=submission.notes,
    )
    signed = receipts.sign(key, body)
    return Receipt(
        id=receipt_id,
        submission_id=submission.id,
        body=signed.body,
        signature=signed.signature,
        key_id=signed.key_id,
        created_at=submission.submitted_at,
    )


def _accepted(place: Place, upload: Upload, tree: intake.Tree) -> Submission:
    return _submission(
        place,
        upload,
        state="accepted",
        charged=not place.is_staff,
        tree_sha256=tree.digest,
        files=[{"path": file.path, "size": file.size, "sha256": file.sha256} for file in tree.files],
        notes=[note._asdict() for note in tree.notes],
    )


def _invalid(place: Place, upload: Upload, refusal: Refused) -> Submission:
    hint = refusal.hint or Text("", "")
    return _submission(
        place,
        upload,
        state="invalid",
        charged=False,
        refusal={
            "reason": refusal.reason,
            "zh": refusal.message.zh,
            "en": refusal.message.en,
            "hint_zh": hint.zh,
            "hint_en": hint.en,
        },
    )


def _submission(place: Place, upload: Upload, **fields: Any) -> Submission:
    name = "".join(letter for letter in upload.filename if letter.isprintable())
    return Submission(
        id=new_id("s"),
        cohort_id=place.cohort.id,
        lab_id=place.lab.id,
        person_id=place.person.id,
        group_id=place.group_id,
        idempotency_key=upload.key,
        filename=name[:200] or "handin",
        size=upload.size,
        archive_sha256=upload.sha256,
        submitted_at=upload.received_at,
        **fields,
    )
