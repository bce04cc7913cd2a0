"""Inquiries: a student asks about a grade, staff answers, either of them closes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from qianka.errors import BadInput, Conflict, NotFound, OverLimit, Text
from qianka.ids import new_id
from qianka.services import access, audit, events, labs
from qianka.services.grades.counted import Counted, gather
from qianka.services.platform import Caller, Platform
from qianka.store.repos import adjustments, people
from qianka.store.repos import attempts as attempt_repo
from qianka.store.repos import inquiries as repo
from qianka.store.repos.inquiries import Found
from qianka.store.tables import Cohort, Inquiry, InquiryMessage, Person

LONGEST = 4000
A_DAY = 30
"""messages of one student in 24 hours"""
MOST_MESSAGES = 200
"""of one inquiry"""


@dataclass(frozen=True, kw_only=True)
class Thread:
    """An inquiry with its messages and what counts now."""

    found: Found
    cohort: Cohort
    counted: Counted
    messages: list[tuple[InquiryMessage, Person]]


def ask(
    platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, text: str, attempt_id: str | None = None
) -> str:
    """Ask about one's own grade in a lab; the id of the inquiry. One is open at a time in a lab.

    Raises NotFound, Forbidden (not a student there, or suspended), BadInput, Conflict, OverLimit.
    """
    _check(text)
    labs.get(platform, caller, cohort_slug, lab_slug)  # one that has not opened is not known of
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        mine = access.require_active(session, caller, cohort.id)
        if mine is None or mine.role != "student" or caller.person_id is None:
            raise BadInput(
                Text("只有学生可以询问自己的成绩", "only a student may ask about their grade"),
                Text("教师直接在成绩册里写评语", "staff writes a comment in the grade book"),
                reason="students_only",
            )
        lab = access.lab_for(session, caller, cohort, lab_slug)
        people.lock_person(session, caller.person_id)  # two at once must not both be the first
        known = repo.open_of(session, lab.id, caller.person_id)
        if known is not None:
            raise Conflict(
                Text("你在这个实验上已有一个没有结束的询问", "you have an open inquiry about this lab"),
                Text("在那里继续写", "go on writing there"),
                reason="inquiry_open",
                inquiry=known.id,
            )
        _check_rate(session, platform, caller.person_id)
        if attempt_id is not None:
            attempt = access.attempt_for(session, caller, attempt_id)
            if attempt.lab_id != lab.id:
                raise NotFound(Text("这次评分不属于这个实验", "that grading is not of this lab"), reason="no_attempt")
        row = Inquiry(
            id=new_id("q"),
            cohort_id=cohort.id,
            lab_id=lab.id,
            person_id=caller.person_id,
            attempt_id=attempt_id or repo.counting_attempt(session, lab.id, caller.person_id),
            state="open",
            opened_at=platform.now(),
            moved_at=platform.now(),
        )
        session.add(row)
        session.flush()
        _write(session, platform, caller, row, text, by_staff=False)
        audit.record(session, platform, caller, "inquiry.open", f"lab:{cohort_slug}/{lab_slug}", inquiry=row.id)
        _tell(session, platform, cohort, row)
    return row.id


def list_inquiries(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    *,
    state: str | None = None,
    lab_slug: str | None = None,
    before: tuple[datetime, str] | None = None,
    limit: int = 100,
) -> tuple[Cohort, list[Found]]:
    """The inquiries of a cohort that the caller may see, the one that moved last first. Raises NotFound."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab = None if lab_slug is None else access.lab_for(session, caller, cohort, lab_slug)
        mine = None if access.is_staff(session, caller, cohort.id) else caller.person_id
        found = repo.listed(
            session,
            cohort.id,
            person_id=mine,
            state=state,
            lab_id=None if lab is None else lab.id,
            before=before,
            limit=limit,
        )
        return cohort, found


def thread(platform: Platform, caller: Caller, inquiry_id: str) -> Thread:
    """An inquiry that is the caller's own or in a cohort of theirs as staff, with its messages. Raises NotFound."""
    with platform.store.reading() as session:
        row, cohort, _ = _for(session, caller, session.get(Inquiry, inquiry_id), inquiry_id)
        grade = attempt_repo.grade(session, row.lab_id, row.person_id)
        decided = [one for one in adjustments.of_person(session, row.person_id) if one.lab_id == row.lab_id]
        counted = gather([] if grade is None else [grade], decided)
        return Thread(
            found=repo.with_facts(session, [row])[0],
            cohort=cohort,
            counted=counted.get((row.person_id, row.lab_id), Counted()),
            messages=repo.messages(session, row.id),
        )


