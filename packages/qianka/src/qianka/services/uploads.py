"""Uploads in pieces: a hand-in over a bad line goes on where it broke off, also after the page was reloaded.

A piece is written at the offset that the database knows as received, then the database moves on: whatever
dies in between, the same piece is sent again and nothing is lost or doubled.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from qianka.errors import BadInput, Conflict, NotFound, Text, TooLarge
from qianka.ids import new_id
from qianka.services import access, labs, submissions
from qianka.services.platform import Caller, Platform
from qianka.services.submissions import HandedIn
from qianka.store.repos import submissions as submission_repo
from qianka.store.repos import uploads as repo
from qianka.store.tables import Cohort, Lab, Upload

LIFE = timedelta(hours=24)
AT_ONCE = 5
"""uploads of one person; a further one takes the place of the oldest"""
PIECE = 2 << 20
"""bytes of one piece at most"""


def start(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, *, filename: str, size: int) -> Upload:
    """Begin an upload of `size` bytes to be handed in. Raises NotFound, Forbidden, BadInput, TooLarge."""
    most = platform.settings.server_upload_mb * 1_000_000
    if size < 1:
        raise BadInput(Text("文件是空的", "the file is empty"), reason="empty_upload")
    if size > most:
        raise TooLarge(
            Text(f"文件超过 {most // 1_000_000} MB", f"the file is larger than {most // 1_000_000} MB"),
            Text("去掉数据、模型和输出再打包", "leave data, models and outputs out of it"),
            reason="too_large",
        )
    lab = labs.get(platform, caller, cohort_slug, lab_slug)
    _sweep(platform)
    now = platform.now()
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_active(session, caller, cohort.id)
        access.require_open(cohort)
        person = access.person_for(session, caller, caller.login)
        mine = repo.of_person(session, person.id)
        for old in mine[: max(0, len(mine) - AT_ONCE + 1)]:
            _forget(session, platform, old)
        upload = Upload(
            id=new_id("u"),
            person_id=person.id,
            lab_id=lab.id,
            filename=filename,
            size=size,
            received=0,
            created_at=now,
            expires_at=now + LIFE,
        )
        session.add(upload)
    place(platform, upload.id).touch(0o600)
    return upload


def get(platform: Platform, caller: Caller, upload_id: str) -> Upload:
    """One of the caller's uploads: how much of it is here. Raises NotFound, also where its bytes are gone."""
    with platform.store.reading() as session:
        upload = _mine(session, caller, upload_id)
    if not place(platform, upload_id).exists():  # a restored backup holds no uploads in flight
        raise _no_upload()
    return upload


def take(platform: Platform, caller: Caller, upload_id: str, offset: int, piece: bytes) -> Upload:
    """Add a piece that begins at `offset`; one that is here already changes nothing.

    Raises NotFound, BadInput for more than was announced, Conflict (details: received) for a gap.
    """
    with _held(platform, upload_id) as file:
        with platform.store.reading() as session:
            upload = _mine(session, caller, upload_id)
        if offset + len(piece) > upload.size or len(piece) > PIECE:
            raise BadInput(Text("这一段超出了文件大小", "this piece is beyond the announced size"), reason="beyond")
        if offset + len(piece) <= upload.received:
            return upload
        if offset != upload.received:
            raise Conflict(
                Text(f"服务器已有 {upload.received} 字节", f"{upload.received} bytes are here"),
                Text("从这里继续", "go on from there"),
                reason="offset",
                received=upload.received,
            )
        os.pwrite(file, piece, offset)
        os.fsync(file)
        with platform.store.transaction() as session:
            upload = _mine(session, caller, upload_id)
            upload.received = offset + len(piece)
            upload.expires_at = platform.now() + LIFE
        return upload


def hand_in(platform: Platform, caller: Caller, upload_id: str) -> HandedIn:
    """Hand a complete upload in; asked again, it is the same hand-in. Raises what `submissions.hand_in` raises."""
    done = _done(platform, caller, upload_id)
    if done is not None:
        return done
    with platform.store.reading() as session:
        upload = _mine(session, caller, upload_id)
        lab, cohort = _where(session, upload)
    if upload.received != upload.size:
        raise Conflict(
            Text("文件还没有传完", "the file is not complete yet"),
            Text("继续上传", "go on with the upload"),
            reason="incomplete",
            received=upload.received,
        )
    try:
        with _held(platform, upload_id) as file:
            done = _done(platform, caller, upload_id)  # the same call came twice, and the other was first
            if done is not None:
                return done
            os.ftruncate(file, upload.size)  # a piece that was written but never acknowledged
            handed = submissions.hand_in(
                platform, caller, cohort.slug, lab.slug, place(platform, upload_id), upload.filename, upload_id
            )
    except NotFound:
        done = _done(platform, caller, upload_id)  # the other took the file away before this one looked for it
        if done is None:
            raise
        return done
    drop(platform, caller, upload_id)
    return handed


def drop(platform: Platform, caller: Caller, upload_id: str) -> None:
    """Give an upload up. Raises NotFound."""
    with platform.store.transaction() as session:
        _forget(session, platform, _mine(session, caller, upload_id))


def place(platform: Platform, upload_id: str) -> Path:
    """The file in which the bytes are gathered."""
    return platform.folders.incoming / f"piecewise-{upload_id}"


def _done(platform: Platform, caller: Caller, upload_id: str) -> HandedIn | None:
    """What became of an upload that was handed in before."""
    if caller.person_id is None:
        return None
    with platform.store.reading() as session:
        submission = submission_repo.by_key(session, caller.person_id, upload_id)
        if submission is None:
            return None
        attempts = submission_repo.newest_attempts(session, [submission.id])
        receipt = submission_repo.receipt_of(session, submission.id)
    return HandedIn(submission, receipt, attempts.get(submission.id), again=True)


def _where(session: Session, upload: Upload) -> tuple[Lab, Cohort]:
    lab = session.get_one(Lab, upload.lab_id)
    return lab, session.get_one(Cohort, lab.cohort_id)


def _mine(session: Session, caller: Caller, upload_id: str) -> Upload:
    upload = session.get(Upload, upload_id)
    if upload is None or caller.person_id is None or upload.person_id != caller.person_id:
        raise _no_upload()
    return upload


def _no_upload() -> NotFound:
    return NotFound(
        Text("没有这个上传，或已过期", "there is no such upload, or it has expired"),
        Text("重新上传", "begin anew"),
        reason="no_upload",
    )


@contextmanager
def _held(platform: Platform, upload_id: str) -> Iterator[int]:
    """The file of an upload, for one writer at a time."""
    if not upload_id.replace("-", "").isalnum():
        raise _no_upload()
    try:
        file = os.open(place(platform, upload_id), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError as error:
        raise _no_upload() from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _forget(session: Session, platform: Platform, upload: Upload) -> None:
    session.delete(upload)
    place(platform, upload.id).unlink(missing_ok=True)


def _sweep(platform: Platform) -> None:
    with platform.store.reading() as session:
        late = repo.expired(session, platform.now())
    if late:
        with platform.store.transaction() as session:
            for upload in repo.expired(session, platform.now()):
                _forget(session, platform, upload)
