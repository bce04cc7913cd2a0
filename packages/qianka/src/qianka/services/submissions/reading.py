"""Looking at hand-ins: one's own, or for staff everybody's in the cohort."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from qianka import receipts
from qianka.errors import NotFound, Text
from qianka.services import access, audit
from qianka.services.platform import Caller, Platform
from qianka.services.submissions import storage
from qianka.services.submissions.handin import key_of, place_of
from qianka.services.submissions.limits import Tries, tries_of
from qianka.store.repos import submissions
from qianka.store.tables import Attempt, Cohort, Lab, Person, Receipt, Submission


class Found(NamedTuple):
    """A hand-in with what it belongs to and its newest grading."""

    submission: Submission
    lab: Lab
    person: Person
    cohort: Cohort
    attempt: Attempt | None


def get(platform: Platform, caller: Caller, submission_id: str) -> Found:
    """One hand-in. Raises NotFound."""
    with platform.store.reading() as session:
        access.submission_for(session, caller, submission_id)
        submission, lab, person, cohort = submissions.with_lab_and_person(session, submission_id)
        attempt = submissions.newest_attempts(session, [submission_id]).get(submission_id)
        return Found(submission, lab, person, cohort, attempt)


def list_submissions(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    lab_slug: str | None = None,
    *,
    login: str | None = None,
    everybody: bool = False,
    before: str | None = None,
    limit: int = 100,
) -> list[Found]:
    """Hand-ins, newest first: the caller's own; of `login` or of everybody for staff.

    `before`: the id of the last one seen, for the next page. Raises NotFound, Forbidden.
    """
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab = None if lab_slug is None else access.lab_for(session, caller, cohort, lab_slug)
        person_id = caller.person_id
        if login is not None and login.lower() != caller.login:
            access.require_staff(session, caller, cohort.id)
            person_id = access.person_for(session, caller, login).id
        elif everybody:
            access.require_staff(session, caller, cohort.id)
            person_id = None
        elif person_id is None:
            return []
        rows = submissions.listed(
            session,
            cohort.id,
            lab_id=None if lab is None else lab.id,
            person_id=person_id,
            before=before,
            limit=max(1, min(limit, 500)),
        )
        attempts = submissions.newest_attempts(session, [row.id for row, _, _ in rows])
        return [Found(row, of_lab, person, cohort, attempts.get(row.id)) for row, of_lab, person in rows]


def search(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    *,
    lab_slug: str | None = None,
    words: str = "",
    section: str | None = None,
    verdict: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[Found]:
    """Hand-ins of a whole cohort, newest first, for staff; see `repos.submissions.search` for the filters.

    Raises NotFound, Forbidden.
    """
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        lab = None if lab_slug is None else access.lab_for(session, caller, cohort, lab_slug)
        rows = submissions.search(
            session,
            cohort.id,
            lab_id=None if lab is None else lab.id,
            words=words.strip(),
            section=section,
            verdict=verdict,
            before=before,
            limit=max(1, min(limit, 500)),
        )
        attempts = submissions.newest_attempts(session, [row.id for row, _, _ in rows])
        return [Found(row, of_lab, person, cohort, attempts.get(row.id)) for row, of_lab, person in rows]


def receipt_of(platform: Platform, caller: Caller, submission_id: str) -> Receipt:
    """The receipt of a hand-in. Raises NotFound; an invalid hand-in has none."""
    with platform.store.reading() as session:
        access.submission_for(session, caller, submission_id)
        receipt = submissions.receipt_of(session, submission_id)
    if receipt is None:
        raise NotFound(
            Text("这份提交无效，没有回执", "this hand-in was invalid and has no receipt"),
            Text("按提示改好再交", "mend it as told and hand in again"),
            reason="no_receipt",
        )
    return receipt


def receipt_file(platform: Platform, receipt: Receipt) -> str:
    """The receipt as the file that people keep and `qianka receipt verify` reads."""
    return render_receipt(platform, receipt.body, receipt.signature)


def render_receipt(platform: Platform, body: str, signature: str) -> str:
    """Any receipt that this platform signed, as a file."""
    return receipts.render(body, signature, key_of(platform).public)


def verify_receipt(platform: Platform, text: str) -> receipts.Verified:
    """What a receipt file says that anybody may show; trusted when this platform signed it.

    Raises Refused when it is none or was edited.
    """
    key = key_of(platform)
    return receipts.verify_file(text, {key.key_id: key.public})


def archive_of(platform: Platform, caller: Caller, submission_id: str) -> Path:
    """The archive as it was handed in, for its owner and for staff. Raises NotFound."""
    found = get(platform, caller, submission_id)
    path = storage.archive_path(platform, found.submission.archive_sha256)
    if found.submission.state != "accepted" or not path.exists():
        raise NotFound(Text("没有保存这份压缩包", "this archive was not kept"), reason="no_archive")
    return path


def verify_stored(platform: Platform, caller: Caller, submission_id: str) -> list[Text]:
    """How the stored bytes of a hand-in differ from those signed for; audited. Raises NotFound, Forbidden."""
    with platform.store.transaction() as session:
        submission = access.submission_for(session, caller, submission_id)
        access.require_staff(session, caller, submission.cohort_id)
        found = storage.differences(platform, submission) if submission.state == "accepted" else []
        audit.record(session, platform, caller, "submission.verify", submission.id, differences=len(found))
    return found


def tries(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Tries:
    """How many tries the caller has left today. Raises NotFound, Forbidden."""
    now = platform.now()
    with platform.store.reading() as session:
        place = place_of(session, platform, caller, cohort_slug, lab_slug)
        return tries_of(
            session,
            place.cohort,
            place.lab,
            place.rules,
            place.person.id,
            now,
            is_staff=place.is_staff,
            group_id=place.group_id,
        )
