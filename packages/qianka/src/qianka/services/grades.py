"""Grades: one's own, a cohort's, and the file for the registry."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any

from qianka.domain.spreadsheet import cell
from qianka.services import access, audit
from qianka.services.platform import Caller, Platform
from qianka.store.repos import attempts as repo
from qianka.store.repos import dates as date_repo
from qianka.store.repos import labs as lab_repo
from qianka.store.repos import people
from qianka.store.tables import Grade, GradeChange, Person


@dataclass(frozen=True, kw_only=True)
class MyGrade:
    """What counts for the caller in one lab; `points` None: nothing graded yet."""

    cohort: str
    lab: str
    title: str
    title_en: str
    verdict: str | None
    points: float | None
    max_points: float | None
    raw_points: float | None
    penalty: float
    days_late: int
    late_days: int
    attempt: str | None


@dataclass(frozen=True, kw_only=True)
class GradeLine:
    """One student of a cohort with the grades by lab."""

    login: str
    student_number: str | None
    name: str
    section: str
    active: bool
    grades: dict[str, Grade] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """The sum of all points."""
        return round(sum(grade.points for grade in self.grades.values()), 2)


def mine(platform: Platform, caller: Caller) -> list[MyGrade]:
    """The caller's grades in all cohorts, labs without one included."""
    found = []
    with platform.store.reading() as session:
        if caller.person_id is None:
            return []
        have = {grade.lab_id: grade for grade, _ in repo.grades_of_person(session, caller.person_id)}
        for cohort, _ in people.cohorts_of(session, caller.person_id):
            for lab in lab_repo.of_cohort(session, cohort.id):
                grade = have.get(lab.id)
                is_open = lab.opens_at is None or lab.opens_at <= platform.now()
                if grade is None and not is_open:
                    continue
                found.append(
                    MyGrade(
                        cohort=cohort.slug,
                        lab=lab.slug,
                        title=lab.title,
                        title_en=lab.title_en,
                        verdict=None if grade is None else grade.verdict,
                        points=None if grade is None else grade.points,
                        max_points=None if grade is None else grade.max_points,
                        raw_points=None if grade is None else raw_points(grade),
                        penalty=0.0 if grade is None else grade.penalty,
                        days_late=0 if grade is None else grade.days_late,
                        late_days=0 if grade is None else grade.late_days,
                        attempt=None if grade is None else grade.attempt_id,
                    )
                )
    return found


def history(
    platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, login: str | None = None
) -> list[tuple[GradeChange, Person | None]]:
    """How the caller's grade in a lab (or that of `login`, for staff) came to be: oldest first, with who did it.

    Raises NotFound, Forbidden.
    """
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab = access.lab_for(session, caller, cohort, lab_slug)
        person_id = caller.person_id
        if login is not None and login.strip().lower() != caller.login:
            access.require_staff(session, caller, cohort.id)
            person_id = access.person_for(session, caller, login).id
        return [] if person_id is None else date_repo.changes(session, lab.id, person_id)


def raw_points(grade: Grade) -> float:
    """The points of a grade before any penalty."""
    return grade.points + grade.penalty if grade.raw_points is None else grade.raw_points


def of_cohort(platform: Platform, caller: Caller, cohort_slug: str) -> list[GradeLine]:
    """Every student of a cohort with their grades; for staff. Raises NotFound, Forbidden."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        slugs = {lab.id: lab.slug for lab in lab_repo.of_cohort(session, cohort.id)}
        by_person: dict[int, dict[str, Grade]] = {}
        for grade in repo.grades_of_cohort(session, cohort.id):
            by_person.setdefault(grade.person_id, {})[slugs[grade.lab_id]] = grade
        return [
            GradeLine(
                login=person.login,
                student_number=person.student_number,
                name=person.name,
                section=enrolled.section,
                active=enrolled.state == "active",
                grades=by_person.get(person.id, {}),
            )
            for person, enrolled in repo.students(session, cohort.id)
        ]


def export_csv(platform: Platform, caller: Caller, cohort_slug: str) -> bytes:
    """The grades of a cohort as CSV for a spreadsheet: UTF-8 with BOM, numbers of students kept as text.

    No cell can become a formula. Raises NotFound, Forbidden.
    """
    lines = of_cohort(platform, caller, cohort_slug)
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        slugs = [lab.slug for lab in lab_repo.of_cohort(session, cohort.id)]
        audit.record(session, platform, caller, "grades.export", f"cohort:{cohort_slug}", rows=len(lines))
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(["学号", "姓名", "班级", "账号", "在册", *slugs, "合计"])
    for line in lines:
        points: list[Any] = [_points(line.grades.get(slug)) for slug in slugs]
        person = [_as_text(line.student_number or ""), *map(cell, (line.name, line.section, line.login))]
        writer.writerow([*person, "是" if line.active else "否", *points, f"{line.total:g}"])
    return b"\xef\xbb\xbf" + text.getvalue().encode("utf-8", "replace")


def _points(grade: Grade | None) -> str:
    return "" if grade is None else f"{grade.points:g}"


def _as_text(number: str) -> str:
    """A student number that a spreadsheet leaves alone: a tab before digits keeps zeros and long numbers.

    Whoever reads the file strips white space, as the roster import does.
    """
    return "\t" + number if number.isdigit() else cell(number)
