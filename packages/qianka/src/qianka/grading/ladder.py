"""The Ladder: what a board tells of its public score without letting itself be climbed by asking often.

The parameter-free mechanism of A. Blum and M. Hardt, "The Ladder: A Reliable Leaderboard for Machine
Learning Competitions", arXiv:1502.04585 (2015), section 3.3: a new best is told only when it beats the
one before by more than the standard error of that difference, else the old score is told again. A
metric within 0 and 1 is told to the nearest multiple of 1 / rows, as there; others have no such scale.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from qianka.grading.metrics import Metric

_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Rung:
    """The hand-in on which somebody stands: the score that is told, and its losses on the public rows."""

    shown: float
    losses: Sequence[float]


def climb(stands: Rung | None, score: float, losses: Sequence[float], metric: Metric) -> Rung | None:
    """The new rung when `score` is told, None when `stands` is told again.

    `losses` are those of `scoring.losses`: row by row in the same order, lower is better.
    """
    if stands is not None and not _is_step(stands.losses, losses):
        return None
    return Rung(_rounded(score, len(losses), metric), losses)


def pack(losses: Sequence[float]) -> bytes:
    """Losses as they are kept: a double a row, compressed (right or wrong: about a bit)."""
    return zlib.compress(array("d", losses).tobytes(), 1)


def unpack(data: bytes) -> array[float]:
    """What `pack` was given."""
    found: array[float] = array("d")
    found.frombytes(zlib.decompress(data))
    return found


def _is_step(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether the mean loss fell by more than the standard error of the differences (n - 1 in the variance)."""
    rows = len(after)
    if rows != len(before):
        return True  # other answers than before: nothing to compare with
    gains = [old - new for old, new in zip(before, after, strict=True)]
    gain = math.fsum(gains) / rows
    if gain <= 0 or rows < 2:
        return gain > 0
    # In units of the largest: the squares of losses that are numbers may be above every number.
    unit = max(map(abs, gains))
    gain, gains = gain / unit, [one / unit for one in gains]
    variance = math.fsum((one - gain) * (one - gain) for one in gains) / (rows - 1)
    # One row alone gains exactly its own standard error: rounding must not let rows be asked for one by one.
    return gain > math.sqrt(variance / rows) * _ROUNDING


def _rounded(score: float, rows: int, metric: Metric) -> float:
    is_scaled = metric.low is not None and metric.high is not None
    return round(score * rows) / rows if is_scaled else score
