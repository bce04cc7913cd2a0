"""What a check earned and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from qianka.errors import Text
from qianka.grading.model import Bands


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """Points of one check. `most` is 0 where the check could not apply (no reference in a practice run)."""

    kind: str
    title: Text
    points: float
    most: float
    detail: Text
    facts: dict[str, Any] = field(default_factory=dict)
    """the raw figures behind it, kept with the attempt"""

    def as_json(self) -> dict[str, Any]:
        """As it stands in the feedback."""
        return {
            "kind": self.kind,
            "title": self.title._asdict(),
            "points": self.points,
            "max": self.most,
            "detail": self.detail._asdict(),
            "facts": self.facts,
        }


def rounded(points: float) -> float:
    """Points as they are stored and shown: hundredths."""
    return round(points + 1e-9, 2)


def share_of(bands: Bands, value: float, tolerance: float = 0.0) -> float:
    """The share of the weight that `value` earns; an edge belongs to the better band."""
    for edge, share in bands:
        if value <= edge * (1 + tolerance):
            return share
    return 0.0


def is_near_edge(bands: Bands, value: float, within: float) -> bool:
    """Whether `value` lies so close to an edge that noise could decide the band."""
    return any(abs(value / edge - 1) <= within for edge, _ in bands)


def bands_text(bands: Bands, unit: str) -> Text:
    """`≤1.5× 100 %, ≤3× 60 %`."""
    listed = ", ".join(f"≤{edge:g}{unit} {share:.0%}" for edge, share in bands)
    return Text(listed, listed)
