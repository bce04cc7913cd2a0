"""Labs as bodies of the API."""

from __future__ import annotations

import dataclasses

from qianka.errors import Language, PlatformFault
from qianka.grading.model import Check
from qianka.grading.reader import Problem
from qianka.schemas.labs import Lab, LabCheck, LabProblem, LabReport, Tries
from qianka.server import dateviews
from qianka.services import access, cohorts, dates, labs, submissions
from qianka.services.labs import Report
from qianka.services.platform import Caller, Platform
from qianka.store import tables


def lab(platform: Platform, cohort: tables.Cohort, row: tables.Lab) -> Lab:
    """A lab with what its lab.toml asks for."""
    shown = Lab(
        id=row.id,
        cohort=cohort.slug,
        slug=row.slug,
        title=row.title,
        title_en=row.title_en,
        version=row.version,
        opens_at=row.opens_at,
        due_at=row.due_at,
        locks_at=row.locks_at,
        zone=cohort.zone,
        published_at=row.published_at,
    )
    try:
        rules = labs.loaded(labs.version_folder(platform, cohort.slug, row.slug, row.version))
    except PlatformFault:
        return shown  # a damaged folder must not hide the other labs
    shown.required = list(rules.handin.required)
    shown.upload_limit = submissions.upload_limit(platform, rules.handin)
    shown.attempts_a_day = rules.handin.attempts_a_day
    shown.group_size = rules.handin.group
    shown.late = rules.handin.late
    shown.checks = [_check(check) for check in rules.checks]
    return shown


def tries(platform: Platform, caller: Caller, cohort: str, slug: str, language: Language) -> Tries:
    """What the caller has left today."""
    found = submissions.tries(platform, caller, cohort, slug)
    return Tries(
        limit=found.limit,
        used=found.used,
        left=found.left,
        resets_at=found.resets_at,
        sentence=found.sentence.say(language),
    )


def listed(platform: Platform, caller: Caller, slug: str, language: Language) -> list[Lab]:
    """The labs of a cohort that the caller may see, with the caller's own dates."""
    cohort = cohorts.get(platform, caller, slug)
    own = dates.mine_in_all(platform, caller, slug)
    found = []
    for row in labs.list_labs(platform, caller, slug):
        shown = lab(platform, cohort, row)
        shown.mine = dateviews.mine(own[row.id], language) if row.id in own else None
        found.append(shown)
    return found


def warnings(report: Report, language: Language) -> list[LabProblem]:
    """What is odd about a lab folder, without stopping it."""
    return [_problem(one, language) for one in report.warnings]


def report(found: Report, language: Language) -> LabReport:
    """All that was found in a lab folder."""
    rules = found.lab
    return LabReport(
        ok=found.ok,
        title=None if rules is None else rules.title.zh,
        title_en=None if rules is None else rules.title.en,
        checks=[] if rules is None else [_check(check) for check in rules.checks],
        errors=[_problem(one, language) for one in found.errors],
        warnings=[_problem(one, language) for one in found.warnings],
    )


def _problem(one: Problem, language: Language) -> LabProblem:
    return LabProblem(file=one.file, line=one.line, key=one.key, message=one.text.say(language))


def _check(check: Check) -> LabCheck:
    facts = {key: value for key, value in dataclasses.asdict(check).items() if key not in ("kind", "weight")}
    return LabCheck(kind=check.kind, weight=check.weight, facts=facts)


def is_staff(platform: Platform, caller: Caller, cohort_id: int) -> bool:
    """Whether the caller may see what only staff sees."""
    with platform.store.reading() as session:
        return access.is_staff(session, caller, cohort_id)
