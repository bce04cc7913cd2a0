"""A real Slurm of four nodes: how fast jobs go in, and that nothing is lost or counted twice when its parts go away.

    python benchmarks/slurm.py [--jobs 100] [--away 60] [--books 300]

Rates are taken beside bare sbatch and squeue in the same run. Then, with jobs going on: the controller is away
for `--away` seconds, a node's daemon is killed with SIGKILL, the accounting is away for `--books` seconds. The
last line is one JSON object; the exit status is 1 when a job was lost, has not exactly one accepted run, or the
ledger does not say what sacct says. Needs root and Debian's packages of Slurm.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from qianka.engines.base import Handle
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.hands import OPTIONS
from qianka.store.tables import Job, Run
from qianka.testing.slurm import Cluster, missing
from qianka.testing.slurm.rigs import SlurmRig
from qianka.testing.slurm.scene import Scene
from qianka.worker.queueing import SUBMITTERS

HELD = "#!/bin/sh\n#SBATCH --hold --output=/dev/null --chdir=/ --mem=100M\ntrue\n"


def rates(cluster: Cluster, folder: Path, count: int) -> dict[str, Any]:
    """Submits and polls a second, ours beside the bare commands."""
    client = Client(str(cluster.conf))
    begin = time.perf_counter()
    with ThreadPoolExecutor(SUBMITTERS) as pool:
        ids = list(pool.map(lambda _: client.sbatch(OPTIONS, HELD), range(count)))
    bare = count / (time.perf_counter() - begin)
    client.scancel(ids)
    rig = SlurmRig(cluster, folder)
    # No node has that many cores free at once: most of them wait, as in a busy week.
    jobs = [rig.text(f"j-{number}", ["/bin/sleep", "600"], cpus=16.0) for number in range(count)]
    # As the dispatcher does it: a submit waits for the disk and for sbatch, several wait together.
    begin = time.perf_counter()
    with ThreadPoolExecutor(SUBMITTERS) as pool:
        handles = list(pool.map(lambda job: rig.engine.submit(job, 1, None), jobs))
    ours = count / (time.perf_counter() - begin)
    begin = time.perf_counter()
    for job in jobs:
        rig.engine.submit(job, 1, None)
    again = count / (time.perf_counter() - begin)
    bare_polls, polls = [], []
    for _ in range(10):
        begin = time.perf_counter()
        client.jobs()
        bare_polls.append(time.perf_counter() - begin)
        time.sleep(rig.engine.every)
        asked = rig.engine.listing.asked
        begin = time.perf_counter()
        rig.engine.poll(handles)
        polls.append(time.perf_counter() - begin)
        assert rig.engine.listing.asked == asked + 1
    rig.close()
    return {
        "jobs": count,
        "sbatch_per_s": round(bare, 1),
        "submit_per_s": round(ours, 1),
        "submit_again_per_s": round(again, 1),
        "squeue_ms": _middle(bare_polls),
        "poll_ms": _middle(polls),
        "commands_a_poll": 1,
    }


def _middle(seconds: list[float]) -> float:
    return round(sorted(seconds)[len(seconds) // 2] * 1000, 1)


def faults(cluster: Cluster, folder: Path, away: float, books: float) -> dict[str, Any]:
    """The three faults, one after the other, with jobs going on and jobs coming in."""
    scene = Scene(cluster, folder)
    made: list[Job] = []

    def load(*seconds: float) -> None:
        for length in seconds:
            made.append(scene.own(["/bin/sleep", str(length)], gpus=1))
            made.append(scene.stage(["/bin/sleep", str(length)]))

    def running() -> bool:
        return all(scene.job(job).state != "PENDING" for job in made)

    load(5, 10, away + 40, away + 40)
    scene.until(running)
    cluster.stop_slurmctld()
    end = time.monotonic() + away
    load(5)
    while time.monotonic() < end:
        scene.dispatcher.step()
        scene.dispatcher.wait(1.0)
    unknown = sum(scene.job(job).state == "UNKNOWN" for job in made)
    scene.restart()
    cluster.start_slurmctld()
    scene.until(running, 180)
    load(60, 60, 60)
    scene.until(running, 120)
    victim = next(job for job in reversed(made) if job.kind != "run")
    node = scene.until(lambda: scene.rig.engine.poll([handle(scene, victim)])[handle(scene, victim)].node)
    cluster.kill_slurmd(node)
    scene.until(lambda: scene.job(victim).run > 1 or scene.job(victim).ended_at, 120)
    cluster.revive()
    load(5, 10)
    scene.until(running, 180)
    cluster.stop_slurmdbd()
    end = time.monotonic() + books
    while time.monotonic() < end:
        scene.dispatcher.step()
        scene.dispatcher.wait(2.0)
    scene.restart()
    cluster.start_slurmdbd()
    scene.until(scene.over(*made), 300)
    found = verdict(scene, made)
    scene.close()
    return {"controller_away_s": away, "accounting_away_s": books, "unknown_while_away": unknown, **found}


def handle(scene: Scene, job: Job) -> Handle:
    """The present run of a job."""
    return Handle(job.id, scene.job(job).run)


def verdict(scene: Scene, made: list[Job]) -> dict[str, Any]:
    """What was lost, what was counted twice, and ledger beside sacct."""
    with scene.platform.store.reading() as session:
        accepted = {job.id: 0 for job in made}
        for run in session.query(Run).filter(Run.accepted.is_(True)):
            accepted[run.job_id] += 1
        runs = session.query(Run).count()
    lines = scene.ledger()
    own = [line for line in lines if line.kind == "run"]
    ours = (sum(line.cpu_seconds for line in own), sum(line.gpu_seconds for line in own))
    end = time.monotonic() + 30
    while ours != scene.accounted() and time.monotonic() < end:
        time.sleep(1)
    return {
        "jobs": len(made),
        "completed": sum(scene.job(job).state == "COMPLETED" for job in made),
        "lost": sum(count == 0 for count in accepted.values()),
        "twice": sum(count > 1 for count in accepted.values()),
        "runs": runs,
        "ledger_lines": len(lines),
        "counted_twice": len(lines) - len({(line.job_id, line.run) for line in lines}),
        "ledger_gpu_s": ours[1],
        "sacct_gpu_s": scene.accounted()[1],
        "ledger_equals_sacct": ours == scene.accounted(),
    }


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--away", type=float, default=60.0)
    parser.add_argument("--books", type=float, default=300.0)
    options = parser.parse_args()
    why = missing()
    if why is not None:
        print(json.dumps({"skipped": why}))
        return 1
    with tempfile.TemporaryDirectory() as base:
        begin = time.perf_counter()
        cluster = Cluster()
        cluster.up()
        try:
            up = round(time.perf_counter() - begin, 1)
            places = [Path(base) / name for name in ("rates", "faults")]
            for place in places:
                place.mkdir()
            found: dict[str, Any] = {"cluster_up_s": up, "rates": rates(cluster, places[0], options.jobs)}
            print(json.dumps(found), flush=True)
            cluster.wait_idle()
            found["faults"] = faults(cluster, places[1], options.away, options.books)
        finally:
            cluster.down()
    told = found["faults"]
    kept = told["lost"] == told["twice"] == told["counted_twice"] == 0 and told["ledger_equals_sacct"]
    found["ok"] = bool(kept and told["completed"] == told["jobs"])
    print(json.dumps(found))
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
