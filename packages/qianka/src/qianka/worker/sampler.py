"""Looks at what runs on this machine every few seconds, so that a job's use can be seen beside its loss.

From outside, like every figure of the platform: the process tree below the run's first process, and the
driver's word for its cards. What runs elsewhere (Slurm's nodes, inside of a container engine) is not seen
from here and has no curve; its totals stand in its result all the same.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy.orm import Session

from qianka import jobdir
from qianka.adapters import nvml
from qianka.jobdir import read_json
from qianka.sandbox.processes import Tree
from qianka.services import nodes
from qianka.services.jobs.usage import MOST, Look, record
from qianka.services.platform import Platform
from qianka.store.repos import jobs as jobs_repo
from qianka.store.repos import usage as repo

_CONTAINERS = ("podman", "docker")
_ENDLESS = 1 << 62
"""no limit above which shared pages are shared out: that is the supervisor's business"""


class Cards(Protocol):
    """Tells how busy a card is."""

    def at(self, uuid: str) -> tuple[float | None, int | None]: ...

    def close(self) -> None: ...


@dataclass
class _Seen:
    """What the last look at a run found."""

    count: int
    sampled_at: datetime | None
    cpu: float | None = None
    looked: float = 0.0


class Sampler:
    """One step looks once at each job that runs here; `guard` raises when it must not write."""

    def __init__(
        self,
        platform: Platform,
        *,
        guard: Callable[[Session], None] = lambda _: None,
        cards: Callable[[], Cards] = nvml.Look,
        proc: Path = Path("/proc"),
    ) -> None:
        self.platform = platform
        self._guard = guard
        self._open_cards = cards
        self._cards: Cards | None = None
        self._proc = proc
        self._seen: dict[tuple[str, int], _Seen] = {}
        self._machine: tuple[int, int] | None = None

    def step(self) -> bool:
        """Never is there more to do at once."""
        with self.platform.store.reading() as session:
            live = [row for row in jobs_repo.live(session) if row.run > 0]
            new = [row.id for row in live if (row.id, row.run) not in self._seen]
            had = repo.counts(session, new) if new else {}
        for row in live:
            if (row.id, row.run) not in self._seen:
                self._seen[row.id, row.run] = _Seen(*had.get((row.id, row.run), (0, None)))
        self._seen = {(row.id, row.run): self._seen[row.id, row.run] for row in live}
        busy = self._look_at_cards(live)
        nodes.publish_load(self.platform, self._load(busy))
        looks = [look for row in live if (look := self._look(row, busy)) is not None]
        if looks:
            self._keep(looks)
        return False

    def close(self) -> None:
        """Let go of the driver."""
        if self._cards is not None:
            self._cards.close()
            self._cards = None

    def _keep(self, looks: list[Look]) -> None:
        with self.platform.store.transaction() as session:
            self._guard(session)
            record(session, looks)
            session.flush()
            for look in looks:
                seen = self._seen[look.job, look.run]
                seen.count, seen.sampled_at = seen.count + 1, look.at
                if seen.count > MOST:
                    seen.count = repo.thin(session, look.job, look.run)

    def _look(self, row: Any, busy: dict[str, tuple[float | None, int | None]]) -> Look | None:
        """A look at one job; None where it does not run here or it is not its turn."""
        seen, now = self._seen[row.id, row.run], self.platform.now()
        beat = jobdir.read_beat(jobdir.job_dir(self.platform.folders.jobs, row.id), row.run)
        if beat is None or not jobdir.alive(beat):
            return None
        cpu_percent, memory = (None, None) if self._is_elsewhere() else self._of_tree(seen, beat["child"])
        told = [busy[card["uuid"]] for card in row.cards if card["uuid"] in busy]
        percents = [percent for percent, _ in told if percent is not None]
        used = [memory for _, memory in told if memory is not None]
        if seen.sampled_at is not None:
            every = self.platform.settings.monitor_interval * self._stride((now - row.started_at).total_seconds())
            # Half a step early is in time: steps are never exactly as long as they should be.
            if (now - seen.sampled_at).total_seconds() < every - self.platform.settings.monitor_interval / 2:
                return None
        if cpu_percent is None and memory is None and not told:
            return None
        return Look(
            job=row.id,
            run=row.run,
            at=now,
            cpu_percent=cpu_percent,
            memory=memory,
            card_percent=sum(percents) / len(percents) if percents else None,
            card_memory=sum(used) if used else None,
        )

    def _is_elsewhere(self) -> bool:
        """Whether a container engine starts the processes: they are then no children of the run's first one."""
        try:
            return read_json(str(self.platform.folders.run / "sandbox.json")).get("backend") in _CONTAINERS
        except (OSError, jobdir.FormatError):
            return False

    def _stride(self, elapsed: float) -> int:
        """Every how many steps a run of this age is kept: twice as seldom each time its room was full."""
        stride = 1
        while elapsed / (self.platform.settings.monitor_interval * stride) >= MOST:
            stride *= 2
        return stride

    @staticmethod
    def _of_tree(seen: _Seen, child: int | None) -> tuple[float | None, int | None]:
        """Percent of a core since the last look, and bytes now."""
        if child is None:
            return None, None
        tree = Tree(child)
        memory, now = tree.look(_ENDLESS), time.monotonic()
        before, since = seen.cpu, now - seen.looked
        seen.cpu, seen.looked = tree.cpu, now
        if memory == 0:
            return None, None  # it has gone
        # A process that ended unwaited takes its seconds along; time never runs backwards.
        return (None if before is None or since <= 0 else max(0.0, tree.cpu - before) / since * 100), memory

    def _look_at_cards(self, live: Sequence[Any]) -> dict[str, tuple[float | None, int | None]]:
        here = {card.uuid for node in nodes.known(self.platform) for card in node.cards if not card.simulated}
        here |= {card["uuid"] for row in live for card in row.cards if not card.get("simulated")}
        if not here:
            return {}
        self._cards = self._cards or self._open_cards()
        found = {uuid: self._cards.at(uuid) for uuid in sorted(here)}
        return {uuid: told for uuid, told in found.items() if told != (None, None)}

    def _load(self, busy: dict[str, tuple[float | None, int | None]]) -> nodes.Load:
        total, free = _memory(self._proc)
        return nodes.Load(
            node=os.uname().nodename,
            at=self.platform.now(),
            cpu_percent=self._cpu_of_machine(),
            memory_used=None if total is None or free is None else total - free,
            memory=total,
            cards=busy,
        )

    def _cpu_of_machine(self) -> float | None:
        """Percent of all cores since the last step."""
        try:
            ticks = [int(word) for word in (self._proc / "stat").read_text("ascii").split("\n", 1)[0].split()[1:9]]
        except (OSError, ValueError):
            return None
        now, before = (sum(ticks), ticks[3] + ticks[4]), self._machine
        self._machine = now
        if before is None or now[0] <= before[0]:
            return None
        return max(0.0, 100.0 * (1 - (now[1] - before[1]) / (now[0] - before[0])))


def _memory(proc: Path) -> tuple[int | None, int | None]:
    """Bytes that the machine has, and bytes that are to be had."""
    try:
        lines = (proc / "meminfo").read_text("ascii").splitlines()
        told = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith(" kB")}
    except (OSError, ValueError, IndexError):
        return None, None
    return told.get("MemTotal"), told.get("MemAvailable")
