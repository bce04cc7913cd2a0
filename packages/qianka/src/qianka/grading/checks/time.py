"""Points for speed: seconds of the hand-in over seconds of the reference on the same node, by bands.

CPU seconds by default: beside a neighbour the wall clock also counts waiting for a core. Both drift by
10-20 % within minutes, hence wide bands, a repeat near an edge, and the median.
"""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from qianka.errors import Text
from qianka.grading.checks.result import CheckResult, bands_text, is_near_edge, rounded, share_of
from qianka.grading.model import TimeCheck

RUNS = 3
NEAR = 0.15
DISTURBED = 1.05
"""wall over CPU above which a run timed by the wall clock was disturbed"""


def seconds(result: dict[str, Any], measure: str) -> float | None:
    """Seconds of one run by `measure`; None when the run did not complete or was not measured."""
    value = result.get(measure)
    if result.get("state") != "COMPLETED" or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and value > 0 else None


def ratio(check: TimeCheck, runs: list[dict[str, Any]], reference: dict[str, Any]) -> float | None:
    """Median of the runs over the reference's median; None when one of them is unknown."""
    mine = [value for run in runs if (value := seconds(run, check.measure)) is not None]
    base = reference.get(check.of, {}).get(check.measure)
    return median(mine) / base if mine and base else None


def wants_repeat(check: TimeCheck, runs: list[dict[str, Any]], reference: dict[str, Any]) -> bool:
    """Whether one run is not enough to tell the band."""
    value = ratio(check, runs, reference)
    if value is None or len(runs) >= RUNS:
        return False
    disturbed = check.measure == "wall" and any((run.get("disturbed") or 1.0) > DISTURBED for run in runs)
    return disturbed or is_near_edge(check.bands, value, NEAR)


def evaluate(
    check: TimeCheck, runs: list[dict[str, Any]], reference: dict[str, Any], *, passed: bool, start_share: float
) -> CheckResult:
    """Points by band; none below the metric's line: a program that learns nothing is fast."""
    title = Text("速度" + ("（预测）" if check.of == "predict" else ""), f"speed ({check.of})")
    value = ratio(check, runs, reference)
    times = [seconds(run, check.measure) for run in runs]
    facts = {"measure": check.measure, "ratio": value, "seconds": times, "reference": reference.get(check.of)}
    if value is None:
        zh, en = "没有测到时间，不计这一项", "no time was measured: this check does not count"
        most = 0.0 if passed else check.weight  # below the line it earns nothing, measured or not
        return CheckResult(kind="time", title=title, points=0.0, most=most, detail=Text(zh, en), facts=facts)
    shown = ", ".join(f"{t:.1f}" for t in times if t is not None)
    bands = bands_text(check.bands, "×")
    zh = f"{check.measure} {shown} 秒，是参考解的 {value:.2f} 倍；档位 {bands.zh}"
    en = f"{check.measure} {shown} s, {value:.2f} times the reference; bands {bands.en}"
    if check.of == "train":
        zh += f"。其中约 {start_share:g} 秒是固定的启动时间（导入 torch 等），参考解也有"
        en += f". About {start_share:g} s of it are fixed start-up (importing torch, ...), as in the reference"
    if not passed:
        zh, en = zh + "。指标没达标，这项不给分", en + ". Below the metric's line: no points"
    share = share_of(check.bands, value) if passed else 0.0
    points = rounded(check.weight * share)
    return CheckResult(kind="time", title=title, points=points, most=check.weight, detail=Text(zh, en), facts=facts)
