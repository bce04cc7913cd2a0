"""The rules of a board of predictions, as board.toml declares them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from qianka.grading.metrics import METRICS, Metric

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class BoardRules:
    """What stays as it is while a board lives; kept as JSON with the board."""

    id_column: str
    column: str
    labels: tuple[str, ...] | None
    """the labels there are; None: those among the answers (or numbers, as the metric asks)"""
    max_mb: float
    split: Literal["hash", "usage"]
    public_share: float
    """of the rows, when split by hash"""
    split_by: str | None
    """column of the answers whose rows stay together, such as a patient; None: each row for itself"""
    a_day: int
    a_week: int | None
    total: int | None
    reset: str
    """local time at which a day of tries begins, such as 18:00"""
    selections: int
    """entries that may be chosen for the private ranking"""
    bonus: float
    """share of the ranked that earns the bonus, the whole tie at the line included"""
    ladder: bool
    group: int
    """people who may enter together; 1: everybody for themselves"""

    @property
    def max_bytes(self) -> int:
        return int(self.max_mb * MIB)

    def as_json(self) -> dict[str, Any]:
        """For the database."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> BoardRules:
        """What `as_json` gave; keys that a later version added are ignored."""
        known = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        if known.get("labels") is not None:
            known["labels"] = tuple(known["labels"])
        return cls(**known)


@dataclass(frozen=True, kw_only=True)
class BoardSpec:
    """A board.toml: the rules, and what may be changed later. Times are naive: local to the cohort's zone."""

    title: str
    title_en: str
    metric: str
    digits: int
    lab: str | None
    opens: datetime | None
    due: datetime | None
    reveal: datetime | None
    rules: BoardRules

    @property
    def measure(self) -> Metric:
        return METRICS[self.metric]
