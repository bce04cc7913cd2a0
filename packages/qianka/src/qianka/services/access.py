"""The only door to other people's data: who asks, and what may they know of.

Students see what is their own; staff of a cohort see everything in it; an administrator sees all.
What a caller may not even know of is NotFound, never Forbidden.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from qianka.domain.people import STAFF, Role
from qianka.errors import Conflict, Forbidden, Language, NotFound, NotSignedIn, Text
from qianka.services.platform import Caller, Platform
from qianka.store.repos import arrays, groups, people
from qianka.store.tables import Attempt, Board, Cohort, Enrollment, Job, Lab, Person, Submission, Token

_STAFF = tuple(role.value for role in STAFF)
_SEEN_EVERY = timedelta(minutes=10)  # a write for each request would queue behind the writers


@dataclass(frozen=True)
class SignedIn:
    """A caller together with the token that let them in; `csrf` only for a browser session."""

    caller: Caller
    csrf: str | None
    expires_at: datetime


def hash_secret(secret: str) -> str:
    """What is stored of a secret of at least 80 random bits: its SHA-256, in hex."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def signed_in(platform: Platform, secret: str, kind: str | None = None, address: str | None = None) -> SignedIn:
    """Who holds `secret`, a token of `kind` (session or bearer; None: either).

    Raises NotSignedIn when it is unknown, expired or revoked: the three are not told apart.
    """
    now = platform.now()
    with platform.store.reading() as session:
        found = people.token_by_hash(session, hash_secret(secret))
    if found is None or (kind is not None and found[0].kind != kind):
        raise _not_signed_in()
    token, person = found
    if token.revoked_at is not None or token.expires_at <= now:
        raise _not_signed_in()
    if token.last_used_at is None or now - token.last_used_at > _SEEN_EVERY:
        # Reading must go on when the disk is full: whoever mends it looks here first.
        with suppress(OperationalError), platform.store.transaction() as session:
            stored = session.get(Token, token.id)
            if stored is not None:
                stored.last_used_at = now
                stored.address = address if address is not None else stored.address
    caller = caller_of(platform, person, address, token.id)
    return SignedIn(caller, token.csrf, token.expires_at)


def caller_from_token(platform: Platform, secret: str, kind: str | None = None, address: str | None = None) -> Caller:
    """Like `signed_in`, without the token's own facts."""
    return signed_in(platform, secret, kind, address).caller


def caller_of(platform: Platform, person: Person, address: str | None = None, token_id: int | None = None) -> Caller:
    """The caller that a person is once signed in."""
    language = person.language or platform.settings.language
    return Caller(
        person_id=person.id,
        login=person.login,
        is_admin=person.is_admin,
        language=cast(Language, language if language in ("zh", "en") else "zh"),
        address=address,
        token_id=token_id,
    )


def membership(session: Session, caller: Caller, cohort_id: int) -> Enrollment | None:
    """The caller's enrollment in a cohort, active or suspended; None when there is none."""
    if caller.person_id is None:
        return None
    return people.enrollment(session, cohort_id, caller.person_id)


def is_staff(session: Session, caller: Caller, cohort_id: int) -> bool:
    """Whether the caller may see everything in the cohort."""
    if caller.is_admin:
        return True
    mine = membership(session, caller, cohort_id)
    return mine is not None and mine.state == "active" and mine.role in _STAFF


def require_admin(caller: Caller) -> None:
    """Raises Forbidden unless the caller is an administrator."""
    if not caller.is_admin:
        raise Forbidden(Text("只有管理员可以这样做", "only an administrator may do this"), reason="admin_only")


def require_staff(session: Session, caller: Caller, cohort_id: int) -> None:
    """Raises Forbidden unless the caller is a teacher or an assistant there, or an administrator."""
    if not is_staff(session, caller, cohort_id):
        raise Forbidden(
            Text("只有这门课的教师和助教可以这样做", "only a teacher or an assistant of this cohort may do this"),
            Text("如果你是助教，请教师把你加进来", "if you are an assistant, ask the teacher to add you"),
            reason="staff_only",
        )


