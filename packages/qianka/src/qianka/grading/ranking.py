"""Ranks: what is shown as equal is ranked as equal (1, 2, 2, 4), who has no score stands last without a rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from qianka.grading.metrics import Metric


@dataclass(frozen=True, kw_only=True)
class Entry:
    """The best of one person: `score` None when nothing was accepted; `at` when it was handed in."""

    person: int
    score: float | None
    at: datetime


@dataclass(frozen=True)
class Ranked:
    """An entry with its rank (None: unranked) and its score as it is shown."""

    rank: int | None
    shown: str | None
    entry: Entry


def shown(score: float | None, digits: int) -> str | None:
    """The score as text with `digits` decimals; None for none, and for NaN or infinity, which never rank."""
    if score is None or not math.isfinite(score):
        return None
    text = f"{score:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def rank(entries: Sequence[Entry], metric: Metric, digits: int) -> list[Ranked]:
    """Best first; inside a tie whoever handed in earlier stands above, with the same rank."""
    texts = {entry.person: shown(entry.score, digits) for entry in entries}
    sign = -1.0 if metric.higher_is_better else 1.0

    def order(entry: Entry) -> tuple[bool, float, datetime, int]:
        text = texts[entry.person]
        return (text is None, 0.0 if text is None else sign * float(text), entry.at, entry.person)

    ranked: list[Ranked] = []
    for place, entry in enumerate(sorted(entries, key=order), 1):
        text = texts[entry.person]
        before = ranked[-1] if ranked else None
        number = before.rank if before is not None and before.shown == text else place
        ranked.append(Ranked(None if text is None else number, text, entry))
    return ranked


def top_share(ranked: Sequence[Ranked], share: float) -> list[Ranked]:
    """The best `share` of those with a rank, with the whole tie at the line."""
    placed = [row for row in ranked if row.rank is not None]
    count = math.ceil(len(placed) * share - 1e-9)
    last = placed[count - 1].rank if 0 < count <= len(placed) else 0
    return [row for row in placed if row.rank is not None and last is not None and row.rank <= last]
