"""Points for thrift: the peak measured from outside, over the reference's or in MB, by bands."""

from __future__ import annotations

from typing import Any

from qianka.errors import Text
from qianka.grading.checks.result import CheckResult, bands_text, rounded, share_of
from qianka.grading.model import MIB, MemoryCheck

TOLERANCE = 0.05
"""a peak this little above an edge counts as below: allocators differ from run to run"""


def peak(result: dict[str, Any]) -> float | None:
    """Peak of a completed run in bytes: of the card where one was used, else of the process tree."""
    value = result.get("peak_card_memory") or result.get("peak_memory")
    if result.get("state") != "COMPLETED" or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if value > 0 else None


def evaluate(check: MemoryCheck, run: dict[str, Any], reference: dict[str, Any], *, passed: bool) -> CheckResult:
    """Points by band; none below the metric's line."""
    title = Text("内存" + ("（预测）" if check.of == "predict" else ""), f"memory ({check.of})")
    mine = peak(run)
    base = MIB if check.unit == "mb" else reference.get(check.of, {}).get("peak_memory")
    facts = {"peak": mine, "reference": None if check.unit == "mb" else base}
    if mine is None or not base:
        zh, en = "没有测到内存，不计这一项", "no memory was measured: this check does not count"
        most = 0.0 if passed else check.weight  # below the line it earns nothing, measured or not
        return CheckResult(kind="memory", title=title, points=0.0, most=most, detail=Text(zh, en), facts=facts)
    value = mine / base
    bands = bands_text(check.bands, " MB" if check.unit == "mb" else "×")
    zh, en = f"峰值 {mine / MIB:.0f} MB", f"peak {mine / MIB:.0f} MB"
    if check.unit == "ratio":
        zh, en = f"{zh}，是参考解的 {value:.2f} 倍", f"{en}, {value:.2f} times the reference"
    zh, en = f"{zh}；档位 {bands.zh}", f"{en}; bands {bands.en}"
    if not passed:
        zh, en = zh + "。指标没达标，这项不给分", en + ". Below the metric's line: no points"
    share = share_of(check.bands, value, TOLERANCE) if passed else 0.0
    points = rounded(check.weight * share)
    return CheckResult(kind="memory", title=title, points=points, most=check.weight, detail=Text(zh, en), facts=facts)
