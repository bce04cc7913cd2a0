"""The end of a regrade: applied as it was shown, in one transaction, or dropped as if it had never been."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.errors import Conflict, Text
from qianka.services import access, audit, dates, events
from qianka.services.dates import Move
from qianka.services.platform import Caller, Platform
from qianka.services.regrades.compare import book_of, digest_of, is_graded
from qianka.services.regrades.start import for_staff
from qianka.store.repos import attempts as attempt_repo
from qianka.store.repos import regrades as repo
from qianka.store.tables import Attempt, Lab, Regrade


def apply(platform: Platform, caller: Caller, regrade_id: str, digest: str) -> Regrade:
    """Let a regrade count, exactly as `show` told it (`digest`); for the cohort's teachers.

    Grades and boards move and students are told, all in one transaction; what the grades were is kept.
    Hand-ins that the platform could not grade keep their grade. Raises NotFound, Forbidden, Conflict (still
    being graded, ended already, or the grades are no longer as they were shown).
    """
    with platform.store.transaction() as session:
        regrade, lab, cohort = for_staff(session, caller, regrade_id)
        access.require_teacher(session, caller, cohort.id)
        _require_open(regrade)
        found = repo.attempts_of(session, regrade.id)
        waiting = sum(attempt.state in attempt_repo.LIVE for attempt in found)
        if waiting:
            raise Conflict(
                Text(f"还有 {waiting} 份提交在评", f"{waiting} hand-ins are still being graded"),
                Text("等它们结束，或放弃这次重评", "wait until they have ended, or drop the regrade"),
                reason="under_way",
                waiting=waiting,
            )
        book = book_of(session, platform, cohort, lab, regrade, found)
        moved = dates.moves(book)
        if digest_of(moved) != digest:
            raise Conflict(
                Text("看过之后成绩又有变化", "grades have changed since you looked"),
                Text("再看一遍，再应用", "look again, then apply"),
                reason="changed",
            )
        graded = [attempt for attempt in found if is_graded(attempt)]
        _count(session, platform, lab, graded)
        cause = dates.Cause(why="regrade", caller=caller, reason=regrade.reason, regrade_id=regrade.id)
        dates.write(session, platform, book, moved, cause)
        regrade.outcome = _outcome(moved, len(found), len(graded))
        _end(session, platform, caller, regrade, "applied")
        events.emit(session, platform, f"board:{lab.id}", "changed")
    return regrade


def drop(platform: Platform, caller: Caller, regrade_id: str) -> Regrade:
    """Discard a regrade: nothing has counted, nothing will; for staff. Raises NotFound, Conflict."""
    with platform.store.transaction() as session:
        regrade, _, _ = for_staff(session, caller, regrade_id)
        _require_open(regrade)
        for attempt in repo.attempts_of(session, regrade.id):
            if attempt.state in attempt_repo.LIVE:  # the grader ends the jobs of what is cancelled
                attempt.state, attempt.verdict = "cancelled", Verdict.CANCELLED.value
                attempt.ended_at, attempt.next_try_at, attempt.stage = platform.now(), None, ""
        _end(session, platform, caller, regrade, "dropped")
    platform.wake_worker()
    return regrade


def _count(session: Session, platform: Platform, lab: Lab, graded: list[Attempt]) -> None:
    """Let attempts count from now on, as the newest of their hand-ins, and tell whose they are."""
    numbers = repo.numbers(session, lab.id)
    for attempt in graded:
        attempt.counts = True
        attempt.number = max(0, numbers[attempt.submission_id][1]) + 1
        words = VERDICTS[Verdict(str(attempt.verdict))]
        told = {"verdict": attempt.verdict, "zh": words.zh, "en": words.en, "points": attempt.points}
        told |= {"max_points": attempt.max_points, "why": "regrade"}
        events.emit_of_attempt(session, platform, attempt, "verdict", **told)
    session.flush()


def _outcome(moved: list[Move], chosen: int, graded: int) -> dict[str, Any]:
    return {
        "submissions": chosen,
        "graded": graded,
        "faults": chosen - graded,
        "moved": sum(move.points != 0 for move in moved),
        "up": sum(move.points > 0 for move in moved),
        "down": sum(move.points < 0 for move in moved),
    }


def _end(session: Session, platform: Platform, caller: Caller, regrade: Regrade, state: str) -> None:
    regrade.state, regrade.open_lab_id = state, None
    regrade.ended_by, regrade.ended_at = caller.person_id, platform.now()
    facts = {"reason": regrade.reason, "version": regrade.version, **(regrade.outcome or {})}
    action = "regrade.apply" if state == "applied" else "regrade.drop"
    audit.record(session, platform, caller, action, f"regrade:{regrade.id}", **facts)


def _require_open(regrade: Regrade) -> None:
    if regrade.state == "open":
        return
    done = Text("应用", "applied") if regrade.state == "applied" else Text("放弃", "dropped")
    raise Conflict(
        Text(f"这次重评已经{done.zh}", f"this regrade was {done.en} already"),
        Text("要再评一次就新开一次重评", "to grade again, start a new one"),
        reason="ended",
    )
