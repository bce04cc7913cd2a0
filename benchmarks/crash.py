"""Random kill -9 of server and worker while jobs run: exactly one accepted result a job, nothing lost.

    python benchmarks/crash.py [--kills 200] [--jobs 60] [--seed 1] [--isolation bubblewrap|none]

The jobs are submitted over HTTP while the server is being killed too, by a client that retries with an
Idempotency-Key. Victims are started again at once, as `qianka up` would. The last line is one JSON
object of figures; the exit status is 1 when a job was lost, ran twice, or has not exactly one accepted result.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any

from engine import place
from qianka import settings as settings_of
from qianka.client.api import Client
from qianka.client.transport import Transport
from qianka.errors import QiankaError
from qianka.schemas.jobs import NewJob
from qianka.services import people
from qianka.services.platform import Platform
from qianka.store.tables import Job, Ledger, Run
from qianka.testing import caller_of, make_cohort, make_student

PARTS = {"server": "qianka.server", "worker": "qianka.worker.main"}
BETWEEN = 1.6
"""seconds from one kill to the next, on average: a worker needs about one to be at work again"""
AT_ONCE = 8


class Victims:
    """Server and worker, started again whenever they die."""

    def __init__(self, platform: Platform, port: int) -> None:
        found = platform.settings
        values = {
            "data.dir": found.data_dir,
            "sandbox.backend": found.sandbox_backend,
            "sandbox.minimum": found.sandbox_minimum,
            "local.cores": 2,
            "server.port": port,
        }
        self._environment = settings_of.with_environment(values)
        self._log = open(platform.folders.run / "parts.log", "ab")  # noqa: SIM115 - closed in close
        self._parts: dict[str, subprocess.Popen[bytes]] = {}
        for name in PARTS:
            self.start(name)

    def start(self, name: str) -> None:
        self._parts[name] = subprocess.Popen(
            [sys.executable, "-m", PARTS[name]], env=self._environment, stderr=self._log, stdin=subprocess.DEVNULL
        )

    def kill(self, names: list[str]) -> None:
        for name in names:
            self._parts[name].send_signal(signal.SIGKILL)
        for name in names:
            self._parts[name].wait()
            self.start(name)

    def close(self) -> None:
        for part in self._parts.values():
            part.terminate()
        for part in self._parts.values():
            try:
                part.wait(20)
            except subprocess.TimeoutExpired:
                part.kill()
        self._log.close()


def submit_all(address: str, token: str, cohort: str, count: int, seconds: float, errors: list[str]) -> None:
    """Submit `count` jobs, the last after about `seconds`, each until it is taken."""
    chance = random.Random(7)
    # Together they keep the machine busy a little longer than the killing lasts.
    length = 1.2 * seconds * AT_ONCE / count
    with Client(Transport(address, token, "en")) as client:
        for number in range(count):
            script = f"echo once >> executions; sleep {chance.uniform(0.2, 2 * length):.2f}"
            job = NewJob(
                argv=["/bin/sh", "-c", script],
                name=f"crash{number}",
                cohort=cohort,
                cpus=0.25,
                memory=64 << 20,
                wall=600,
            )
            while True:
                try:
                    client.submit(job, key=f"crash-{number:04}")
                    break
                except QiankaError as error:
                    if error.http_status < 500:
                        errors.append(str(error))
                        break
            time.sleep(seconds / 3 / count)


def count(platform: Platform, wanted: int) -> dict[str, Any]:
    """What is in the store and on disk in the end."""
    with platform.store.reading() as session:
        jobs = list(session.query(Job))
        accepted = Counter(run.job_id for run in session.query(Run) if run.accepted)
        lines = Counter(line.job_id for line in session.query(Ledger))
        runs = session.query(Run).count()
    executions = Counter()
    for job in jobs:
        path = platform.folders.jobs / job.id / "out" / "executions"
        executions[job.id] = path.read_text().count("once") if path.exists() else 0
    return {
        "jobs": len(jobs),
        "states": dict(Counter(job.state for job in jobs)),
        "lost": max(0, wanted - len(jobs)) + sum(job.ended_at is None for job in jobs),
        "without_result": sum(accepted[job.id] == 0 for job in jobs),
        "two_results": sum(accepted[job.id] > 1 for job in jobs),
        "ledger_not_one": sum(lines[job.id] != 1 for job in jobs),
        "runs": runs,
        "retried": sum(job.retries > 0 for job in jobs),
        "executed_not_once": sum(executions[job.id] != 1 for job in jobs),
    }


def crash(platform: Platform, options: argparse.Namespace) -> dict[str, Any]:
    chance = random.Random(options.seed)
    cohort = make_cohort(platform, slug="crash")
    student = make_student(platform, cohort)
    token = people.issue_token(platform, caller_of(student), "crash").secret
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    seconds = options.kills * BETWEEN
    errors: list[str] = []
    victims = Victims(platform, port)
    submitting = threading.Thread(
        target=submit_all,
        args=(f"http://127.0.0.1:{port}", token, cohort.slug, options.jobs, seconds, errors),
        daemon=True,
    )
    submitting.start()
    running_at_kill = []
    begin = time.monotonic()
    try:
        for _ in range(options.kills):
            time.sleep(chance.uniform(0.1, 2 * BETWEEN - 0.1))
            victims.kill(chance.choice([["worker"], ["worker"], ["server"], ["server", "worker"]]))
            with platform.store.reading() as session:
                running_at_kill.append(session.query(Job).filter(Job.state.in_(("RUNNING", "UNKNOWN"))).count())
        killing = time.monotonic() - begin
        submitting.join(120)
        end = time.monotonic() + 600
        while time.monotonic() < end and not settled(platform, options.jobs - len(errors)):
            time.sleep(0.2)
    finally:
        victims.close()
    return {
        "kills": options.kills,
        "seconds": round(killing, 1),
        "running_at_a_kill": round(sum(running_at_kill) / max(1, len(running_at_kill)), 1),
        "submit_errors": len(errors),
        **count(platform, options.jobs),
    }


def settled(platform: Platform, wanted: int) -> bool:
    with platform.store.reading() as session:
        ended = session.query(Job).filter(Job.ended_at.is_not(None)).count()
    return ended >= wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--isolation", default="bubblewrap", choices=("bubblewrap", "none"))
    options = parser.parse_args()
    with place(options.isolation) as here:
        figures = {"isolation": here.level, **crash(here.platform, options)}
    wrong = ("submit_errors", "lost", "without_result", "two_results", "ledger_not_one")
    figures["ok"] = not any(figures[name] for name in wrong) and figures["jobs"] == options.jobs
    print(json.dumps(figures))
    return 0 if figures["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
