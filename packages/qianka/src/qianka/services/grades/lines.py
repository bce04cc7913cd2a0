"""One's own grades, and the grade book of a cohort."""

from __future__ import annotations

from dataclasses import dataclass, field

from qianka.services import access
from qianka.services.grades.counted import Counted, gather
from qianka.services.platform import Caller, Platform
from qianka.store.repos import adjustments, inquiries, people
from qianka.store.repos import attempts as repo
from qianka.store.repos import dates as date_repo
from qianka.store.repos import labs as lab_repo
from qianka.store.tables import GradeChange, Person


@dataclass(frozen=True, kw_only=True)
class MyGrade:
    """What counts for the caller in one lab; `counted.points` None: nothing yet."""

    cohort: str
    lab: str
    title: str
    title_en: str
    counted: Counted
    inquiry: str | None = None

    @property
    def points(self) -> float | None:
        """What counts in the end."""
        return self.counted.points


@dataclass(frozen=True, kw_only=True)
class GradeLine:
    """One student of a cohort with what counts by lab."""

    login: str
    student_number: str | None
    name: str
    section: str
    active: bool
    grades: dict[str, Counted] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """The sum of all points."""
        return round(sum(one.points or 0.0 for one in self.grades.values()), 2)


def mine(platform: Platform, caller: Caller) -> list[MyGrade]:
    """The caller's grades in all cohorts, labs without one included."""
    found = []
    person_id = caller.person_id
    if person_id is None:
        return []
    with platform.store.reading() as session:
        rows = [grade for grade, _ in repo.grades_of_person(session, person_id)]
        have = gather(rows, adjustments.of_person(session, person_id))
        asked = inquiries.newest_of_person(session, person_id)
        for cohort, _ in people.cohorts_of(session, person_id):
            for lab in lab_repo.of_cohort(session, cohort.id):
                counted = have.get((person_id, lab.id))
                is_open = lab.opens_at is None or lab.opens_at <= platform.now()
                if counted is None and not is_open:
                    continue
                found.append(
                    MyGrade(
                        cohort=cohort.slug,
                        lab=lab.slug,
                        title=lab.title,
                        title_en=lab.title_en,
                        counted=counted or Counted(),
                        inquiry=asked.get(lab.id),
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


def of_cohort(platform: Platform, caller: Caller, cohort_slug: str) -> list[GradeLine]:
    """Every student of a cohort with their grades; for staff. Raises NotFound, Forbidden."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        slugs = {lab.id: lab.slug for lab in lab_repo.of_cohort(session, cohort.id)}
        counted = gather(repo.grades_of_cohort(session, cohort.id), adjustments.of_cohort(session, cohort.id))
        by_person: dict[int, dict[str, Counted]] = {}
        for (person_id, lab_id), one in counted.items():
            by_person.setdefault(person_id, {})[slugs[lab_id]] = one
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
