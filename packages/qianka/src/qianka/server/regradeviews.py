"""Regrades and replays as bodies of the API."""

from __future__ import annotations

from qianka.errors import Language
from qianka.schemas.regrades import CheckChange, Regrade, RegradeFault, RegradeLine, RegradeShown, Replay
from qianka.server import graded
from qianka.services.regrades import Change, Difference, Replayed
from qianka.store import tables


def regrade(row: tables.Regrade, cohort: str, lab: str) -> Regrade:
    """A regrade without what it found."""
    return Regrade(
        id=row.id,
        cohort=cohort,
        lab=lab,
        version=row.version,
        state=row.state,
        reason=row.reason,
        started_at=row.started_at,
        ended_at=row.ended_at,
        moved=None if row.outcome is None else row.outcome["moved"],
    )


def shown(found: Difference, language: Language) -> RegradeShown:
    """What a regrade has found."""
    return RegradeShown(
        regrade=regrade(found.regrade, found.cohort.slug, found.lab.slug),
        waiting=found.waiting,
        graded=found.graded,
        lines=[
            RegradeLine(
                login=line.login,
                name=line.name,
                lab=line.lab,
                before=None if line.before is None else line.before["points"],
                after=line.after["points"],
                moved=line.moved,
                changes=[_change(change, language) for change in line.changes],
                attempt=line.after["attempt"],
                override=line.override,
            )
            for line in found.lines
        ],
        faults=[RegradeFault(**vars(fault)) for fault in found.faults],
        digest=found.digest,
    )


def replay(found: Replayed, language: Language) -> Replay:
    """A grading and its replay."""
    return Replay(
        original=graded.attempt(found.original, language),
        replay=graded.attempt(found.replay, language),
        same=found.same,
        changes=[_change(change, language) for change in found.changes],
        environment=[text.say(language) for text in found.environment],
    )


def _change(change: Change, language: Language) -> CheckChange:
    return CheckChange(
        kind=change.kind,
        title=change.title.say(language),
        before=change.before,
        after=change.after,
        was=None if change.was is None else change.was.say(language),
        now=None if change.now is None else change.now.say(language),
    )
