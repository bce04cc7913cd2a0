"""The judge on tables of results and figures: verdicts, points, and what never becomes a grade."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.domain.verdicts import Verdict
from qianka.errors import PlatformFault, Text
from qianka.grading import labfile
from qianka.grading.checks import metric, time
from qianka.grading.checks.result import share_of
from qianka.grading.figures import read_score, read_style
from qianka.grading.judge import Evidence, judge, passes, repeats
from qianka.grading.model import Lab, MetricCheck, TimeCheck
from qianka.testing.labfolders import LAB_TOML

REFERENCE = {"train": {"cpu": 10.0, "wall": 10.0, "peak_memory": 100 << 20}}
CLEAN = {
    "format": 1,
    "files": 2,
    "lines": 20,
    **dict.fromkeys(("unformatted", "problems", "noqa", "fmt_off", "numbers", "longest"), 0),
    **{name: [] for name in ("unformatted_first", "problems_first", "configs", "failed", "skipped")},
}


@pytest.fixture(scope="module")
def lab() -> Lab:
    return labfile.parse(LAB_TOML, Path("lab"))


def result(**changes: Any) -> dict[str, Any]:
    """result.json of a run that completed."""
    made: dict[str, Any] = {"state": "COMPLETED", "reason": None, "exit_code": 0, "signal": None, "wall": 10.0}
    made.update({"cpu": 10.0, "peak_memory": 100 << 20, "node": "n1", "disturbed": 1.0})
    return {**made, **changes}


def score(value: object = 0.95, **changes: Any) -> dict[str, Any]:
    """figures.json of a judge stage."""
    return {"format": 1, "ok": True, "rows": 2, "scores": {"accuracy": value}, **changes}


def evidence(**changes: Any) -> Evidence:
    """All stages completed, a score of 0.95, clean style."""
    results = {name: result() for name in ("train", "predict", "style", "judge")}
    results.update(changes.pop("results", {}))
    return Evidence(**{"results": results, "score": score(), "style": CLEAN, "reference": REFERENCE, **changes})


def test_all_is_well(lab: Lab) -> None:
    found = judge(lab, evidence())
    assert (found.verdict, found.points, found.max_points, found.score) == (Verdict.ACCEPTED, 100, 100, 0.95)


@pytest.mark.parametrize(
    ("train", "stderr", "verdict"),
    [
        ({"state": "TIMEOUT"}, "", "timeout"),
        ({"state": "TIMEOUT", "reason": {"code": "timeout_cpu"}}, "", "timeout"),
        ({"state": "OUT_OF_MEMORY"}, "", "out_of_memory"),
        ({"state": "FAILED", "reason": {"code": "output_limit"}}, "", "output_limit"),
        ({"state": "FAILED", "reason": {"code": "disk_full"}}, "", "disk_full"),
        ({"state": "FAILED", "reason": {"code": "process_limit"}}, "", "process_limit"),
        ({"state": "FAILED"}, "", "crashed"),
        ({"state": "FAILED", "signal": 11}, "", "crashed"),
        ({"state": "FAILED"}, "ModuleNotFoundError: No module named 'tensorflow'", "import_error"),
        ({"state": "FAILED"}, "ImportError: cannot import name 'x'", "import_error"),
        ({"state": "FAILED"}, "MemoryError", "out_of_memory"),
        ({"state": "FAILED"}, "RuntimeError: [enforce] DefaultCPUAllocator: can't allocate memory", "out_of_memory"),
        ({"state": "FAILED"}, "torch.OutOfMemoryError: CUDA out of memory.", "out_of_memory"),
        ({"state": "FAILED"}, "OSError: [Errno 28] No space left on device", "disk_full"),
        ({"state": "FAILED"}, "RuntimeError: can't start new thread", "process_limit"),
        ({"state": "FAILED"}, "ZeroDivisionError: division by zero", "crashed"),
        ({"state": "FAILED"}, "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xb1", "crashed"),
        ({"state": "CANCELLED"}, "", "cancelled"),
        ({"state": "NODE_FAIL"}, "", "infra_error"),
        ({"state": "NODE_FAIL", "reason": {"code": "sandbox"}}, "", "infra_error"),
        ({"state": "FAILED", "reason": {"code": "spawn"}}, "", "infra_error"),
        ({"state": "PREEMPTED"}, "", "infra_error"),
        ({"state": "nonsense"}, "", "infra_error"),
        ({"state": None}, "", "infra_error"),
    ],
)
def test_a_stage_that_fails_has_a_verdict(lab: Lab, train: dict[str, Any], stderr: str, verdict: str) -> None:
    tail = f'Traceback (most recent call last):\n  File "/work/a.py", line 1, in <module>\n{stderr}\n' if stderr else ""
    results = {"train": result(**train), "style": result()}
    found = judge(lab, Evidence(results=results, stderr={"train": tail}, style=CLEAN))
    assert found.verdict.value == verdict
    assert found.points == (None if verdict in ("infra_error", "cancelled") else 0)


def test_source_that_python_refuses(lab: Lab) -> None:
    tail = "  File \"/work/code/train.py\", line 1\nSyntaxError: (unicode error) Non-UTF-8 code starting with '\\xd1'\n"
    results = {"train": result(state="FAILED"), "style": result()}
    found = judge(lab, Evidence(results=results, stderr={"train": tail}, style=CLEAN))
    assert found.verdict is Verdict.BAD_ENCODING


@pytest.mark.parametrize("stage", ["style", "judge"])
@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL"])
def test_a_stage_of_ours_that_fails_is_no_grade(lab: Lab, stage: str, state: str) -> None:
    found = judge(lab, evidence(results={stage: result(state=state)}))
    assert (found.verdict, found.points, found.score) == (Verdict.INFRA_ERROR, None, None)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "abc", -5, 1e9, None, True, [1], 1.0001, -0.0001])
def test_a_score_that_cannot_be_is_no_grade(lab: Lab, value: object) -> None:
    """C13: NaN, "abc", -5 and 1e9 from the scorer."""
    found = judge(lab, evidence(score=score(value)))
    assert (found.verdict, found.points, found.score) == (Verdict.INFRA_ERROR, None, None)
    assert found.fault


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        "100",
        {},
        {"ok": "yes", "rows": 1},
        {"ok": True, "rows": -1, "scores": {"accuracy": 1.0}},
        {"ok": True, "rows": 1, "scores": {"accuracy": 1.0, "f1_macro": 1.0}},
        {"ok": True, "rows": 1, "scores": {"f1_macro": 1.0}},
        {"ok": False, "rows": 1},
        {"ok": False, "rows": 1, "problems": []},
        {"ok": False, "rows": 1, "problems": [{"code": 1, "count": 1, "first": []}]},
        {"ok": False, "rows": 1, "problems": [{"code": "x", "count": 1, "first": [{"line": "1"}]}]},
    ],
)
def test_figures_that_are_not_ours_are_refused(lab: Lab, raw: object) -> None:
    with pytest.raises(PlatformFault):
        read_score(raw, lab)
    assert not passes(lab, raw)


@pytest.mark.parametrize(
    "change", [{"files": -1}, {"unformatted": 3}, {"problems": 1e400}, {"failed": [1]}, {"noqa": "x"}]
)
def test_style_figures_that_are_not_ours_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(PlatformFault):
        read_style({**CLEAN, **change})


@pytest.mark.parametrize(("value", "points"), [(0.95, 60), (0.9, 60), (0.85, 48), (0.8, 36), (0.79, 0), (0.0, 0)])
def test_points_of_the_metric(lab: Lab, value: float, points: float) -> None:
    found = judge(lab, evidence(score=score(value)))
    assert found.checks[0].points == pytest.approx(points)
    assert found.verdict is (Verdict.ACCEPTED if value >= 0.8 else Verdict.BELOW_LINE)


def test_below_the_line_speed_and_thrift_earn_nothing_but_form_does(lab: Lab) -> None:
    found = judge(lab, evidence(score=score(0.1)))
    assert [check.points for check in found.checks] == [0, 0, 0, 15]


def test_where_lower_is_better() -> None:
    check = MetricCheck(weight=100, metric="mean_squared_error", line=10.0, full=1.0, floor=20.0, at_line=0.6)
    shares = [metric.share(check, value) for value in (0.0, 1.0, 5.5, 10.0, 15.0, 20.0, 99.0)]
    assert shares == pytest.approx([1, 1, 0.8, 0.6, 0.3, 0, 0])


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_better_score_never_earns_less(one: float, other: float) -> None:
    check = MetricCheck(weight=60, metric="accuracy", line=0.8, full=0.9, floor=0.5, at_line=0.6)
    low, high = sorted((one, other))
    assert 0 <= metric.share(check, low) <= metric.share(check, high) <= 1


@pytest.mark.parametrize(("cpu", "points"), [(5, 15), (10, 15), (15, 15), (15.1, 9), (30, 9), (30.1, 0), (99, 0)])
def test_points_of_time_go_by_bands_and_an_edge_is_the_better_one(lab: Lab, cpu: float, points: float) -> None:
    found = judge(lab, evidence(results={"train": result(cpu=cpu)}))
    assert found.checks[1].points == points


def test_the_median_of_repeats_counts_and_raw_times_are_kept(lab: Lab) -> None:
    results = {"train": result(cpu=16.0), "train#2": result(cpu=13.0), "train#3": result(cpu=14.0)}
    check = judge(lab, evidence(results=results)).checks[1]
    assert check.points == 15
    assert check.facts["seconds"] == [16.0, 13.0, 14.0]
    assert "3.5 s" in judge(lab, evidence(results=results, start_share=3.5)).checks[1].detail.en


def test_a_repeat_that_fails_is_left_out(lab: Lab) -> None:
    results = {"train": result(cpu=14.0), "train#2": result(state="NODE_FAIL", cpu=99.0), "train#3": result(cpu=13.0)}
    assert judge(lab, evidence(results=results)).checks[1].facts["ratio"] == pytest.approx(1.35)


@pytest.mark.parametrize(
    ("cpu", "wanted"), [(10.0, 0), (12.7, 0), (12.8, 2), (15.0, 2), (17.2, 2), (17.4, 0), (26.0, 2), (40.0, 0)]
)
def test_runs_are_repeated_within_15_percent_of_an_edge(lab: Lab, cpu: float, wanted: int) -> None:
    assert len(repeats(lab, evidence(results={"train": result(cpu=cpu)}))) == wanted


def test_a_disturbed_run_is_repeated_where_the_wall_clock_counts(lab: Lab) -> None:
    check = next(c for c in lab.checks if isinstance(c, TimeCheck))
    disturbed = [result(disturbed=1.2)]
    assert time.wants_repeat(replace(check, measure="wall"), disturbed, REFERENCE)
    assert not time.wants_repeat(check, disturbed, REFERENCE)


def test_nothing_is_repeated_for_a_hand_in_that_does_not_pass(lab: Lab) -> None:
    assert repeats(lab, evidence(score=score(0.1), results={"train": result(cpu=15.0)})) == ()


@pytest.mark.parametrize(("peak", "points"), [(100, 10), (150, 10), (157, 10), (158, 5), (262, 5), (263, 0)])
def test_points_of_memory_with_5_percent_in_favour(lab: Lab, peak: int, points: float) -> None:
    found = judge(lab, evidence(results={"train": result(peak_memory=peak << 20)}))
    assert found.checks[2].points == points


def test_style_is_half_black_half_flake8(lab: Lab) -> None:
    messy = {**CLEAN, "files": 4, "unformatted": 1, "problems": 10}
    assert judge(lab, evidence(style=messy)).checks[3].points == pytest.approx(15 * (0.75 + 0.5) / 2, abs=0.01)
    awful = {**CLEAN, "files": 4, "unformatted": 4, "problems": 999, "failed": ["flake8"]}
    assert judge(lab, evidence(style=awful)).checks[3].points == 0


def test_without_a_reference_only_what_can_be_compared_counts(lab: Lab) -> None:
    found = judge(lab, evidence(reference=None))
    assert (found.points, found.max_points) == (75, 75)


def test_the_size_of_a_log_changes_nothing(lab: Lab) -> None:
    """C14: whatever and however much was printed."""
    plain = judge(lab, evidence())
    for noise in ("训" * 100_000, "\x1b[31m\r" * 50_000, "\x00\xff" * 1000, '{"score": 100}'):
        noisy = judge(lab, evidence(stdout={"train": noise, "predict": noise}, stderr={"train": noise}))
        assert (noisy.verdict, noisy.points, noisy.score) == (plain.verdict, plain.points, plain.score)


def test_a_traceback_in_the_log_of_a_completed_run_changes_nothing(lab: Lab) -> None:
    fake = "Traceback (most recent call last):\nMemoryError\n"
    assert judge(lab, evidence(stderr={"train": fake, "predict": fake})).verdict is Verdict.ACCEPTED


def test_nan_in_the_training_log_is_advised_on(lab: Lab) -> None:
    found = judge(lab, evidence(score=score(0.1), stdout={"train": "epoch 1 loss=nan\n"}))
    assert "NaN" in found.advice.zh


def test_unreadable_sources_come_first(lab: Lab) -> None:
    what = (Text("第 3 行", "line 3"), Text("转换", "convert"))
    found = judge(lab, Evidence(encoding=(what,)))
    assert (found.verdict, found.points, found.advice) == (Verdict.BAD_ENCODING, 0, what[1])


@given(st.floats(0.01, 100, allow_nan=False))
def test_a_slower_program_never_earns_more(ratio: float) -> None:
    bands = ((1.5, 1.0), (3.0, 0.6))
    assert share_of(bands, ratio) >= share_of(bands, ratio * 1.01)
