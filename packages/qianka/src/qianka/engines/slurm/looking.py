"""The one look at many runs: what is written down, what squeue says of all, what sacct says of those that ended."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from qianka import jobdir, logs
from qianka.domain.jobs import JobState
from qianka.engines.base import Handle, Status
from qianka.engines.directories import ended
from qianka.engines.slurm import ends, records, states, waits
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.hands import mirror
from qianka.engines.slurm.listing import Listing, Silence
from qianka.engines.slurm.models import Line, Used
from qianka.engines.slurm.records import Record
from qianka.engines.slurm.submitting import Submitting
from qianka.errors import Unavailable
from qianka.jobdir import FormatError
from qianka.jobdir.records import put_result

LINGERS = 15.0
"""seconds that a supervisor's result may take to be seen here after Slurm tells of the end (a file system's delay)"""
FORGOTTEN = 900.0
"""seconds after which a run that both controller and accounting, answering, know nothing of counts as lost"""

_log = logs.get("engines.slurm")


class Looking:
    """Keeps nothing that a restart would lose: only when something was first missed."""

    def __init__(
        self, jobs: Path, client: Client, listing: Listing, submitting: Submitting, every: float, lingers: float
    ) -> None:
        self.jobs = jobs
        self.client = client
        self.listing = listing
        self.submitting = submitting
        self.lingers = lingers
        self.live = False
        """whether anything looked at last had not ended"""
        self._books = Silence(every)
        self._submitted: dict[Handle, float] = {}
        self._missed: dict[Handle, float] = {}
        self._specs: dict[str, Mapping[str, Any]] = {}

    def submitted(self, handle: Handle) -> None:
        """A run was submitted just now: an older answer cannot know it."""
        self._submitted[handle] = time.monotonic()

    def look(self, handles: list[Handle]) -> dict[Handle, Status]:
        """The status of each. Raises Unavailable when the controller does not answer about any that is open."""
        found: dict[Handle, Status] = {}
        going: dict[Handle, Record] = {}
        results: dict[Handle, dict[str, Any]] = {}
        for handle in handles:
            status, record = self._written(handle)
            if record is None or record.id is None:
                found[handle] = status or Status(state=JobState.PENDING)
            elif status is not None and not self._is_open(handle, status, record):
                found[handle] = status
            else:
                going[handle] = record
                if status is not None and status.result is not None:
                    results[handle] = status.result
        if going:
            jobs = self.listing.jobs()
            self._judge(going, jobs, results, found)
        self.live = any(not status.state.ended for status in found.values())
        for handle, status in found.items():
            if status.state.ended:
                self._forget(handle, lost=status.result is None)
        return found

    def _judge(
        self,
        going: dict[Handle, Record],
        jobs: dict[str, Line],
        results: dict[Handle, dict[str, Any]],
        found: dict[Handle, Status],
    ) -> None:
        over: dict[Handle, Record] = {}
        ranks = waits.ranks(jobs)
        for handle, record in going.items():
            line = jobs.get(str(record.id))
            state = JobState.UNKNOWN if line is None else states.of(line.state)
            if line is None and self.listing.stale(self._submitted.get(handle, 0.0)):
                found[handle] = Status(state=JobState.PENDING, reason={"code": "slurm_new", "text": ""})
            elif line is None or state.ended:
                over[handle] = record
            elif state is JobState.PENDING:
                found[handle] = Status(state=state, reason=waits.reason_of(line, ranks))
            else:
                self._mirror(handle, record)
                found[handle] = Status(state=state, since=_moment(line.start), node=line.nodes or None)
        if over:
            used = self._account(over)
            for handle, record in over.items():
                found[handle] = self._conclude(handle, record, jobs.get(str(record.id)), used, results.get(handle))

    def _conclude(
        self,
        handle: Handle,
        record: Record,
        line: Line | None,
        used: dict[str, Used] | None,
        result: dict[str, Any] | None,
    ) -> Status:
        """A run of which the controller says that it ended, or that it does not know it."""
        known = None if used is None else used.get(str(record.id))
        is_over = known is not None and states.of(known.state).ended
        if line is None and not is_over:
            return self._missing(handle, answered=used is not None, known=known)
        word = known.state if known is not None and is_over else line.state if line is not None else ""
        directory, job = self._directory(handle), self._job(handle)
        asked = jobdir.records.cancel_asked(directory)
        if record.supervised:
            if result is None and not self._has_lingered(handle):
                return Status(state=JobState.RUNNING, detail="ending")
            if not is_over and used is not None and not self._has_lingered(handle):
                return Status(state=JobState.RUNNING, detail="the accounting is behind")
            status = ends.supervised(job, handle.run, word, known if is_over else None, result, asked=asked)
        elif known is None or not is_over or known.end is None:
            # A person's own job is charged by what the accounting says, so it is waited for.
            return Status(state=JobState.RUNNING, detail="the accounting is behind")
        else:
            self._mirror(handle, record, all_of_it=True)
            status = ends.direct(job, handle.run, known, asked=asked)
        return self._write_down(directory, handle, status)

    def _missing(self, handle: Handle, *, answered: bool, known: Used | None) -> Status:
        """The controller does not know it. Silence of the accounting concludes nothing; a long double No does."""
        if not answered or known is not None:
            self._missed.pop(handle, None)
            return Status(state=JobState.UNKNOWN, detail="the controller no longer knows it, the accounting not yet")
        since = self._missed.setdefault(handle, time.monotonic())
        if time.monotonic() - since < FORGOTTEN:
            return Status(state=JobState.UNKNOWN, detail="neither controller nor accounting know it")
        return Status(state=JobState.NODE_FAIL, detail="neither controller nor accounting know it")

    def _account(self, over: dict[Handle, Record]) -> dict[str, Used] | None:
        """The accounting of `over`; None while it does not answer."""
        known = self._books.lasts
        try:
            return self._books.ask(lambda: self.client.used([str(record.id) for record in over.values()]))
        except Unavailable as error:
            if not known:
                _log.warning("accounting: %s", error)
            return None

    def _written(self, handle: Handle) -> tuple[Status | None, Record | None]:
        directory = self._directory(handle)
        try:
            return ended(directory, handle), records.read(directory, handle.run)
        except FormatError as error:
            return Status(state=JobState.NODE_FAIL, detail=str(error)), None

    def _is_open(self, handle: Handle, status: Status, record: Record) -> bool:
        """Whether Slurm must be asked what ended a supervisor."""
        if status.result is None or not record.supervised or "slurm" in (status.result.get("measured") or {}):
            return False
        return ends.is_open_question(status.result, asked=jobdir.records.cancel_asked(self._directory(handle)))

    def _write_down(self, directory: str, handle: Handle, status: Status) -> Status:
        """So that a restart, and a slurmdbd that is away, change nothing any more."""
        if status.result is None or ended(directory, handle) is not None:
            return status
        os.makedirs(jobdir.run_dir(directory, handle.run), exist_ok=True)
        put_result(directory, handle.run, status.result)
        return status

    def _has_lingered(self, handle: Handle) -> bool:
        return time.monotonic() - self._missed.setdefault(handle, time.monotonic()) >= self.lingers

    def _mirror(self, handle: Handle, record: Record, *, all_of_it: bool = False) -> None:
        if record.supervised:
            return
        job = self._job(handle)
        hand = self.submitting.hand(job)
        if hand is not None:
            mirror(hand, job, self._directory(handle), handle.run, pieces=1000 if all_of_it else 4)

    def _job(self, handle: Handle) -> Mapping[str, Any]:
        if handle.job not in self._specs:
            self._specs[handle.job] = jobdir.read_job(self._directory(handle))
        return self._specs[handle.job]

    def _directory(self, handle: Handle) -> str:
        return jobdir.job_dir(self.jobs, handle.job)

    def _forget(self, handle: Handle, *, lost: bool) -> None:
        self._submitted.pop(handle, None)
        self._specs.pop(handle.job, None)
        if not lost:
            self._missed.pop(handle, None)  # who asks again about a lost run gets the same answer at once


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, timezone.utc)