def write(platform: Platform, caller: Caller, inquiry_id: str, text: str) -> None:
    """Write one more message; a closed inquiry is open again. Raises NotFound, BadInput, Conflict, OverLimit."""
    _check(text)
    with platform.store.transaction() as session:
        row, cohort, is_staff = _for(session, caller, repo.locked(session, inquiry_id), inquiry_id)
        if not is_staff:
            access.require_active(session, caller, cohort.id)
            _check_rate(session, platform, row.person_id)
        if len(repo.messages(session, row.id)) >= MOST_MESSAGES:
            raise Conflict(
                Text("这个询问已经太长", "this inquiry has become too long"),
                Text("结束它，再开一个新的", "close it and open another one"),
                reason="too_long",
            )
        if row.state == "closed":
            other = repo.open_of(session, row.lab_id, row.person_id)
            if other is not None:
                raise Conflict(
                    Text("这个实验上已有另一个没有结束的询问", "another inquiry about this lab is open"),
                    Text("在那里继续写", "go on writing there"),
                    reason="inquiry_open",
                    inquiry=other.id,
                )
            _set(session, platform, caller, row, "open")
        row.moved_at = platform.now()
        _write(session, platform, caller, row, text, by_staff=is_staff)
        _tell(session, platform, cohort, row)


def close(platform: Platform, caller: Caller, inquiry_id: str, *, reopen: bool = False) -> None:
    """Close an inquiry, or open it again; nothing happens where it is so already. Raises NotFound, Conflict."""
    wanted = "open" if reopen else "closed"
    with platform.store.transaction() as session:
        row, cohort, _ = _for(session, caller, repo.locked(session, inquiry_id), inquiry_id)
        if row.state == wanted:
            return
        if reopen and repo.open_of(session, row.lab_id, row.person_id) is not None:
            raise Conflict(
                Text("这个实验上已有另一个没有结束的询问", "another inquiry about this lab is open"),
                reason="inquiry_open",
            )
        _set(session, platform, caller, row, wanted)
        _tell(session, platform, cohort, row)


def _set(session: Session, platform: Platform, caller: Caller, row: Inquiry, state: str) -> None:
    row.state, row.moved_at = state, platform.now()
    row.closed_at = platform.now() if state == "closed" else None
    audit.record(session, platform, caller, f"inquiry.{state}", f"inquiry:{row.id}")


def _for(session: Session, caller: Caller, row: Inquiry | None, inquiry_id: str) -> tuple[Inquiry, Cohort, bool]:
    """The inquiry, its cohort, and whether the caller answers as staff; raises NotFound."""
    cohort = None if row is None else session.get(Cohort, row.cohort_id)
    if row is not None and cohort is not None:
        # Who asked writes as who asked, whatever else they are meanwhile.
        is_own = caller.person_id is not None and row.person_id == caller.person_id
        if is_own or access.is_staff(session, caller, cohort.id):
            return row, cohort, not is_own
    raise NotFound(Text(f"没有编号为 {inquiry_id} 的询问", f"there is no inquiry {inquiry_id}"), reason="no_inquiry")


def _write(session: Session, platform: Platform, caller: Caller, row: Inquiry, text: str, *, by_staff: bool) -> None:
    if caller.person_id is None:
        raise BadInput(Text("要有人署名", "a message needs somebody who wrote it"), reason="nobody")
    session.add(
        InquiryMessage(
            inquiry_id=row.id, person_id=caller.person_id, by_staff=by_staff, at=platform.now(), text=text.strip()
        )
    )


def _tell(session: Session, platform: Platform, cohort: Cohort, row: Inquiry) -> None:
    events.emit_for_person(session, platform, row.person_id, "inquiry", inquiry=row.id)
    events.emit_for_staff(session, platform, cohort.slug, "inquiry", inquiry=row.id)


def _check(text: str) -> None:
    if not text.strip() or len(text) > LONGEST:
        raise BadInput(
            Text(f"写 1 到 {LONGEST} 个字", f"write 1 to {LONGEST} characters"),
            Text("说说哪一项不对、你认为应该怎样", "say which check is wrong and what you think it should be"),
            reason="text",
        )


def _check_rate(session: Session, platform: Platform, person_id: int) -> None:
    if repo.written_since(session, person_id, platform.now() - timedelta(days=1)) >= A_DAY:
        raise OverLimit(
            Text(f"24 小时内最多写 {A_DAY} 条", f"{A_DAY} messages in 24 hours at most"),
            Text("明天再写，或当面问教师", "write again tomorrow, or ask in person"),
            reason="messages",
        )
