"""Dates, extensions and moved grades as bodies of the API."""

from __future__ import annotations

from typing import Any

from qianka.errors import Language
from qianka.schemas.dates import DatesChanged, Extension, ExtensionChanged, GradeChange, LateDaysChanged, Move, MyDates
from qianka.services import dates, grades
from qianka.services.dates import Changed, Listed, words
from qianka.services.platform import Caller, Platform
from qianka.store import tables
from qianka.store.repos import dates as repo


def mine(found: dates.Mine, language: Language) -> MyDates:
    """What a person sees of a lab's dates."""
    one = found.extension
    return MyDates(
        cohort=found.cohort.slug,
        lab=found.lab.slug,
        zone=found.cohort.zone,
        now=found.now,
        class_due_at=found.lab.due_at,
        opens_at=found.personal.opens,
        due_at=found.personal.due,
        locks_at=found.personal.locks,
        sentence=found.sentence.say(language),
        extension=None if one is None else one.id,
        reason=None if one is None else one.reason,
        late=found.policy.mode,
        late_rule=found.rule.say(language),
        grace_seconds=found.policy.grace_seconds,
        late_days=found.cohort.late_days,
        late_days_used=found.late_days_used,
    )


def dates_changed(platform: Platform, cohort: tables.Cohort, found: Changed[tables.Lab], preview: bool) -> DatesChanged:
    """A lab's dates with whom their change moves."""
    lab = found.row
    return DatesChanged(
        cohort=cohort.slug,
        lab=lab.slug,
        zone=cohort.zone,
        opens_at=lab.opens_at,
        due_at=lab.due_at,
        locks_at=lab.locks_at,
        preview=preview,
        moves=_moves(platform, cohort, found),
    )


def late_days_changed(platform: Platform, found: Changed[tables.Cohort], preview: bool) -> LateDaysChanged:
    """A cohort's late days with whom their change moves."""
    cohort = found.row
    moved = _moves(platform, cohort, found)
    return LateDaysChanged(cohort=cohort.slug, days=cohort.late_days, preview=preview, moves=moved)


def extension_changed(
    platform: Platform, cohort: tables.Cohort, found: Changed[tables.Extension], language: Language, preview: bool
) -> ExtensionChanged:
    """An extension with whom it moves."""
    row = found.row
    with platform.store.reading() as session:
        person = None if row.person_id is None else session.get(tables.Person, row.person_id)
        lab = None if row.lab_id is None else session.get(tables.Lab, row.lab_id)
        by = None if row.by_id is None else session.get(tables.Person, row.by_id)
    listed = Listed(row, person, lab, None if by is None else by.login)
    return ExtensionChanged(
        extension=extension(listed, cohort.zone, language), preview=preview, moves=_moves(platform, cohort, found)
    )


def extension(listed: Listed, zone: str, language: Language) -> Extension:
    """One extension."""
    row, person = listed.extension, listed.person
    return Extension(
        id=row.id,
        lab=None if listed.lab is None else listed.lab.slug,
        login=None if person is None else person.login,
        name=None if person is None else person.name,
        section=row.section,
        days=row.days,
        hours=row.hours,
        until=row.until,
        more=words.more(row.days, row.hours, row.until, zone).say(language),
        reason=row.reason,
        by=listed.by,
        created_at=row.created_at,
        revoked_at=row.revoked_at,
        revoke_reason=row.revoke_reason,
    )


def history(platform: Platform, caller: Caller, cohort: str, lab: str, login: str | None) -> list[GradeChange]:
    """Every change of a grade, oldest first."""
    return [
        GradeChange(
            at=row.at,
            why=row.why,
            reason=row.reason,
            by=None if by is None else by.login,
            regrade=row.regrade_id,
            before=_points(row.before),
            after=_points(row.after),
            penalty=float((row.after or {}).get("penalty", 0.0)),
            verdict=(row.after or {}).get("verdict"),
            attempt=(row.after or {}).get("attempt"),
        )
        for row, by in grades.history(platform, caller, cohort, lab, login)
    ]


def _points(facts: dict[str, Any] | None) -> float | None:
    return None if facts is None else float(facts["points"])


def _moves(platform: Platform, cohort: tables.Cohort, found: Changed[Any]) -> list[Move]:
    with platform.store.reading() as session:
        slugs = {lab_id: lab.slug for lab_id, lab in repo.labs(session, cohort.id).items()}
    shown = [
        Move(
            login=found.names[move.person_id][0],
            name=found.names[move.person_id][1],
            lab=slugs[move.lab_id],
            before=_points(move.before),
            after=move.after["points"],
            moved=move.points,
            penalty=move.after["penalty"],
            days_late=move.after["days_late"],
            late_days=move.after["late_days"],
        )
        for move in found.moves
    ]
    return sorted(shown, key=lambda move: (move.moved, move.login))
