"""How fast a board is served and a file is scored, at a real server.

    python benchmarks/board.py [--people 300] [--entries 10000] [--rows 10000] [--looks 60]

Two boards with 300 people and 10,000 entries: one of predictions (with the Ladder) and one of a lab's own metric.
`board_ms`, `lab_board_ms`: the median time of the route over a kept connection less that of an idle health call
on the same connection, in turn; `…_after_entry_ms`: the same right after somebody entered, when nothing can come from a
cache. `score_ms`: reading, scoring both parts and the Ladder's losses of a 10,000-row CSV by the product's own
functions, the slowest metric; `enter_ms`: the whole request that enters one, commit and receipt included. The last line
is one JSON object; the exit status is 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from qianka.cli import embedded
from qianka.domain.people import Role
from qianka.grading import answers as answers_file
from qianka.grading import ladder, predictions
from qianka.grading.boardfile import spec_from
from qianka.grading.metrics import METRICS
from qianka.ids import new_id
from qianka.server.app import open_platform
from qianka.services import boards, events, people
from qianka.services.boards import standings
from qianka.services.boards.loading import of_row
from qianka.services.labs import publish
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.tables import Attempt, Board, Cohort, Entry, Lab, Person, Submission
from qianka.testing import caller_of, enroll, make_cohort, make_person, make_student
from qianka.testing.boards import board_toml, table
from qianka.testing.labfolders import make_lab_folder

BARS = {
    "board_ms": 30.0,
    "board_after_entry_ms": 30.0,
    "lab_board_ms": 30.0,
    "lab_board_after_grading_ms": 30.0,
    "score_ms": 100.0,
}
COHORT = "bench"


@dataclass
class Scene:
    """A class with two full boards, and tokens to ask with."""

    platform: Platform
    cohort: Cohort
    board: Board
    lab: Lab
    students: list[Person]
    token: str
    truth: dict[str, int]

    def file(self, source: random.Random, share: float) -> bytes:
        """A file that is right on about `share` of the rows."""
        rows = ((id, one if source.random() < share else 1 - one) for id, one in self.truth.items())
        return table("id,label", rows).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--looks", type=int, default=60)
    options = parser.parse_args()
    figures: dict[str, Any] = {name: getattr(options, name) for name in ("people", "entries", "rows")}
    figures["score_ms_by_metric"] = {name: score(name, options.rows) for name in METRICS}
    figures["score_ms"] = max(figures["score_ms_by_metric"].values())
    with tempfile.TemporaryDirectory(prefix="qianka-board-", ignore_cleanup_errors=True) as folder:
        figures |= serve(Path(folder), options)
    figures["bars"] = BARS
    figures["ok"] = all(figures[name] <= bar for name, bar in BARS.items())
    print(json.dumps(figures))
    return 0 if figures["ok"] else 1


def score(metric: str, rows: int, repeats: int = 7) -> float:
    """Milliseconds to read and score one file, the median of some."""
    source, kind = random.Random(1), METRICS[metric].column
    rules = spec_from({"title": metric, "metric": metric, "split": {"public": 0.5}}).rules
    if kind == "label":
        truth: list[Any] = [source.randrange(10) for _ in range(rows)]
        guesses: list[Any] = [one if source.random() < 0.8 else source.randrange(10) for one in truth]
    elif metric in ("roc_auc", "log_loss"):
        truth = [source.randrange(2) for _ in range(rows)]
        guesses = [min(0.999, max(0.001, 0.3 * one + 0.6 * source.random())) for one in truth]
    else:
        truth = [source.gauss(0, 1) for _ in range(rows)]
        guesses = [one + source.gauss(0, 1) for one in truth]
    hidden = answers_file.read(table(f"id,{kind}", enumerate(truth)).encode(), rules, metric, secrets.token_hex(32))
    data = table(f"id,{kind}", enumerate(guesses)).encode()
    took = []
    for _ in range(repeats):
        begun = time.perf_counter()
        found = predictions.read(io.BytesIO(data), hidden.columns, hidden.rows)
        scores = standings.score(found, hidden, metric, with_losses=True)
        ladder.climb(ladder.Rung(0.0, scores.losses), scores.public, scores.losses, METRICS[metric])
        ladder.pack(scores.losses)
        took.append(time.perf_counter() - begun)
    return round(1000 * median(took), 1)


def serve(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Start a server, fill two boards, measure."""
    data = folder / "data"
    handle = embedded.start(data, sandbox_backend="none", sandbox_minimum="none")
    scene = None
    try:
        scene = make_scene(folder, data, options)
        headers = {"Authorization": f"Bearer {scene.token}", "Accept-Language": "en"}
        with httpx.Client(base_url=handle.url, headers=headers, timeout=60, trust_env=False) as client:
            return measure(client, scene, options.looks)
    finally:
        handle.stop()
        if scene is not None:
            scene.platform.store.close()