def require_teacher(session: Session, caller: Caller, cohort_id: int) -> None:
    """Raises Forbidden unless the caller is a teacher there, or an administrator."""
    mine = membership(session, caller, cohort_id)
    is_teacher = mine is not None and mine.state == "active" and mine.role == Role.TEACHER.value
    if not (caller.is_admin or is_teacher):
        raise Forbidden(
            Text("只有这门课的教师可以这样做", "only a teacher of this cohort may do this"), reason="teacher_only"
        )


def require_active(session: Session, caller: Caller, cohort_id: int) -> Enrollment | None:
    """The caller's active enrollment (None for an administrator outside the class).

    Raises Forbidden for a suspended one: their data is kept, new work is not taken.
    """
    mine = membership(session, caller, cohort_id)
    if mine is not None and mine.state != "active":
        raise Forbidden(
            Text(
                "你已不在这门课的名单上；已有的成绩和提交都还在",
                "you are no longer on the roster; what you have is kept",
            ),
            Text(
                "如有误会，请联系教师重新导入名单", "if this is a mistake, ask the teacher to import the roster again"
            ),
            reason="suspended",
        )
    if mine is None and not caller.is_admin:
        raise _no_cohort()
    return mine


def require_open(cohort: Cohort) -> None:
    """Raises Conflict for a cohort that was put away: it is read, and takes no more work."""
    if cohort.archived_at is not None:
        raise Conflict(
            Text("这门课已经归档，不再收新的提交和任务", "this cohort has been put away and takes no new work"),
            Text("要继续用就请管理员取消归档", "ask an administrator to take it back"),
            reason="archived",
        )


def cohort_for(session: Session, caller: Caller, slug: str) -> Cohort:
    """The cohort `slug`; raises NotFound when there is none or the caller is not in it."""
    cohort = people.cohort_by_slug(session, slug)
    if cohort is None or not (caller.is_admin or membership(session, caller, cohort.id)):
        raise _no_cohort(slug)
    return cohort


def cohorts_for(session: Session, caller: Caller) -> list[Cohort]:
    """The cohorts the caller may see, newest first."""
    if caller.is_admin:
        return people.all_cohorts(session)
    if caller.person_id is None:
        return []
    return [cohort for cohort, _ in people.cohorts_of(session, caller.person_id)]


def lab_for(session: Session, caller: Caller, cohort: Cohort, slug: str) -> Lab:
    """The lab `slug` of a cohort got from `cohort_for`; raises NotFound."""
    lab = people.lab_by_slug(session, cohort.id, slug)
    if lab is None:
        raise NotFound(
            Text(f"这门课里没有名为 {slug} 的实验", f"there is no lab named {slug} in this cohort"),
            Text("用 qianka lab list 查看有哪些", "see which there are: qianka lab list"),
            reason="no_lab",
        )
    return lab


def board_for(session: Session, caller: Caller, lab_id: int) -> Lab:
    """The lab whose board it is, in a cohort that the caller is in; raises NotFound."""
    lab = session.get(Lab, lab_id)
    if lab is None or not (caller.is_admin or membership(session, caller, lab.cohort_id)):
        raise _nothing("排行榜", "board", str(lab_id))
    return lab


def prediction_board_for(session: Session, caller: Caller, board_id: str) -> Board:
    """The board of predictions, in a cohort that the caller is in; raises NotFound."""
    board = session.get(Board, board_id)
    if board is None or not (caller.is_admin or membership(session, caller, board.cohort_id)):
        raise _nothing("排行榜", "board", board_id)
    return board


def submission_for(session: Session, caller: Caller, submission_id: str) -> Submission:
    """A submission that is the caller's own, their group's, or in a cohort of theirs as staff; raises NotFound."""
    submission = session.get(Submission, submission_id)
    if submission is None or not _may_see_submission(session, caller, submission):
        raise _nothing("提交", "submission", submission_id)
    return submission


def attempt_for(session: Session, caller: Caller, attempt_id: str) -> Attempt:
    """An attempt whose submission the caller may see; raises NotFound."""
    attempt = session.get(Attempt, attempt_id)
    submission = None if attempt is None else session.get(Submission, attempt.submission_id)
    if attempt is None or submission is None:
        raise _nothing("评分", "attempt", attempt_id)
    # A rehearsal or a replay is nobody's grade: only staff may know of it.
    if not _may_see_submission(session, caller, submission) or not (
        attempt.counts or is_staff(session, caller, submission.cohort_id)
    ):
        raise _nothing("评分", "attempt", attempt_id)
    return attempt


