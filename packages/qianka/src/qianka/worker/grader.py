"""The grader's loop: finds what may have changed and moves it on. Who goes first is the dispatcher's business."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from qianka import logs
from qianka.errors import QiankaError
from qianka.services import attempts
from qianka.services.labs import data, reference
from qianka.services.platform import Platform
from qianka.store.repos import attempts as repo
from qianka.store.repos import jobs as job_repo
from qianka.store.repos import labs as lab_repo

_log = logs.get("worker.grader")
_Sign = tuple[Any, ...]


class Grader:
    """One step at a time. What was seen of an attempt is remembered, so that only changes cost anything.

    `guard` is called at the start of each step and raises when another worker has taken over.
    """

    def __init__(self, platform: Platform, *, guard: Callable[[Session], None] = lambda _: None) -> None:
        self.platform = platform
        self._guard = guard
        self._seen: dict[str, _Sign] = {}

    def step(self) -> bool:
        """Look once at all live attempts, at labs in preparation, at references; whether anything changed."""
        with self.platform.store.reading() as session:
            self._guard(session)
        labs = self._advance_labs()
        changed = self._advance_references()
        return self._advance_attempts(labs) or changed

    def _advance_labs(self) -> _Sign:
        """Take over prepared data; what of the labs bears on attempts."""
        with self.platform.store.reading() as session:
            found = lab_repo.all_with_cohort(session)
        signs: list[Any] = []
        for lab, cohort in found:
            name = f"lab:{lab.id}"
            failed: _Sign = (lab.version, lab.published_at, "failed")
            if lab.published_by is None or self._seen.get(name) == failed:
                continue  # a failure stays one until the lab is published again
            try:
                state = data.advance(self.platform, cohort, lab, lab.version)
                self._seen[name] = (lab.version, lab.published_at, state)
                signs.append((lab.id, lab.version, state))
            except (QiankaError, OSError) as error:
                _log.warning("data of lab %s: %s", lab.slug, error)
        return tuple(signs)

    def _advance_references(self) -> bool:
        with self.platform.store.reading() as session:
            signs = {}
            for row in lab_repo.open_references(session):
                made = job_repo.by_ids(session, row.job_ids)
                signs[row.id] = tuple(sorted((job.id, job.state) for job in made.values()))
        changed = False
        for reference_id, sign in signs.items():
            name = f"reference:{reference_id}"
            if self._seen.get(name) == sign and sign:
                continue
            try:
                reference.advance(self.platform, reference_id)
            except (QiankaError, OSError) as error:
                _log.warning("%s: %s", name, error)
                continue
            self._seen[name] = sign
            changed = True
        return changed

    def _advance_attempts(self, labs: _Sign) -> bool:
        now = self.platform.now()
        with self.platform.store.reading() as session:
            live = repo.live(session)
            states = repo.job_states(session, [attempt.id for attempt in live])
            cancelled = repo.cancelled_with_open_jobs(session)
            references = tuple((row.id, row.state) for row in lab_repo.all_references(session))
        for attempt_id in cancelled:
            attempts.cancel_jobs(self.platform, attempt_id)
        changed = bool(cancelled)
        for attempt in live:
            due = _is_due(attempt.next_try_at, now)
            sign: _Sign = (attempt.state, attempt.retries, due, tuple(states[attempt.id]), labs, references)
            if self._seen.get(attempt.id) == sign:
                continue
            try:
                changed = attempts.advance(self.platform, attempt.id) or changed
            except QiankaError as error:
                _log.warning("attempt %s: %s", attempt.id, error)
                continue
            self._seen[attempt.id] = sign
        self._forget(
            {attempt.id for attempt in live} | {name for name in self._seen if name.startswith(("reference:", "lab:"))}
        )
        return changed

    def _forget(self, wanted: set[str]) -> None:
        for name in set(self._seen) - wanted:
            del self._seen[name]


def _is_due(next_try_at: datetime | None, now: datetime) -> bool:
    return next_try_at is None or next_try_at <= now