def measure(client: httpx.Client, scene: Scene, looks: int) -> dict[str, Any]:
    """Milliseconds at the server."""
    paths = {
        "board": f"/api/cohorts/{COHORT}/boards/guess?limit=1000",
        "lab_board": f"/api/cohorts/{COHORT}/labs/lab1/board?limit=1000",
    }
    for path in paths.values():
        assert len(client.get(path).json()["entries"]) == len(scene.students)
    found: dict[str, Any] = {"health_ms": round(idle(client), 2)}
    for name, path in paths.items():
        found[f"{name}_ms"] = beside(client, path, looks)
    enters: list[float] = []
    source = random.Random(3)

    def enter() -> None:
        headers = {"Idempotency-Key": secrets.token_hex(8), "X-Filename": "p.csv"}
        data = scene.file(source, 0.9)
        begun = time.perf_counter()
        answer = client.post(f"/api/cohorts/{COHORT}/boards/guess/entries", content=data, headers=headers)
        enters.append(1000 * (time.perf_counter() - begun))
        assert answer.json()["entry"]["state"] == "scored", answer.text

    few = max(8, looks // 4)
    found["board_after_entry_ms"] = beside(client, paths["board"], few, enter)
    found["lab_board_after_grading_ms"] = beside(client, paths["lab_board"], few, lambda: grade(scene, source))
    found["enter_ms"] = round(median(enters), 1)
    return found


def beside(client: httpx.Client, path: str, looks: int, before: Callable[[], None] | None = None) -> float:
    """Median milliseconds of a route less those of a health call asked in turn with it."""
    took, health = [], []
    for _ in range(looks):
        if before is not None:
            before()
        took.append(timed(client, path))
        health.append(timed(client, "/api/health"))
    return round(max(0.0, median(took) - median(health)), 2)


def idle(client: httpx.Client) -> float:
    return median(timed(client, "/api/health") for _ in range(30))


def timed(client: httpx.Client, path: str) -> float:
    begun = time.perf_counter()
    answer = client.get(path)
    took = time.perf_counter() - begun
    assert answer.status_code == 200, answer.text
    return 1000 * took


def grade(scene: Scene, source: random.Random) -> None:
    """One more hand-in is graded: its rows, and the two events that the end of a grading tells."""
    now = scene.platform.now()
    submission = _submission(scene, source.choice(scene.students), now)
    attempt = _attempt(scene, submission, round(source.uniform(0.5, 0.99), 4), now)
    with scene.platform.store.transaction() as session:
        session.add(submission)
        session.flush()
        session.add(attempt)
        events.emit(session, scene.platform, f"attempt:{attempt.id}", "verdict")
        events.emit(session, scene.platform, f"board:{scene.lab.id}", "changed")


def make_scene(folder: Path, data: Path, options: argparse.Namespace) -> Scene:
    """A data directory with both boards full."""
    platform = open_platform(Settings(data_dir=str(data)))
    cohort = make_cohort(platform, COHORT)
    teacher = make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    students = [make_student(platform, cohort) for _ in range(options.people)]
    lab = publish(platform, caller_of(teacher), COHORT, make_lab_folder(folder / "lab1"))
    truth = {str(100_000 + n): n % 2 for n in range(options.rows)}
    source = folder / "guess"
    source.mkdir()
    (source / "board.toml").write_text(board_toml(public__ladder=True), "utf-8")
    (source / "answers.csv").write_text(table("id,label", truth.items()))
    board = boards.create(platform, caller_of(teacher), COHORT, source, "guess")
    token = people.issue_token(platform, caller_of(students[0]), "bench").secret
    scene = Scene(platform, cohort, board, lab, students, token, truth)
    fill(scene, options.entries)
    return scene


def fill(scene: Scene, entries: int) -> None:
    """Entries as if they had been made over weeks: rows alone, without their files."""
    source, platform = random.Random(2), scene.platform
    begun = platform.now() - timedelta(days=60)
    with platform.store.transaction() as session:
        for number in range(entries):
            who = scene.students[number % len(scene.students)]
            at, score = begun + timedelta(minutes=number), round(source.uniform(0.5, 0.95), 4)
            submission = _submission(scene, who, at)
            attempt = _attempt(scene, submission, score, at)
            session.add_all([submission, _entry(scene, who, number, score, at)])
            session.flush()
            session.add(attempt)
            if number % 500 == 499:
                session.flush()
                session.expunge_all()
        opened = of_row(session, scene.board)
        for who in scene.students:
            standings.renew(session, opened, f"p{who.id}")
        events.emit(session, platform, f"board:{scene.lab.id}", "changed")


def _submission(scene: Scene, who: Person, at: Any) -> Submission:
    return Submission(
        id=new_id("s"), cohort_id=scene.cohort.id, lab_id=scene.lab.id, person_id=who.id,
        idempotency_key=secrets.token_hex(8), filename="hw.zip", size=1024, archive_sha256=secrets.token_hex(32),
        tree_sha256=secrets.token_hex(32), state="accepted", submitted_at=at,
    )  # fmt: skip


def _attempt(scene: Scene, submission: Submission, score: float, at: Any) -> Attempt:
    return Attempt(
        id=new_id("a"), submission_id=submission.id, lab_id=scene.lab.id, person_id=submission.person_id, number=1,
        state="done", lab_version=scene.lab.version, verdict="accepted", points=80.0, max_points=100.0, score=score,
        figures={"scores": {"accuracy": score}}, feedback={"checks": []}, queued_at=at, ended_at=at,
    )  # fmt: skip


def _entry(scene: Scene, who: Person, number: int, score: float, at: Any) -> Entry:
    return Entry(
        id=new_id("e"), board_id=scene.board.id, owner=f"p{who.id}", person_id=who.id, number=number + 1,
        idempotency_key=secrets.token_hex(8), filename="p.csv", size=100_000, sha256=secrets.token_hex(32),
        state="scored", public=score, private=score, shown=score, charged=True, submitted_at=at,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
