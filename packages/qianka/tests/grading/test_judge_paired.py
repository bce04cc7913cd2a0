"""Labs graded by tests: verdicts, points, hints, and what students are never told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.jobs import JobState
from qianka.domain.verdicts import Verdict
from qianka.grading import feedback, labfile, masters, progress, stages
from qianka.grading.judge import Evidence, Judgement, judge
from qianka.grading.model import Lab
from qianka.grading.reader import LabError
from qianka.testing.labfolders import LAB_TOML, write_files
from qianka.testing.reports import item, report

TESTS_TOML = """\
title = "三个函数"

[handin]
required = ["code/solution.py"]

[[check]]
kind = "tests"
weight = 100
hints_after = 2
line = 0.5
"""
PEER = {"state": "COMPLETED", "reason": None, "closed": True, "exit_code": 0, "signal": None}
HINT = {"zh": "试试空列表。", "en": "Try an empty list."}
SECRET = item("test_secret", "failed", visible=False, group=("边界", "edges"), message="SECRET 41", hint=HINT)


@pytest.fixture(scope="module")
def lab() -> Lab:
    return labfile.parse(TESTS_TOML, Path("lab"))


def evidence(*items: dict[str, Any], peer: dict[str, Any] | None = None, **changes: Any) -> Evidence:
    """The stage `tests` completed with these items."""
    result = {"state": "COMPLETED", "exit_code": 0, "wall": 2.0, "node": "n1", "peer": {**PEER, **(peer or {})}}
    made = {"results": {"tests": result}, "reports": {"tests": report(*items)}}
    return Evidence(**{**made, **changes})


def told(lab: Lab, found: Judgement, seen: Evidence) -> dict[str, Any]:
    """The feedback, as the student gets it."""
    told: dict[str, Any] = json.loads(json.dumps(feedback.for_student(lab, found, seen)))
    feedback.to_html(told, "zh")
    return told


def test_all_pass(lab: Lab) -> None:
    seen = evidence(item("test_a"), item("test_b", visible=False, group=("边界", "edges")))
    found = judge(lab, seen)
    assert (found.verdict, found.points, found.max_points, found.score) == (Verdict.ACCEPTED, 100, 100, None)
    assert told(lab, found, seen)["metric"] is None


def test_points_follow_the_weights_of_the_tests_and_the_line_decides(lab: Lab) -> None:
    seen = evidence(item("test_a", points=3), item("test_b", "failed", points=5, message="assert a"))
    found = judge(lab, seen)
    assert (found.verdict, found.points) == (Verdict.BELOW_LINE, 37.5)
    (check,) = told(lab, found, seen)["checks"]
    assert "test_b: failed: assert a" in check["detail"]["en"]
    assert "测试" in found.advice.zh
    exactly = judge(lab, evidence(item("test_a", points=1), item("test_b", "failed", points=1)))
    assert (exactly.verdict, exactly.points) == (Verdict.ACCEPTED, 50)


@pytest.mark.parametrize("tries", [0, 1, 2, 7])
def test_of_hidden_tests_the_group_and_the_count_are_told_and_hints_after_two_tries(lab: Lab, tries: int) -> None:
    seen = evidence(item("test_a"), SECRET, tries=tries)
    found = judge(lab, seen)
    whole = json.dumps(told(lab, found, seen), ensure_ascii=False)
    for hidden in ("SECRET", "41", "test_secret", "Traceback"):
        assert hidden not in whole
    assert "edges 0 of 1" in whole
    assert ("Try an empty list." in whole) == (tries >= 2)
    assert "SECRET 41" in json.dumps(feedback.for_staff(found, seen))


def test_the_page_lists_tests_below_each_other_and_escapes_what_the_student_s_code_said(lab: Lab) -> None:
    odd = item("test_b", "raised", exception="Odd", message="<b>'x'; &y</b>", file="code/a.py", line=3)
    seen = evidence(item("test_a"), odd)
    page = feedback.to_html(told(lab, judge(lab, seen), seen), "en")
    assert "<br>test_b: your code raised an exception: code/a.py:3 Odd: &lt;b&gt;&#x27;x&#x27;<br>" in page
    assert "<b>" not in page


def test_a_hint_of_a_test_that_passed_is_not_told(lab: Lab) -> None:
    seen = evidence(item("test_a", hint=HINT), tries=9)
    assert "Try an empty list." not in json.dumps(told(lab, judge(lab, seen), seen))


RAISED = {"exception": "ZeroDivisionError", "message": "by zero", "file": "code/solution.py", "line": 3}


@pytest.mark.parametrize(
    ("items", "peer", "failure", "verdict", "exception"),
    [
        ([item("a", "failed")], {}, None, Verdict.BELOW_LINE, None),
        ([item("a", "raised", **RAISED)], {}, None, Verdict.CRASHED, "ZeroDivisionError"),
        (
            [item("a", "raised", visible=False, **{**RAISED, "exception": "Leak41"})],
            {},
            None,
            Verdict.CRASHED,
            "Exception",
        ),
        (
            [item("a", "raised")],
            {},
            {"state": "import", "exception": "ModuleNotFoundError", "message": "No module named 'x'"},
            Verdict.IMPORT_ERROR,
            "ModuleNotFoundError",
        ),
        (
            [item("a", "raised", visible=False)],
            {},
            {"state": "import", "exception": "Leak41", "message": ""},
            Verdict.CRASHED,
            "Exception",
        ),
        ([item("a", "timeout"), item("b", "late")], {}, None, Verdict.TIMEOUT, None),
        (
            [item("a", "ended"), item("b", "gone")],
            {"state": "OUT_OF_MEMORY", "reason": {"code": "out_of_memory", "limit": 5, "measured": 5}},
            None,
            Verdict.OUT_OF_MEMORY,
            None,
        ),
        (
            [item("a", "gone")],
            {"state": "FAILED", "reason": {"code": "output_limit", "limit": 5, "measured": 6}},
            None,
            Verdict.OUTPUT_LIMIT,
            None,
        ),
        ([item("a", "gone")], {"state": "FAILED", "signal": 9}, None, Verdict.CRASHED, None),
    ],
)
def test_when_nothing_passed_the_verdict_says_why(
    lab: Lab,
    items: list[dict[str, Any]],
    peer: dict[str, Any],
    failure: dict[str, Any] | None,
    verdict: Verdict,
    exception: str | None,
) -> None:
    whole = report(*items, failure=None if failure is None else {"file": None, "line": None, **failure})
    seen = evidence(peer=peer, reports={"tests": whole})
    found = judge(lab, seen)
    assert (found.verdict, found.points) == (verdict, 0.0)
    assert told(lab, found, seen)["exception"] == exception


def test_a_student_out_of_memory_in_one_test_keeps_the_others(lab: Lab) -> None:
    why = {"code": "out_of_memory", "limit": 5, "measured": 5}
    seen = evidence(item("a"), item("b", "ended"), peer={"state": "OUT_OF_MEMORY", "reason": why})
    assert (judge(lab, seen).verdict, judge(lab, seen).points) == (Verdict.ACCEPTED, 50)


def changed(**changes: Any) -> dict[str, Any]:
    return {**report(item("a")), **changes}


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {},
        changed(complete=False),
        changed(format=2),
        changed(items=[]),
        changed(items=[item("a", points=0)]),
        changed(items=[{**item("a"), "state": "great"}]),
        changed(items=[{**item("a"), "earned": 2.0}]),
        changed(items=[{**item("a"), "earned": 0.5}]),
        changed(items=[{**item("a", "failed"), "earned": 1.0}]),
        changed(items=[{**item("a"), "points": "1"}]),
        changed(items=[{**item("a"), "visible": 1}]),
        changed(items=[{**item("a"), "seconds": -1}]),
        changed(items=[{**item("a"), "hint": "x"}]),
        changed(items=[{**item("a"), "message": 3}]),
        changed(items=[item("a")] * 1001),
        changed(notes="none"),
        changed(failure="none"),
        changed(seconds=True),
    ],
    ids=range(20),
)
def test_a_report_that_is_not_as_it_should_be_is_a_platform_fault(lab: Lab, raw: object) -> None:
    found = judge(lab, evidence(reports={"tests": raw}))
    assert (found.verdict, found.points) == (Verdict.INFRA_ERROR, None)


@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", None])
def test_a_stage_of_ours_that_did_not_complete_grades_nobody(lab: Lab, state: str | None) -> None:
    result = None if state is None else {"state": state, "peer": PEER}
    seen = evidence(item("a"), results={"tests": result}, stderr={"tests": "the tests are broken: NameError"})
    found = judge(lab, seen)
    assert (found.verdict, found.points) == (Verdict.INFRA_ERROR, None)
    assert found.fault is not None
    assert "the tests are broken" in found.fault


def test_a_cancelled_stage_is_a_cancelled_attempt(lab: Lab) -> None:
    assert judge(lab, evidence(results={"tests": {"state": "CANCELLED"}})).verdict is Verdict.CANCELLED


def test_an_odd_test_and_a_vanished_side_are_flagged_for_staff(lab: Lab) -> None:
    found = judge(lab, evidence(item("a"), item("b", "broken"), item("c", "gone"), peer={"left_after": 3}))
    assert {flag.code for flag in found.flags} == {"test_broken", "peer_gone", "left_processes"}


def test_beside_a_metric_both_must_reach_their_lines() -> None:
    text = LAB_TOML.replace("weight = 60", "weight = 40") + '\n[[check]]\nkind = "tests"\nweight = 20\n'
    lab = labfile.parse(text, Path("lab"))
    assert stages.names(lab) == ("train", "predict", "tests", "style", "judge")


def test_the_steps_of_a_lab_without_training(lab: Lab) -> None:
    assert stages.names(lab) == ("tests",)
    assert progress.next_step(lab, {}).submit == ("tests",)
    assert progress.next_step(lab, {"tests": JobState.RUNNING}) == progress.Step()
    assert progress.next_step(lab, {"tests": JobState.COMPLETED}).judge
    styled = TESTS_TOML.replace("weight = 100", "weight = 90") + '\n[[check]]\nkind = "style"\nweight = 10\n'
    both = labfile.parse(styled, Path("lab"))
    assert progress.next_step(both, {"tests": JobState.PENDING}) == progress.Step()
    assert progress.next_step(both, {"tests": JobState.RUNNING}).submit == ("style",)


def test_neither_side_is_given_what_is_the_other_s(lab: Lab, tmp_path: Path) -> None:
    paths = stages.Paths(
        tree=tmp_path / "tree",
        train_data=tmp_path / "none",
        test_data=tmp_path / "none",
        answers=tmp_path / "none",
        runtime=tmp_path / "runtime",
    )
    stage = stages.stage(lab, paths, "tests")
    peer = stage.spec["peer"]
    assert stage.spec["work"] is None
    assert str(tmp_path / "tree") not in json.dumps({k: v for k, v in stage.spec.items() if k != "peer"})
    assert [mount["target"] for mount in stage.spec["mounts"]] == [stages.JUDGE, "/lab"]
    assert (peer["work"], [mount["target"] for mount in peer["mounts"]]) == (str(tmp_path / "tree"), [stages.JUDGE])
    assert "tests" not in json.dumps(peer["argv"])
    assert stage.resources.memory == peer["resources"]["memory"] + stages.OUR_SIDE


MISTAKES = {
    'kind = "tests"\nweight = 100\nfiles = ["/etc/x.py"]': "check.0.files",
    'kind = "tests"\nweight = 100\nfiles = ["../x.py"]': "check.0.files",
    'kind = "tests"\nweight = 100\npublic = ["x.txt"]': "check.0.public",
    'kind = "tests"\nweight = 100\npath = "../.."': "check.0.path",
    'kind = "tests"\nweight = 100\nline = 2': "check.0.line",
    'kind = "tests"\nweight = 100\nseconds = 0': "check.0.seconds",
    'kind = "tests"\nweight = 100\nhints_after = -1': "check.0.hints_after",
    'kind = "style"\nweight = 100': "check",
    'kind = "notebook"\nweight = 100\nmaster = "x.ipynb"': "handin",
    'kind = "notebook"\nweight = 100\nmaster = "x.py"': "check.0.master",
}


@pytest.mark.parametrize("check", MISTAKES)
def test_mistakes_in_lab_toml_are_named(check: str) -> None:
    text = TESTS_TOML[: TESTS_TOML.index("[[check]]")] + "[[check]]\n" + check
    with pytest.raises(LabError) as caught:
        labfile.parse(text, Path("lab"))
    assert MISTAKES[check] in {problem.key for problem in caught.value.problems}


def test_training_tables_without_a_metric_are_a_mistake() -> None:
    with pytest.raises(LabError) as caught:
        labfile.parse(TESTS_TOML + "\n[train]\nwall = 5\n", Path("lab"))
    assert [problem.key for problem in caught.value.problems] == ["train"]


def test_test_files_are_looked_through_without_running_them(tmp_path: Path) -> None:
    public = TESTS_TOML + 'public = ["tests/test_a.py"]\n'
    lab = labfile.parse(public, tmp_path)
    assert [problem.text.en for problem in masters.problems(lab)] == ["there is no test file tests/test_*.py"]
    files = {
        "tests/test_a.py": "from qianka_tests import hidden\n\n@hidden()\ndef test_x(): pass\n",
        "tests/test_b.py": "def test_x(:\n",
        "tests/test_c.py": "raise SystemExit\ndef test_x(): pass\ndef test_x(): pass\n",
    }
    write_files(tmp_path, files)
    found = {(problem.file, problem.line) for problem in masters.problems(lab)}
    assert found == {("tests/test_a.py", 4), ("tests/test_b.py", 1), ("tests/test_c.py", 3)}


def test_what_the_student_s_side_used_is_told_too_coarsely_to_carry_hidden_inputs(lab: Lab) -> None:
    """An answer coded into the peak memory or the seconds of a try does not come through."""
    peaks = set()
    for bit in (0, 1):
        seen = evidence(peer={"state": "COMPLETED", "cpu": 2.1 + bit / 10, "peak_memory": (130 + bit) << 20})
        stage = told(lab, judge(lab, seen), seen)["stages"][0]
        peaks.add((stage["cpu"], stage["peak_memory"]))
    assert peaks == {(2.0, 192 << 20)}
