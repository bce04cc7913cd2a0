"""Inquiries about grades."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from qianka.errors import BadInput, Text
from qianka.schemas.base import Page
from qianka.schemas.inquiries import Inquiry, InquiryThread, NewInquiry, NewMessage
from qianka.server import gradeviews
from qianka.server.deps import CallerDep, LanguageDep, Limit, PlatformDep
from qianka.services import inquiries

router = APIRouter(tags=["boards"])


@router.post("/cohorts/{cohort}/labs/{lab}/inquiries", status_code=201)
def open_inquiry(
    cohort: str, lab: str, body: NewInquiry, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> InquiryThread:
    """Ask about one's own grade in a lab; one inquiry is open at a time in a lab."""
    made = inquiries.ask(platform, caller, cohort, lab, body.text, body.attempt)
    return gradeviews.thread(inquiries.thread(platform, caller, made), caller, language)


@router.get("/cohorts/{cohort}/inquiries")
def list_inquiries(
    cohort: str,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    state: Annotated[str | None, Query(pattern="^(open|closed)$")] = None,
    lab: Annotated[str | None, Query(max_length=100)] = None,
    after: Annotated[str | None, Query(max_length=80, description="`next` of the page before")] = None,
    limit: Limit = 100,
) -> Page[Inquiry]:
    """The inquiries of a cohort for staff, of oneself for a student; the one that moved last first."""
    row, found = inquiries.list_inquiries(
        platform, caller, cohort, state=state, lab_slug=lab, before=_cursor(after), limit=limit + 1
    )
    last = found[limit - 1].inquiry if len(found) > limit else None
    return Page[Inquiry](
        items=[gradeviews.inquiry(one, row, language) for one in found[:limit]],
        next=None if last is None else f"{last.moved_at.isoformat()}~{last.id}",
    )


@router.get("/inquiries/{inquiry}")
def get_inquiry(inquiry: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> InquiryThread:
    """An inquiry with its messages, for who asked and for staff."""
    return gradeviews.thread(inquiries.thread(platform, caller, inquiry), caller, language)


@router.post("/inquiries/{inquiry}/messages", status_code=201)
def write_message(
    inquiry: str, body: NewMessage, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> InquiryThread:
    """Write one more message; a closed inquiry is open again."""
    inquiries.write(platform, caller, inquiry, body.text)
    return gradeviews.thread(inquiries.thread(platform, caller, inquiry), caller, language)


@router.post("/inquiries/{inquiry}/close")
def close_inquiry(inquiry: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> InquiryThread:
    """Close an inquiry; both sides may."""
    inquiries.close(platform, caller, inquiry)
    return gradeviews.thread(inquiries.thread(platform, caller, inquiry), caller, language)


@router.post("/inquiries/{inquiry}/reopen")
def reopen_inquiry(inquiry: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> InquiryThread:
    """Open a closed inquiry again."""
    inquiries.close(platform, caller, inquiry, reopen=True)
    return gradeviews.thread(inquiries.thread(platform, caller, inquiry), caller, language)


def _cursor(after: str | None) -> tuple[datetime, str] | None:
    """Raises BadInput for what is no `next` of a page."""
    if after is None:
        return None
    moved, _, name = after.partition("~")
    try:
        at = datetime.fromisoformat(moved)
    except ValueError as error:
        raise _no_cursor() from error
    if at.tzinfo is None:
        raise _no_cursor()
    return at, name


def _no_cursor() -> BadInput:
    return BadInput(Text("after 不是上一页给的值", "after is not what the page before gave"), reason="after")
