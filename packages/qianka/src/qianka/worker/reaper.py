"""Clears away what nobody needs any more: old job directories, samples, events, tokens, unfinished uploads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

from sqlalchemy.orm import Session

from qianka import logs
from qianka.engines.base import Cleans, Engine
from qianka.errors import QiankaError
from qianka.services import leases
from qianka.services.platform import Platform
from qianka.store.repos import cleaning, usage
from qianka.store.repos import jobs as repo

EVENT_DAYS = 7
TOKEN_DAYS = 7
UPLOAD_HOURS = 24
_BATCH = 500

_log = logs.get("worker.reaper")


class Reaper:
    """One step clears one batch of each kind."""

    def __init__(
        self, platform: Platform, engine: Engine, *, guard: Callable[[Session], None] = lambda _: None
    ) -> None:
        self.platform = platform
        self.engine = engine
        self._guard = guard

    def step(self) -> bool:
        """Whether there was so much that another step should follow at once."""
        now = self.platform.now()
        with self.platform.store.transaction() as session:
            self._guard(session)
            if leases.is_held(session, self.platform, "backup"):
                return False  # what a snapshot names must stay until it is copied
            events = cleaning.delete_events_before(session, now - timedelta(days=EVENT_DAYS), _BATCH)
            cleaning.delete_tokens_before(session, now - timedelta(days=TOKEN_DAYS))
            kept = now - timedelta(days=self.platform.settings.jobs_keep_days)
            samples = usage.delete_before(session, kept, _BATCH)
        jobs = self._clean_jobs(kept)
        self._clean_uploads(now - timedelta(hours=UPLOAD_HOURS))
        return _BATCH in (events, samples, jobs)

    def _clean_jobs(self, before: datetime) -> int:
        """Remove directories of jobs that ended before an instant, or that the store does not know."""
        if not isinstance(self.engine, Cleans):
            return 0
        names = sorted(path.name for path in _older(self.platform.folders.jobs, before))[:_BATCH]
        with self.platform.store.reading() as session:
            known = repo.by_ids(session, names)
        cleaned = 0
        for name in names:
            job = known.get(name)
            if job is not None and (job.ended_at is None or job.ended_at >= before):
                continue
            try:
                self.engine.clean(name)
                cleaned += 1
            except (QiankaError, OSError, ValueError) as error:
                _log.warning("job directory %s stays: %s", name, error)
        return cleaned

    def _clean_uploads(self, before: datetime) -> None:
        for path in _older(self.platform.folders.incoming, before):
            try:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            except OSError as error:
                _log.warning("unfinished upload %s stays: %s", path.name, error)


def _older(folder: Path, before: datetime) -> Iterator[Path]:
    """Entries not changed since an instant."""
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                changed = entry.stat(follow_symlinks=False).st_mtime
            except FileNotFoundError:
                continue
            if datetime.fromtimestamp(changed, timezone.utc) < before:
                yield Path(entry.path)
