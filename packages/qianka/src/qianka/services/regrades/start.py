"""Beginning a regrade: attempts that do not count, beside those that do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from qianka.errors import BadInput, Conflict, NotFound, Text
from qianka.ids import new_id
from qianka.services import access, audit
from qianka.services.platform import Caller, Platform
from qianka.services.versions import loaded, version_folder
from qianka.store.repos import regrades as repo
from qianka.store.tables import Attempt, Cohort, Lab, Regrade

_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
LONGEST = 500


def start(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    lab_slug: str,
    reason: str,
    *,
    version: str | None = None,
    counting: bool = False,
    logins: Sequence[str] = (),
    submissions: Sequence[str] = (),
) -> Regrade:
    """Grade stored hand-ins of a lab again without anything counting yet; for staff.

    By `version` (None: the lab's present one). Hand-ins: all, or those that count now (`counting`), of
    some people, or named ones. Tries and times of handing in stay as they are. Hand-ins made later are
    not part of it: they are graded as always. Raises NotFound, Forbidden, BadInput, Conflict (one is open
    already, nothing to grade).
    """
    if not reason.strip() or len(reason) > LONGEST:
        raise BadInput(
            Text("要写理由（至多 500 字）", "a reason is needed (500 characters at most)"),
            Text("如 --reason '测试数据有误'", "such as --reason 'an answer was wrong'"),
            reason="reason",
        )
    try:
        with platform.store.transaction() as session:
            cohort = access.cohort_for(session, caller, cohort_slug)
            access.require_staff(session, caller, cohort.id)
            lab = access.lab_for(session, caller, cohort, lab_slug)
            open_one = repo.open_in(session, lab.id)
            if open_one is not None:
                raise _is_open(lab, open_one.id)
            regrade = Regrade(
                id=new_id("g"),
                lab_id=lab.id,
                open_lab_id=lab.id,
                version=_version(platform, cohort, lab, version),
                state="open",
                reason=reason.strip(),
                chosen={"counting": counting, "logins": list(logins), "submissions": list(submissions)},
                started_by=caller.person_id,
                started_at=platform.now(),
            )
            count = _queue(session, platform, caller, cohort, lab, regrade)
            target = f"lab:{cohort_slug}/{lab_slug}"
            facts: dict[str, Any] = {"regrade": regrade.id, "version": regrade.version, "reason": regrade.reason}
            audit.record(session, platform, caller, "regrade.start", target, **facts, submissions=count)
    except IntegrityError as error:  # somebody else was quicker: the lab of an open regrade is unique
        raise _is_open(lab, "") from error
    platform.wake_worker()
    return regrade


def list_regrades(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> list[Regrade]:
    """The regrades of a lab, newest first; for staff."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        return repo.of_lab(session, access.lab_for(session, caller, cohort, lab_slug).id)


def outdated(platform: Platform, lab: Lab) -> int:
    """How many grades of a lab come from an earlier version: publishing leaves them as they are."""
    with platform.store.reading() as session:
        return repo.graded_by_other_versions(session, lab)


def for_staff(session: Session, caller: Caller, regrade_id: str) -> tuple[Regrade, Lab, Cohort]:
    """A regrade in a cohort of the caller's as staff; raises NotFound: students may not know of it."""
    regrade = session.get(Regrade, regrade_id)
    lab = None if regrade is None else session.get(Lab, regrade.lab_id)
    cohort = None if lab is None else session.get(Cohort, lab.cohort_id)
    if regrade is None or lab is None or cohort is None or not access.is_staff(session, caller, cohort.id):
        raise NotFound(
            Text(f"没有编号为 {regrade_id} 的重评", f"there is no regrade {regrade_id}"), reason="no_regrade"
        )
    return regrade, lab, cohort


def _queue(session: Session, platform: Platform, caller: Caller, cohort: Cohort, lab: Lab, regrade: Regrade) -> int:
    logins, named = regrade.chosen["logins"], regrade.chosen["submissions"]
    chosen = repo.candidates(
        session,
        lab,
        people=[access.person_for(session, caller, login).id for login in logins] or None,
        submissions=named or None,
        counting=bool(regrade.chosen["counting"]),
    )
    missing = sorted(set(named) - {row.id for row in chosen})
    if missing or not chosen:
        listed = "、".join(missing)
        raise Conflict(
            Text(f"没有可重评的提交{listed}", f"there is no hand-in to grade again{': ' if missing else ''}{listed}"),
            Text("无效、取消和教师自己的提交不重评", "invalid and cancelled ones, and those of staff, are left out"),
            reason="nothing_to_regrade",
        )
    session.add(regrade)
    session.flush()
    numbers = repo.numbers(session, lab.id)
    for submission in chosen:
        session.add(
            Attempt(
                id=new_id("a"),
                submission_id=submission.id,
                lab_id=lab.id,
                person_id=submission.person_id,
                # Below zero, so that the numbers a student sees have no gap; a true one comes when it counts.
                number=min(0, numbers[submission.id][0]) - 1,
                why="regrade",
                counts=False,
                regrade_id=regrade.id,
                state="queued",
                lab_version=regrade.version,
                queued_at=platform.now(),
            )
        )
    session.flush()
    return len(chosen)


def _version(platform: Platform, cohort: Cohort, lab: Lab, version: str | None) -> str:
    """The version to grade by; raises NotFound for one that was never published here."""
    wanted = version or lab.version
    folder = version_folder(platform, cohort.slug, lab.slug, wanted if _VERSION.fullmatch(wanted) else "-")
    if not folder.source.is_dir():
        raise NotFound(
            Text(f"实验 {lab.slug} 没有版本 {wanted}", f"the lab {lab.slug} has no version {wanted}"),
            Text(f"现在的版本是 {lab.version}", f"the present one is {lab.version}"),
            reason="no_version",
        )
    loaded(folder)
    return wanted


def _is_open(lab: Lab, regrade_id: str) -> Conflict:
    return Conflict(
        Text(f"实验 {lab.slug} 已有一次重评没有结束 {regrade_id}", f"a regrade of {lab.slug} is open {regrade_id}"),
        Text(
            f"先看、应用或放弃它：qianka lab regrade show {lab.slug}",
            f"look at it, apply it or drop it first: qianka lab regrade show {lab.slug}",
        ),
        reason="regrade_open",
        regrade=regrade_id,
    )
