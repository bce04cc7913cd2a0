"""How far a public score drifts from the truth when a board is asked with random answers: plain against the Ladder.

    python benchmarks/ladder.py [--rows 1000] [--asked 1000] [--seeds 20]

The attack (Blum and Hardt 2015, section 4): random answers to balanced binary rows, each told a score; the
majority vote of those that were told more than one half (with the Ladder: of those that moved it, and of those
told more than one half) is entered last. The truth is 50 %. Drift: the highest score told to the attacker, less
the truth, in points. Scores, losses and the Ladder are the product's own functions. The last line is one JSON
object; the exit status is 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from statistics import mean

from qianka.grading import ladder, scoring
from qianka.grading.ladder import Rung
from qianka.grading.metrics import METRICS

METRIC = "accuracy"
TRUTH = 0.5
BARS = {"ladder_drift": 6.0, "ladder_to_plain": 1 / 3}


class Board:
    """What one attacker is told."""

    def __init__(self, truth: list[str], *, with_ladder: bool) -> None:
        self.truth = truth
        self.with_ladder = with_ladder
        self.rung: Rung | None = None
        self.told: list[float] = []

    def enter(self, guesses: list[str]) -> tuple[float, bool]:
        """The score that is told, and whether it moved."""
        score = scoring.score(METRIC, self.truth, guesses)
        moved = True
        if self.with_ladder:
            rung = ladder.climb(self.rung, score, scoring.losses(METRIC, self.truth, guesses), METRICS[METRIC])
            moved = rung is not None
            self.rung = rung or self.rung
            score = score if self.rung is None else self.rung.shown
        self.told.append(score)
        return score, moved


def vote(files: Sequence[list[str]], rows: int, source: random.Random) -> list[str]:
    """The majority of files row by row; a draw is decided by chance."""
    counts = [0] * rows
    for file in files:
        for row, label in enumerate(file):
            counts[row] += 1 if label == "1" else -1
    return [source.choice("01") if count == 0 else "1" if count > 0 else "0" for count in counts]


def attack(seed: int, rows: int, asked: int) -> tuple[float, float]:
    """Drift in points of the plain board and of the one with the Ladder, under the same random files."""
    source = random.Random(seed)
    truth = list("01" * (rows // 2))
    source.shuffle(truth)
    files = [source.choices("01", k=rows) for _ in range(asked - 2)]
    drifts = []
    for with_ladder in (False, True):
        board = Board(truth, with_ladder=with_ladder)
        replies = [board.enter(file) for file in files]
        board.enter(vote([f for f, (score, _) in zip(files, replies, strict=True) if score > TRUTH], rows, source))
        board.enter(vote([f for f, (_, moved) in zip(files, replies, strict=True) if moved], rows, source))
        drifts.append(100 * (max(board.told) - TRUTH))
    return drifts[0], drifts[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000, help="public rows")
    parser.add_argument("--asked", type=int, default=1000, help="entries of the attacker")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    drifts = [attack(seed, options.rows, options.asked) for seed in range(options.seeds)]
    plain, with_ladder = mean(one for one, _ in drifts), mean(other for _, other in drifts)
    figures = {
        "rows": options.rows,
        "asked": options.asked,
        "seeds": options.seeds,
        "plain_drift": round(plain, 2),
        "ladder_drift": round(with_ladder, 2),
        "ladder_worst_seed": round(max(other for _, other in drifts), 2),
        "ladder_to_plain": round(with_ladder / plain, 3),
        "bars": BARS,
    }
    figures["ok"] = with_ladder <= BARS["ladder_drift"] and with_ladder <= plain * BARS["ladder_to_plain"]
    print(json.dumps(figures))
    return 0 if figures["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
