"""The sample submissions of a lab and what each must get: they are the lab's tests, and the demo's hand-ins."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qianka.errors import BadInput, Text

if TYPE_CHECKING:
    from qianka.schemas.submissions import Attempt, HandedIn

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXPECT = "expect.toml"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A folder below samples/ and the expectation in its expect.toml."""

    name: str
    folder: Path
    verdict: str
    points: tuple[float, float]
    """least and most"""
    flags: tuple[str, ...] = ()
    """what staff must be told of it"""
    needs_isolation: bool = False
    """not run without a sandbox: it attacks the machine or leans on limits"""
    archive: str | None = None
    """a ready-made archive to hand in instead of the folder"""

    @property
    def path(self) -> Path:
        """What is handed in: the archive, or the folder (its expect.toml is left out)."""
        return self.folder / self.archive if self.archive else self.folder


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a sample got, and where that differs from what it states."""

    sample: Sample
    verdict: str
    points: float | None
    differences: tuple[Text, ...]


def load(lab: Path) -> list[Sample]:
    """The samples of a lab folder, by name. Raises BadInput naming the file and the key."""
    folder = lab / "samples"
    if not folder.is_dir():
        return []
    return [_load(one) for one in sorted(folder.iterdir()) if (one / EXPECT).exists()]


def _load(folder: Path) -> Sample:
    file = folder / EXPECT
    try:
        found: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
        low, high = found["points"]
        return Sample(
            name=folder.name,
            folder=folder,
            verdict=str(found["verdict"]),
            points=(float(low), float(high)),
            flags=tuple(found.get("flags", ())),
            needs_isolation=bool(found.get("needs_isolation", False)),
            archive=found.get("archive"),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            Text(f"{file}：读不懂（{error}）", f"{file}: cannot be read ({error})"),
            Text(
                'expect.toml 要有 verdict = "…" 和 points = [最低, 最高]',
                'expect.toml needs verdict = "…" and points = [least, most]',
            ),
        ) from error


def judge(sample: Sample, verdict: str, points: float | None, flags: Sequence[str] | None) -> Outcome:
    """Compare what a sample got with what it states; `flags` None: not known to the caller."""
    found: list[Text] = []
    if verdict != sample.verdict:
        found.append(
            Text(f"判定应为 {sample.verdict}，得到 {verdict}", f"verdict {sample.verdict} expected, got {verdict}")
        )
    low, high = sample.points
    if not low <= (points or 0.0) <= high:
        got = "-" if points is None else f"{points:g}"
        found.append(Text(f"得分应在 {low:g}–{high:g}，得到 {got}", f"points {low:g}-{high:g} expected, got {got}"))
    missing = [] if flags is None else [flag for flag in sample.flags if flag not in flags]
    if missing:
        names = ", ".join(missing)
        found.append(Text(f"没有标出：{names}", f"not flagged: {names}"))
    return Outcome(sample=sample, verdict=verdict, points=points, differences=tuple(found))


def flags(attempt: Attempt) -> list[str] | None:
    """What staff are told of an attempt; None when the caller is not staff."""
    if attempt.staff_notes is None:
        return None
    return [str(flag.get("code")) for flag in attempt.staff_notes.get("flags", [])]


def refused(sample: Sample, handed: HandedIn) -> Outcome | None:
    """The outcome of a hand-in that was not taken for grading; None when it is being graded."""
    if handed.attempt is not None:
        return None
    return judge(sample, handed.submission.state, None, None)
