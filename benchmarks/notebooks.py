"""A class hands in its notebooks, fifteen of them damaged or hostile: every one ends, the batch never stops.

    python benchmarks/notebooks.py [--people 300] [--odd 15] [--isolation bubblewrap|none]

The lab is the nbgrader assignment of the test fixtures, imported; hand-ins go through the product's own client to a
platform of its own. A third of the plain ones is solved, a third half solved, a third untouched. Progress stands on
standard error. The last line is one JSON object; the exit status is 1 when a hand-in has not ended, or not as it must.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from qianka.adapters import assignments
from qianka.cli import trial
from qianka.notebooks.master import understand
from qianka.notebooks.reading import read_file
from qianka.notebooks.starter import hidden_lines
from qianka.testing.notebooks import Odd, odd_ones

ASSIGNMENT = Path(__file__).parent.parent / "packages/qianka/tests/notebooks/fixtures/nbgrader/source/ps1"
FILE = "ps1.ipynb"
AT_ONCE = 50
MEAN_HALF = ("accepted", "below_line")


def make_lab(folder: Path) -> None:
    """The imported assignment, with limits short enough for a class."""
    assignments.make(ASSIGNMENT, folder)
    rules = folder / "lab.toml"
    text = (
        rules.read_text("utf-8")
        .replace("seconds = 30", "seconds = 10")
        .replace("seconds_total = 300", "seconds_total = 120")
    )
    rules.write_text(text, "utf-8")


def half(solved: bytes) -> bytes:
    """A notebook in which one answer raises."""
    table = json.loads(solved)
    for cell in table["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "standardize":
            cell["source"] = "def standardize(x):\n    raise NotImplementedError()"
    return json.dumps(table).encode()


def hand_ins(lab: Path, people: int, odd: int) -> list[Odd]:
    """Everybody's notebook, the odd ones spread over the class."""
    solved, untouched = (lab / "solution" / FILE).read_bytes(), (lab / "starter" / FILE).read_bytes()
    kinds = [
        Odd("solved", solved, ("accepted",), 100, 100),
        Odd("half", half(solved), MEAN_HALF, 40, 80),
        Odd("untouched", untouched, ("below_line",), 0, 0),
    ]
    made = [kinds[number % 3] for number in range(people - odd)]
    for number, one in enumerate(odd_ones(solved, "mean")[:odd]):
        made.insert(number * max(1, people // max(1, odd)), one)
    return made


def secrets(master: Path) -> list[str]:
    """Lines of hidden tests, as they would stand in an answer of the API."""
    return [json.dumps(line, ensure_ascii=False)[1:-1] for line in hidden_lines(understand(read_file(str(master))))]


def put(one: Odd, folder: Path) -> Path:
    """A hand-in's folder."""
    folder.mkdir(parents=True)
    (folder / FILE).write_bytes(one.data)
    return folder


def wrong(one: Odd, attempt: Any) -> str | None:
    """What differs from what must come of it; None: nothing."""
    points = attempt.points or 0.0
    if attempt.state != "done" or attempt.verdict not in one.verdicts or not one.least <= points <= one.most:
        return f"{one.name}: {attempt.state} {attempt.verdict} {attempt.points}"
    return None


def main() -> int:
    """Run it, print figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--odd", type=int, default=15)
    parser.add_argument("--isolation", default="bubblewrap", choices=("bubblewrap", "none"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="qianka-notebooks-", ignore_cleanup_errors=True) as scratch:
        figures = measure(Path(scratch), options.people, options.odd, options.isolation)
    print(json.dumps(figures, ensure_ascii=False))
    is_fine = (
        figures["ended"] + figures["refused"] == options.people
        and not figures["wrong"]
        and not figures["hidden_lines_told"]
    )
    return 0 if is_fine else 1


def measure(scratch: Path, people: int, odd: int, isolation: str) -> dict[str, Any]:
    """One class."""
    make_lab(scratch / "ps1")
    class_ = hand_ins(scratch / "ps1", people, odd)
    paths = [put(one, scratch / "hand-ins" / f"{number:03}" / "work") for number, one in enumerate(class_)]
    platform = trial.start(scratch, isolation)
    began = time.monotonic()
    try:
        one = trial.Trial(platform)
        one.publish(scratch / "ps1", "ps1")
        handed = one.hand_in_all([(path, f"s{number:03}") for number, path in enumerate(paths)])
        attempts = {
            hand.attempt.id: kind for hand, kind in zip(handed, class_, strict=True) if hand.attempt is not None
        }
        taken = time.monotonic() - began
        done: set[str] = set()

        def tell(attempt: Any) -> None:
            if attempt.verdict is not None and attempt.id not in done:
                done.add(attempt.id)
                if len(done) % 20 == 0:
                    print(f"{len(done)} of {len(attempts)}, {time.monotonic() - began:.0f} s", file=sys.stderr)

        ended: dict[str, Any] = {}
        names = list(attempts)
        for at in range(0, len(names), AT_ONCE):  # the list of topics of one stream is bounded
            ended |= one.follow(names[at : at + AT_ONCE], tell)
        whole = time.monotonic() - began
    finally:
        platform.stop()
    jobs = [job for attempt in ended.values() for job in attempt.jobs if job.started_at and job.ended_at]
    walls = [(job.ended_at - job.started_at).total_seconds() for job in jobs]
    lines = secrets(scratch / "ps1" / "master" / FILE)
    told = [attempt.model_dump_json(exclude={"staff_notes"}) for attempt in ended.values()]
    return {
        "people": people,
        "odd": odd,
        "isolation": isolation,
        "handed_in": len(handed),
        "graded": len(attempts),
        "refused": sum(hand.attempt is None for hand in handed),
        "ended": len(ended),
        "verdicts": dict(Counter(str(attempt.verdict) for attempt in ended.values())),
        "wrong": [text for id, attempt in ended.items() if (text := wrong(attempts[id], attempt)) is not None][:20],
        "hand_in_seconds": round(taken, 1),
        "seconds": round(whole, 1),
        "seconds_a_notebook": round(whole / people, 2),
        "run_seconds_median": round(median(walls), 2) if walls else None,
        "hidden_lines_told": sum(line in text for line in lines for text in told),
    }


if __name__ == "__main__":
    sys.exit(main())
