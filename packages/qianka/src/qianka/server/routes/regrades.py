"""Regrades and replays; for staff. Students learn of a regrade when it is applied, never before."""

from __future__ import annotations

from fastapi import APIRouter

from qianka.schemas.regrades import Approval, NewRegrade, Regrade, RegradeShown, Replay
from qianka.server import regradeviews
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.services import regrades

router = APIRouter(tags=["regrades"])


@router.post("/cohorts/{cohort}/labs/{lab}/regrades", status_code=201)
def start_regrade(cohort: str, lab: str, body: NewRegrade, caller: CallerDep, platform: PlatformDep) -> Regrade:
    """Rehearse: grade stored hand-ins again, without anything counting. At most one is open in a lab."""
    row = regrades.start(
        platform,
        caller,
        cohort,
        lab,
        body.reason,
        version=body.version,
        counting=body.counting,
        logins=body.logins,
        submissions=body.submissions,
    )
    return regradeviews.regrade(row, cohort, lab)


@router.get("/cohorts/{cohort}/labs/{lab}/regrades")
def list_regrades(cohort: str, lab: str, caller: CallerDep, platform: PlatformDep) -> list[Regrade]:
    """The regrades of a lab, newest first."""
    return [regradeviews.regrade(row, cohort, lab) for row in regrades.list_regrades(platform, caller, cohort, lab)]


@router.get("/regrades/{regrade}")
def get_regrade(regrade: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> RegradeShown:
    """Who moves, by how much and why, over the grades as they are now; faults apart."""
    return regradeviews.shown(regrades.show(platform, caller, regrade), language)


@router.post("/regrades/{regrade}/apply")
def apply_regrade(
    regrade: str, body: Approval, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> RegradeShown:
    """Let it count, exactly as it was looked at; for teachers. Old grades are kept."""
    regrades.apply(platform, caller, regrade, body.digest)
    return regradeviews.shown(regrades.show(platform, caller, regrade), language)


@router.post("/regrades/{regrade}/drop")
def drop_regrade(regrade: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> RegradeShown:
    """Discard it: nothing has counted."""
    regrades.drop(platform, caller, regrade)
    return regradeviews.shown(regrades.show(platform, caller, regrade), language)


@router.post("/attempts/{attempt}/replay", status_code=201)
def replay_attempt(attempt: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Replay:
    """Do one grading again with what it was done with; it never counts."""
    made = regrades.replay(platform, caller, attempt)
    return regradeviews.replay(regrades.replayed(platform, caller, made.id), language)


@router.get("/replays/{attempt}")
def get_replay(attempt: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Replay:
    """How a replay came out: the same or not, and what differed. `attempt`: the replay's own id."""
    return regradeviews.replay(regrades.replayed(platform, caller, attempt), language)
