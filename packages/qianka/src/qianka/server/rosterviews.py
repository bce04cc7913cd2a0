"""Rosters and people as bodies of the API."""

from __future__ import annotations

from qianka.errors import Language
from qianka.roster import Change, Diff
from qianka.schemas.people import ActivationCode, Person, RosterApplied, RosterChange, RosterPreview, RosterProblem
from qianka.services.people import Applied, Preview
from qianka.store import tables


def person(row: tables.Person, enrollment: tables.Enrollment) -> Person:
    """Somebody in a cohort, as its staff sees them."""
    return Person(
        login=row.login,
        name=row.name,
        student_number=row.student_number,
        alias=row.alias,
        email=row.email,
        role=enrollment.role,
        section=enrollment.section,
        state=enrollment.state,
        activated=row.password_hash is not None,
    )


def preview(found: Preview, language: Language) -> RosterPreview:
    """How a file was read and what it would change."""
    read, diff = found.roster, found.diff
    return RosterPreview(
        encoding=read.encoding,
        delimiter=read.delimiter,
        columns=list(read.columns),
        sample_names=list(read.sample_names),
        rows=len(read.rows),
        summary=diff.summary.say(language),
        unchanged=diff.unchanged,
        kept=len(diff.kept),
        changes=_changes(diff),
        problems=[
            RosterProblem(
                line=problem.line,
                column=problem.column,
                code=problem.code,
                message=problem.text.say(language),
                student_number=problem.student_number,
            )
            for problem in found.problems
        ],
        notes=[note.say(language) for note in read.notes],
        mode=found.mode,
        needs_mode=None if found.needs_mode is None else found.needs_mode.say(language),
        digest=found.digest,
    )


def applied(done: Applied, language: Language) -> RosterApplied:
    """What was written."""
    diff = done.diff
    return RosterApplied(
        summary=diff.summary.say(language),
        added=len(diff.added),
        dropped=len(diff.dropped),
        returned=len(diff.returned),
        changed=len(diff.changed),
        codes=[ActivationCode(**new._asdict()) for new in done.codes],
    )


def _changes(diff: Diff) -> list[RosterChange]:
    shown = [
        RosterChange(
            what="added", login=r.wanted_login, name=r.name, student_number=r.student_number, section=r.section
        )
        for r in diff.added
    ]
    shown += [
        RosterChange(what="dropped", login=k.login, name=k.name, student_number=k.student_number, section=k.section)
        for k in diff.dropped
    ]
    return shown + _known("returned", diff.returned) + _known("changed", diff.changed)


def _known(what: str, changes: tuple[Change, ...]) -> list[RosterChange]:
    return [
        RosterChange(
            what=what,
            login=change.known.login,
            name=change.row.name,
            student_number=change.row.student_number,
            section=change.row.section,
            fields=change.fields,
        )
        for change in changes
    ]
