"""What every check is given: the machine, a place to run jobs with a card, the student runtime, the time left."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_machine import Machine, fence_of, memory_of_host
from qianka.domain.resources import Card
from qianka.testing.supervised import MIB, Direct, Ended, Launched, job

INSIDE = Path(__file__).parent / "inside"
GIB = 1 << 30


class Failed(Exception):
    """A check did not find what it should; the message says what it found."""


@dataclass
class Bench:
    """One card is used unless a check says otherwise."""

    machine: Machine
    runner: Launched | Direct
    runtime: Path | None
    """the student runtime with CUDA; None: `no_runtime` says why"""
    no_runtime: str
    ends: float
    clock: Callable[[], float] = time.monotonic
    trees: dict[str, Path] = field(default_factory=dict)
    count: int = 0

    @property
    def card(self) -> Card:
        return self.machine.cards[0]

    def left(self) -> float:
        """Seconds of the whole script's time."""
        return self.ends - self.clock()

    def tree(self, name: str, source: Path) -> Path:
        """A folder of code where runs can reach it."""
        if name not in self.trees:
            base = self.runner.data / "trees" if isinstance(self.runner, Launched) else self.runner.base
            shutil.copytree(source, base / name)
            if isinstance(self.runner, Launched):
                self.runner.own()
            self.trees[name] = base / name
        return self.trees[name]

    def spec(self, argv: list[str], *, wall: float = 60.0, torch: bool = False, **changes: Any) -> dict[str, Any]:
        """A job with room for CUDA. Raises Failed without the time, or without the runtime it needs."""
        if torch and self.runtime is None:
            raise Failed(f"no student runtime with CUDA: {self.no_runtime}")
        if self.left() < 5:
            raise Failed("no time is left of the whole script's ten minutes")
        self.count += 1
        limits = {"wall": min(wall, self.left()), "processes": 1024, "tmp": GIB, "shm": GIB, "disk": GIB}
        program = str(self.runtime / "bin/python") if torch and self.runtime else "/usr/bin/python3"
        changes.setdefault("work", str(self.tree("inside", INSIDE)))
        return job(
            f"j-gpu-{os.getpid()}-{self.count}",
            [program, *argv],
            resources={"cpus": float(min(4, os.cpu_count() or 1)), "memory": memory_of_host(), "gpus": 1},
            limits={**limits, **changes.pop("limits", {})},
            runtime=str(self.runtime) if torch else None,
            **changes,
        )

    def run(self, argv: list[str], *, cards: tuple[Card, ...] | None = None, **changes: Any) -> Ended:
        """One run with the card."""
        given = (self.card,) if cards is None else cards
        return self.runner.run(self.spec(argv, **changes), cards=[fence_of(card) for card in given])


def told(ended: Ended) -> dict[str, Any]:
    """The JSON object that a program inside printed last. Raises Failed with the program's own words."""
    if ended.result["state"] != "COMPLETED":
        raise Failed(f"{ended.result['state']}, {ended.result['reason']}: {ended.stderr.strip()[-800:]}")
    found: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return found


def need(true: bool, why: str) -> None:
    """Raises Failed unless `true`."""
    if not true:
        raise Failed(why)


def mib(size: float | None) -> int | None:
    """Bytes as whole MiB, for people."""
    return None if size is None else round(size / MIB)
