"""Grades, decisions about them and inquiries as bodies of the API."""

from __future__ import annotations

from typing import Any

from qianka.errors import Language
from qianka.schemas.adjustments import Adjustment
from qianka.schemas.boards import Grade, GradeCell, GradeLine
from qianka.schemas.inquiries import Inquiry, InquiryMessage, InquiryThread
from qianka.server.graded import verdict_text
from qianka.services import grades, inquiries
from qianka.services.platform import Caller
from qianka.store.repos.inquiries import Found
from qianka.store.tables import Cohort

FIRST_WORDS = 200


def mine(found: grades.MyGrade, language: Language) -> Grade:
    """One of the caller's own grades."""
    facts = _facts(found.counted)
    return Grade(
        cohort=found.cohort,
        lab=found.lab,
        title=_title(found.title, found.title_en, language),
        verdict_text=verdict_text(facts["verdict"], language),
        inquiry=found.inquiry,
        points=found.points,
        **facts,
    )


def line(found: grades.GradeLine) -> GradeLine:
    """One line of the grade book."""
    cells = {lab: GradeCell(points=one.points, **_facts(one)) for lab, one in found.grades.items()}
    return GradeLine(**{**vars(found), "grades": cells}, total=found.total)


def adjustment(found: grades.Decision) -> Adjustment:
    """One decision."""
    row = found.row
    return Adjustment(
        id=row.id,
        kind=row.kind,
        points=row.points,
        text=row.text,
        by=None if found.by is None else found.by.login,
        at=row.at,
        revoked_at=row.revoked_at,
    )


def inquiry(found: Found, cohort: Cohort, language: Language) -> Inquiry:
    """One inquiry of a list."""
    row = found.inquiry
    return Inquiry(
        id=row.id,
        cohort=cohort.slug,
        lab=found.lab.slug,
        title=_title(found.lab.title, found.lab.title_en, language),
        login=found.person.login,
        name=found.person.name,
        attempt=row.attempt_id,
        state=row.state,
        opened_at=row.opened_at,
        moved_at=row.moved_at,
        closed_at=row.closed_at,
        messages=found.messages,
        waiting_for_staff=row.state == "open" and not found.by_staff,
        first=found.first[:FIRST_WORDS],
    )


def thread(found: inquiries.Thread, caller: Caller, language: Language) -> InquiryThread:
    """An inquiry with its messages."""
    return InquiryThread(
        inquiry=inquiry(found.found, found.cohort, language),
        points=found.counted.points,
        max_points=None if found.counted.grade is None else found.counted.grade.max_points,
        messages=[
            InquiryMessage(
                id=row.id,
                name=person.name,
                by_staff=row.by_staff,
                mine=row.person_id == caller.person_id,
                at=row.at,
                text=row.text,
            )
            for row, person in found.messages
        ],
    )


def _facts(one: grades.Counted) -> dict[str, Any]:
    grade, override, bonus = one.grade, one.override, one.bonus
    return {
        "verdict": None if grade is None else grade.verdict,
        "max_points": None if grade is None else grade.max_points,
        "raw_points": one.raw_points,
        "penalty": 0.0 if grade is None else grade.penalty,
        "days_late": 0 if grade is None else grade.days_late,
        "late_days": 0 if grade is None else grade.late_days,
        "attempt": None if grade is None else grade.attempt_id,
        "graded_points": None if grade is None else grade.points,
        "override": None if override is None else override.points,
        "override_reason": None if override is None else override.text,
        "bonus": None if bonus is None else bonus.points,
        "bonus_reason": None if bonus is None else bonus.text,
        "comment": None if one.comment is None else one.comment.text,
    }


def _title(title: str, title_en: str, language: Language) -> str:
    return title_en or title if language == "en" else title
