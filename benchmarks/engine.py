"""How fast jobs start: `python -c pass` in the sandbox against bare, and no-op jobs a second, end to end.

    python benchmarks/engine.py [--jobs 300] [--runs 60]

"End to end" is: submitted into the database (SQLite, synchronous=FULL), dispatched by a worker process,
run by a supervisor, result on disk, settled in the database. Root uses the launcher, so that every run has a uid
of its own; an ordinary user starts supervisors directly. Ratios are of medians within one run, bare and
supervised in turn. The last line is one JSON object; the exit status is 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from qianka.domain.jobs import JobKind, JobState
from qianka.domain.resources import Resources
from qianka.engines.local import LocalEngine, make_engine, tell_isolation
from qianka.server.wake import Wake
from qianka.services import jobs
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.repos import jobs as repo
from qianka.store.tables import Job
from qianka.store.upgrade import upgrade
from qianka.testing import make_person
from qianka.testing.supervised import Launched
from qianka.worker.main import open_platform

PYTHON = "/usr/bin/python3"
SMALL = Resources(cpus=0.25, memory=64 << 20)
BARS = {"python_pass_ratio": 9.0, "noop_per_second_none": 60.0, "noop_per_second_sandbox": 30.0}
WARM_UP = 20


@dataclass
class Place:
    """A data directory with what a worker needs there."""

    platform: Platform
    level: str


@contextlib.contextmanager
def place(backend: str) -> Iterator[Place]:
    """A fresh data directory; with a launcher for root in a sandbox."""
    with contextlib.ExitStack() as stack:
        if backend != "none" and os.geteuid() == 0:
            launched = stack.enter_context(Launched("--service-uid", "0", "--uid-base", "61700"))
            for path in [launched.data, *launched.data.rglob("*")]:
                os.chown(path, 0, 0)
            data = launched.data
        else:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="qianka-engine-"))) / "data"
        settings = Settings(
            data_dir=str(data),
            sandbox_backend=backend,
            sandbox_minimum="none" if backend == "none" else "degraded",
            local_cores=2,
        )
        platform = open_platform(settings)
        stack.callback(platform.store.close)
        upgrade(platform.store)
        level = tell_isolation(settings, platform.folders.run, platform.folders.runtime)["level"]
        yield Place(platform, level)


def spec(argv: list[str]) -> dict[str, Any]:
    return {"argv": argv, "volume": "folder", "limits": {"processes": 16}}


def python_pass(here: Place, runs: int) -> dict[str, float]:
    """Seconds of `python -c pass`: bare, and from submit to result through the engine, one at a time."""
    folders = here.platform.folders
    engine = make_engine(here.platform.settings, folders.jobs, folders.run)
    person = make_person(here.platform)
    bare, supervised = [], []
    try:
        for number in range(runs + 3):
            begin = time.perf_counter()
            os.waitpid(os.posix_spawn(PYTHON, [PYTHON, "-c", "pass"], {"PATH": "/usr/bin:/bin"}), 0)
            bare.append(time.perf_counter() - begin)
            with here.platform.store.transaction() as session:
                job = queue(session, here.platform, person.id, [PYTHON, "-c", "pass"], f"pass:{number}")
                repo.by_ids(session, [job.id])[job.id].state = JobState.CANCELLED.value  # ours alone: no worker is up
            supervised.append(one(engine, job))
    finally:
        engine.close()
    return {"bare": median(bare[3:]), "supervised": median(supervised[3:])}


def one(engine: LocalEngine, job: Job) -> float:
    begin = time.perf_counter()
    handle = engine.submit(job.spec, 1, None)
    while not (status := engine.poll([handle])[handle]).state.ended:
        engine.wait(5.0)
    if status.state is not JobState.COMPLETED:
        raise SystemExit(f"python -c pass ended {status}")
    return time.perf_counter() - begin


def queue(session: Any, platform: Platform, person: int, argv: list[str], key: str) -> Job:
    return jobs.submit_stage(
        session,
        platform,
        key=key,
        person_id=person,
        cohort_id=None,
        kind=JobKind.RUN,
        name="noop",
        spec=spec(argv),
        resources=SMALL,
        wall_limit=60.0,
    )


def noop_rate(here: Place, count: int) -> float:
    """No-op jobs a second with a worker process of its own, from the first submit to the last settled."""
    settings = here.platform.settings
    platform = replace(here.platform, wake_worker=Wake(here.platform.folders.run / "worker.sock"))
    environment = {
        "PATH": "/usr/bin:/bin",
        "QIANKA_DATA_DIR": settings.data_dir,
        "QIANKA_SANDBOX_BACKEND": settings.sandbox_backend,
        "QIANKA_SANDBOX_MINIMUM": settings.sandbox_minimum,
        "QIANKA_LOCAL_CORES": "2",
    }
    worker = subprocess.Popen([sys.executable, "-m", "qianka.worker.main"], env=environment, stderr=subprocess.PIPE)
    try:
        people = [make_person(platform).id for _ in range(10)]
        batch(platform, people, WARM_UP, "warm")
        begin = time.perf_counter()
        batch(platform, people, count, "noop")
        return count / (time.perf_counter() - begin)
    finally:
        worker.terminate()
        worker.communicate(timeout=30)


def batch(platform: Platform, people: list[int], count: int, name: str) -> None:
    """Submit `count` jobs, a transaction each, and wait until all are settled."""
    for number in range(count):
        with platform.store.transaction() as session:
            queue(session, platform, people[number % len(people)], ["/bin/true"], f"{name}:{number}")
        platform.wake_worker()
    end = time.monotonic() + 300
    while time.monotonic() < end:
        with platform.store.reading() as session:
            if not (repo.pending(session, 1) or repo.live(session)):
                break
        time.sleep(0.02)
    with platform.store.reading() as session:
        states = [job.state for job in session.query(Job).filter(Job.key.like(f"{name}:%"))]
    if states != [JobState.COMPLETED.value] * count:
        raise SystemExit(f"not all jobs completed: { {state: states.count(state) for state in set(states)} }")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--runs", type=int, default=60)
    options = parser.parse_args()
    figures: dict[str, Any] = {"cores": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0]}
    # Both places are removed at the end: ext4 searches long for free inodes where many were just given back.
    with contextlib.ExitStack() as places:
        here = places.enter_context(place("bubblewrap"))
        figures["isolation"] = here.level
        seconds = python_pass(here, options.runs)
        figures["python_pass_bare_ms"] = round(seconds["bare"] * 1000, 2)
        figures["python_pass_supervised_ms"] = round(seconds["supervised"] * 1000, 2)
        figures["python_pass_ratio"] = round(seconds["supervised"] / seconds["bare"], 2)
        figures["noop_per_second_sandbox"] = round(noop_rate(here, options.jobs), 1)
        here = places.enter_context(place("none"))
        seconds = python_pass(here, options.runs)
        figures["python_pass_ratio_none"] = round(seconds["supervised"] / seconds["bare"], 2)
        figures["noop_per_second_none"] = round(noop_rate(here, options.jobs), 1)
    figures["synchronous"] = "FULL"
    missed = [
        name for name, bar in BARS.items() if (figures[name] > bar if name.endswith("ratio") else figures[name] < bar)
    ]
    figures["missed"] = missed
    print(json.dumps(figures))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
