"""The same hand-in graded ten times beside a busy neighbour earns the same points ten times.

    python benchmarks/noise.py [--runs 10] [--lab course/labs/lab1-mnist] [--sample solution]

Starts a platform of its own in a temporary folder and needs the student runtime (`qianka runtime build`).
The neighbour is one endless loop a core, unpinned: the worst that a shared machine does to a timed run. The
last line is one JSON object; the exit status is 1 when the points differ.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

from qianka.cli import embedded
from qianka.client.api import Client
from qianka.client.archive import pack

ROOT = Path(__file__).resolve().parents[1]
COHORT, LAB = "noise", "lab"
LONGEST = 600.0
"""seconds that one grading may take"""


@contextmanager
def busy(count: int) -> Iterator[None]:
    """`count` processes that never rest, for as long as the block lasts."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def grade_again(client: Client, archive: Path, runs: int) -> Iterator[dict[str, Any]]:
    """Hand in once, have it graded `runs` times, one after the other."""
    handed = client.hand_in(COHORT, LAB, archive, filename=archive.name)
    if handed.attempt is None:
        raise SystemExit(f"the sample was refused: {handed.submission}")
    attempt = handed.attempt.id
    for number in range(runs):
        if number:
            attempt = client.rerun(handed.submission.id).id
        yield wait_for(client, attempt)


def wait_for(client: Client, attempt: str) -> dict[str, Any]:
    """The feedback of an attempt once it has ended."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        if client.attempt(attempt).state in ("done", "cancelled"):
            return client.feedback(attempt)
        time.sleep(0.5)
    raise SystemExit(f"attempt {attempt} did not end within {LONGEST:g} s")


def seconds(feedback: dict[str, Any], stage: str, measure: str) -> list[float]:
    """The raw times of a stage, its repeats included."""
    stages = [s for s in feedback["stages"] if s["name"].partition("#")[0] == stage]
    return [s[measure] for s in stages if s[measure] is not None]


def tell(number: int, feedback: dict[str, Any]) -> None:
    """One line for one grading."""
    checks = " ".join(f"{check['kind']} {check['points']:g}" for check in feedback["checks"])
    cpu, wall = seconds(feedback, "train", "cpu"), seconds(feedback, "train", "wall")
    print(f"{number}: {feedback['verdict']} {feedback['points']} ({checks}); train cpu {cpu}, wall {wall}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--lab", type=Path, default=ROOT / "course" / "labs" / "lab1-mnist")
    parser.add_argument("--sample", default="solution")
    parser.add_argument("--neighbours", type=int, default=1)
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, embedded.temporary() as handle:
        client = handle.client()
        archive = Path(folder) / f"{options.sample}.zip"
        pack(options.lab / "samples" / options.sample, archive)
        client.create_cohort(slug=COHORT, title="Noise", zone="Asia/Shanghai")
        client.publish_local_lab(COHORT, options.lab, slug=LAB)
        with busy(options.neighbours):
            for feedback in grade_again(client, archive, options.runs):
                found.append(feedback)
                tell(len(found), feedback)
    points = [feedback["points"] for feedback in found]
    cpu = [s for feedback in found for s in seconds(feedback, "train", "cpu")]
    wall = [s for feedback in found for s in seconds(feedback, "train", "wall")]
    same = len(set(points)) == 1 and points[0] is not None
    figures = {
        "benchmark": "noise",
        "runs": len(found),
        "same_points": same,
        "points": points,
        "verdicts": [feedback["verdict"] for feedback in found],
        "train_cpu": cpu,
        "train_wall": wall,
        "repeats": len(cpu) - len(found),
        "cv_cpu": round(pstdev(cpu) / mean(cpu), 3) if cpu else None,
        "cv_wall": round(pstdev(wall) / mean(wall), 3) if wall else None,
        "wall_over_cpu": round(sum(wall) / sum(cpu), 3) if cpu else None,
    }
    print(json.dumps(figures))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