def job_for(session: Session, caller: Caller, job_id: str) -> Job:
    """A job that is the caller's own or in a cohort of theirs as staff; raises NotFound.

    `job_id`: its own id, or that of its array and its index (`ja-…_3`).
    """
    job = arrays.member(session, job_id) if "_" in job_id else session.get(Job, job_id)
    if job is not None and _may_see(session, caller, job.person_id, job.cohort_id):
        return job
    if not arrays.is_array(job_id):
        raise _nothing("任务", "job", job_id)
    hint = Text(f"这是一个数组；其中的任务写作 {job_id}_3", f"this is an array; one of its jobs is {job_id}_3")
    raise NotFound(Text(f"没有编号为 {job_id} 的任务", f"there is no job {job_id}"), hint, reason="no_job")


def array_for(session: Session, caller: Caller, array_id: str) -> list[Job]:
    """The jobs of an array that is the caller's own or in a cohort of theirs as staff; raises NotFound."""
    found = arrays.of_array(session, array_id)
    if not found or not _may_see(session, caller, found[0].person_id, found[0].cohort_id):
        raise _nothing("任务数组", "array", array_id)
    return found


def may_see_output(session: Session, caller: Caller, job: Job) -> bool:
    """Whether somebody who may see a job may also see what it printed.

    What a hand-in prints while it predicts, and all that the judge prints, is for staff alone: both
    have hidden inputs before them. Training has none, so its log is the student's.
    """
    if job.kind == "run" or ":train" in (job.key or "") or caller.is_admin:
        return True
    return job.cohort_id is not None and is_staff(session, caller, job.cohort_id)


def require_output(session: Session, caller: Caller, job: Job) -> None:
    """Raises Forbidden where the caller may see a job but not what it printed: see `may_see_output`."""
    if not may_see_output(session, caller, job):
        raise Forbidden(
            Text("这一步的输出只给教师看", "the output of this stage is for staff"),
            Text(
                "看评分结果里的建议；或在本机用 qianka check 重现",
                "read the feedback, or reproduce it with qianka check",
            ),
            reason="staff_only",
        )


def person_for(session: Session, caller: Caller, login: str) -> Person:
    """A person who is the caller, or in a cohort of theirs as staff; raises NotFound."""
    person = people.person_by_login(session, login.strip().lower())
    if person is not None:
        if caller.is_admin or person.id == caller.person_id:
            return person
        if caller.person_id is not None and people.shares_cohort_as_staff(session, caller.person_id, person.id, _STAFF):
            return person
    raise NotFound(Text(f"没有找到 {login}", f"nobody named {login} was found"), reason="no_person")


def _may_see_submission(session: Session, caller: Caller, submission: Submission) -> bool:
    group_id, person_id = submission.group_id, caller.person_id
    if group_id is not None and person_id is not None and groups.is_member(session, group_id, person_id):
        return True
    return _may_see(session, caller, submission.person_id, submission.cohort_id)


def _may_see(session: Session, caller: Caller, owner_id: int, cohort_id: int | None) -> bool:
    if caller.is_admin or (caller.person_id is not None and caller.person_id == owner_id):
        return True
    return cohort_id is not None and is_staff(session, caller, cohort_id)


def _not_signed_in() -> NotSignedIn:
    return NotSignedIn(
        Text("没有登录，或登录已过期", "not signed in, or the sign-in has expired"),
        Text("重新登录：网页上点“登录”，命令行用 qianka login", "sign in again: on the page, or with qianka login"),
    )


def _no_cohort(slug: str = "") -> NotFound:
    return NotFound(
        Text(f"没有名为 {slug} 的课程班", f"there is no cohort named {slug}"),
        Text("用 qianka cohort list 查看你所在的课程班", "see the cohorts you are in: qianka cohort list"),
        reason="no_cohort",
    )


def _nothing(zh: str, en: str, name: str) -> NotFound:
    return NotFound(Text(f"没有编号为 {name} 的{zh}", f"there is no {en} {name}"), reason=f"no_{en}")
