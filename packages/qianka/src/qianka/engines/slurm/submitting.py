"""Bringing a run into Slurm exactly once: intent, sbatch, id; after a crash in between it is looked for first."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from qianka import jobdir
from qianka.engines.slurm import layout, records, script
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.hands import OPTIONS, Hand, own_login
from qianka.engines.slurm.records import Record
from qianka.engines.slurm.site import Site
from qianka.errors import ConfigError, Refused, Text, Unavailable
from qianka.jobdir.records import claim


class Submitting:
    """Decides who runs a job and submits it."""

    def __init__(
        self,
        jobs: Path,
        client: Client,
        site: Site,
        own: Hand,
        launcher: Hand | None,
        *,
        login: str = "",
        supervisor: str = layout.SUPERVISOR,
        reread: Callable[[], Site] | None = None,
    ) -> None:
        """`supervisor`: its program as the nodes see it; `login`: the service's, whose jobs the supervised ones are.

        `reread`: the site as its file says now; where people's folders are stays as it was at the start.
        """
        self.jobs = jobs
        self.client = client
        self.site = site
        self.login = login or own_login()
        self.supervisor = supervisor
        self._own = own
        self._reread = reread
        self._launcher = launcher

    def is_supervised(self, job: Mapping[str, Any]) -> bool:
        """Whether the platform's supervisor contains and measures the run; else it is the person's own."""
        return self.hand(job) is None

    def hand(self, job: Mapping[str, Any]) -> Hand | None:
        """Who acts for the person; None: the service itself, for a job in its sandbox."""
        account = job.get("account")
        if not account or job["kind"] != "run":
            return None
        if account == self.login and os.geteuid() != 0:
            return self._own
        return self._launcher

    def submit(self, job: Mapping[str, Any], directory: str, run: int) -> Record | None:
        """The record of the run, submitted now or before; None when it was ended before it began.

        Raises Refused (Slurm or the site will never take it) and Unavailable.
        """
        record = records.read(directory, run)
        if record is not None and record.id is not None:
            return record
        hand = self.hand(job)
        if hand is None:
            if os.path.isdir(jobdir.run_dir(directory, run)):
                return None
            self._refuse_several_nodes(job)
        # Before anything is claimed: what fails here is tried again as if it had never begun.
        text = self._script(job, run, self._places(job, directory, run, hand))
        if hand is not None and not claim(directory, run) and record is None and _is_over(directory, run):
            return None
        if record is not None and (found := self._found(record)):
            return self._noted(directory, run, replace(record, id=found[0]), extra=found[1:], hand=hand)
        if record is None:
            account = str(job["account"]) if hand is not None else None
            record = Record(name=f"{job['job']}.{run}", asked_at=time.time(), supervised=hand is None, account=account)
            records.write(directory, run, record)
        slurm_id = self.client.sbatch(OPTIONS, text) if hand is None else hand.submit(job, run, text)
        return self._noted(directory, run, replace(record, id=slurm_id), extra=[], hand=hand)

    def _script(self, job: Mapping[str, Any], run: int, places: script.Places) -> str:
        try:
            site = self.site if self._reread is None else replace(self._reread(), folder=self.site.folder)
            return script.render(job, run, site, places)
        except ConfigError as error:
            # The operator's mistake, not the job's: it waits until the file is mended.
            raise Unavailable(error.message, error.hint, reason="site") from error

    def doubles(self, record: Record) -> list[str]:
        """Slurm jobs of the same run besides the one that was noted: an answer of sbatch that came too late."""
        return [one for one in self._found(record) if one != record.id]

    def _found(self, record: Record) -> list[str]:
        return self.client.named(record.name, record.account or self.login, record.asked_at)

    def _noted(self, directory: str, run: int, record: Record, *, extra: list[str], hand: Hand | None) -> Record:
        records.write(directory, run, record)
        if extra and hand is None:
            self.client.scancel(extra)
        return record

    def _places(self, job: Mapping[str, Any], directory: str, run: int, hand: Hand | None) -> script.Places:
        if hand is not None:
            has_code = bool(job.get("work"))
            return layout.own_places(self.site, str(job["job"]), run, str(job["account"]), has_code=has_code)
        return layout.service_places(directory, str(job["job"]), run, job.get("work"), self.supervisor)

    def _refuse_several_nodes(self, job: Mapping[str, Any]) -> None:
        if script.nodes_of(job) == 1:
            return
        raise Refused(
            Text(
                "多机任务要以你自己的系统账户运行，而平台现在做不到",
                "a job of several nodes runs under your own system account, which the platform cannot use just now",
            ),
            Text(
                "管理员：以 root 启动 qianka up（由启动器提交），并设 slurm.people = login",
                "operators: start qianka up as root (its launcher submits) and set slurm.people = login",
            ),
            reason="no_account",
        )


def _is_over(directory: str, run: int) -> bool:
    """Whether a claimed run without a record was ended (by a cancel); else a crash came between claim and record."""
    return jobdir.read_result(directory, run) is not None
