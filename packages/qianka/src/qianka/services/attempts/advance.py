"""Moves one attempt a step on. Idempotent: driven by the rows alone, repeated or interrupted at any point.

A submitted stage has a key of its own, so a second try finds the first one's job; a verdict is written
only while the attempt is as it was looked at.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from qianka import jobdir
from qianka.domain.jobs import JobKind, JobState
from qianka.errors import PlatformFault, Text
from qianka.grading import stages
from qianka.grading.judge import Evidence, judge, passes, repeats
from qianka.grading.model import Lab as LabRules
from qianka.grading.progress import ReferenceState, last_step, next_step
from qianka.services import events, jobs
from qianka.services.attempts.case import Case, job_key, look
from qianka.services.attempts.evidence import gather, unreadable_sources
from qianka.services.attempts.outcome import finish, give_up
from qianka.services.labs import data, reference
from qianka.services.platform import Platform
from qianka.store.repos import attempts as repo
from qianka.store.tables import Attempt

_STUDENT = ("train", "predict", "tests", "notebook")
"""stages that run student code: what they use is the student's use"""


def advance(platform: Platform, attempt_id: str) -> bool:
    """Do what can be done now for an attempt: submit stages, wait, judge, retry. Whether anything changed."""
    case = look(platform, attempt_id)
    if case is None or case.attempt.state not in repo.LIVE:
        return False
    if case.attempt.next_try_at is not None and case.attempt.next_try_at > platform.now():
        return False
    try:
        return _advance(platform, case)
    except PlatformFault as fault:
        return give_up(platform, case, fault.message.en)
    except (OSError, jobdir.FormatError) as error:
        return give_up(platform, case, f"{type(error).__name__}: {error}"[:500])


def cancel_jobs(platform: Platform, attempt_id: str) -> None:
    """End the jobs of an attempt that was cancelled."""
    with platform.store.transaction() as session:
        for job in repo.jobs_of(session, attempt_id):
            jobs.request_cancel(session, platform, job)
    platform.wake_worker()


def _advance(platform: Platform, case: Case) -> bool:
    rules = case.rules(platform)
    if not case.jobs:
        if not case.paths(platform).tree.is_dir():
            raise PlatformFault(Text("提交的文件不见了", "the files of a hand-in are gone"), reason="no_tree")
        encoding = unreadable_sources(platform, case)
        if encoding:
            evidence = Evidence(encoding=encoding, late=case.submission.late)
            return finish(platform, case, judge(rules, evidence), evidence)
    made = data.advance(platform, case.cohort, case.lab, case.attempt.lab_version)
    if made == "waiting":
        return False
    if made == "failed":
        raise PlatformFault(Text("实验数据没有准备好", "the lab's data could not be prepared"), reason="no_data")
    step = next_step(rules, case.states)
    if step.submit:
        return _submit(platform, case, rules, step.submit)
    return _judge(platform, case, rules) if step.judge else _note(platform, case)


def _judge(platform: Platform, case: Case, rules: LabRules) -> bool:
    state, figures = _reference(platform, case)
    evidence = gather(platform, case, None if state == "unneeded" else figures)
    passed = passes(rules, evidence.score)
    wanted = repeats(rules, evidence) if state == "ready" else ()
    step = last_step(rules, case.states, passed=passed, reference=state, repeats=wanted)
    if step.submit:
        return _submit(platform, case, rules, step.submit)
    if not step.judge or any(not job_state.ended for job_state in case.states.values()):
        return _note(platform, case)
    if state == "failed" and passed:
        raise PlatformFault(
            Text("参考解没有跑通，无法比较时间和内存", "the reference solution failed: nothing to compare with"),
            reason="reference",
        )
    return finish(platform, case, judge(rules, evidence), evidence)


def _reference(platform: Platform, case: Case) -> tuple[ReferenceState, dict[str, Any]]:
    train = case.jobs.get("train")
    node = None if train is None else (train.result or {}).get("node")
    if train is None or train.state != JobState.COMPLETED.value or not isinstance(node, str):
        return "unneeded", {}
    if case.pinned is not None:  # a replay is compared with what the first grading was compared with
        figures = case.pinned.get("reference")
        return ("unneeded", {}) if figures is None else ("ready", dict(figures))
    return reference.state(platform, case.cohort, case.lab, case.attempt.lab_version, node)


def _submit(platform: Platform, case: Case, rules: LabRules, names: tuple[str, ...]) -> bool:
    paths = case.paths(platform)
    with platform.store.transaction() as session:
        attempt = session.get(Attempt, case.attempt.id)
        if attempt is None or attempt.state not in repo.LIVE or attempt.retries != case.attempt.retries:
            return False
        first = stages.names(rules)[0]
        for name in names:
            stage = stages.stage(rules, paths, name)
            jobs.submit_stage(
                session,
                platform,
                key=job_key(attempt, name),
                person_id=attempt.person_id if attempt.counts else data.payer(case.lab),
                cohort_id=case.cohort.id,
                attempt_id=attempt.id,
                kind=JobKind.GRADE,
                name=name,
                spec=stage.spec,
                resources=stage.resources,
                wall_limit=stage.wall,
                continues=name != first,
                # The platform pays for its own stages and for the repeats that its noise makes necessary.
                charged=attempt.counts and name in _STUDENT,
            )
        _move(session, platform, case, attempt)
    platform.wake_worker()
    return True


def _note(platform: Platform, case: Case) -> bool:
    """Enter that the attempt has begun, or reached another stage; False when that is known already."""
    begun = any(state is not JobState.PENDING for state in case.states.values())
    if (case.attempt.state == "running" or not begun) and case.attempt.stage == _stage_of(platform, case):
        return False
    with platform.store.transaction() as session:
        attempt = session.get(Attempt, case.attempt.id)
        if attempt is None or attempt.state not in repo.LIVE:
            return False
        _move(session, platform, case, attempt)
    return True


def _move(session: Session, platform: Platform, case: Case, attempt: Attempt) -> None:
    stage = _stage_of(platform, case)
    begun = [job for job in case.jobs.values() if job.state != JobState.PENDING.value]
    if begun and attempt.state == "queued":
        attempt.state = "running"
        attempt.started_at = min((job.started_at for job in begun if job.started_at), default=platform.now())
    if attempt.stage == stage and attempt.state == case.attempt.state:
        return
    attempt.stage = stage
    events.emit_of_attempt(session, platform, attempt, "stage", stage=stage)


def _stage_of(platform: Platform, case: Case) -> str:
    """The stage to show: the first that has not completed, `compare` once only the reference is awaited."""
    for name in stages.names(case.rules(platform)):
        if name != "style" and case.states.get(name) is not JobState.COMPLETED:
            return name
    return "compare"
