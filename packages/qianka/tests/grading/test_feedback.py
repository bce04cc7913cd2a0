"""What a student is told, and what is kept from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.grading import feedback, flags, labfile
from qianka.grading.advice import advise
from qianka.grading.judge import Evidence, judge
from qianka.grading.model import Lab
from qianka.testing.labfolders import LAB_TOML, figures, style_figures, write_files

OK = {"state": "COMPLETED", "cpu": 10.0, "wall": 10.04, "peak_memory": 1 << 20, "isolation": "full"}
SECRET = "LABELS-3-1-4-1-5"


@pytest.fixture(scope="module")
def lab() -> Lab:
    return labfile.parse(LAB_TOML, Path("lab"))


def told(lab: Lab, evidence: Evidence) -> dict[str, Any]:
    return feedback.for_student(lab, judge(lab, evidence), evidence)


def failing(stage: str, stderr: str) -> Evidence:
    results = {"train": OK, "predict": OK, "style": OK}
    results = {**results, stage: {**OK, "state": "FAILED"}}
    return Evidence(results=results, stderr={stage: stderr}, style=json.loads(style_figures()))


def traceback(kind: str, message: str, path: str = "/work/code/predict.py") -> str:
    return f'x\nTraceback (most recent call last):\n  File "{path}", line 7, in <module>\n    f()\n{kind}: {message}\n'


def test_training_tells_type_message_file_and_line(lab: Lab) -> None:
    found = told(lab, failing("train", traceback("ValueError", "bad shape", "/work/code/train.py")))
    assert (found["exception"], found["message"], found["file"], found["line"]) == (
        "ValueError",
        "bad shape",
        "code/train.py",
        7,
    )


def test_predicting_tells_the_type_alone(lab: Lab) -> None:
    found = told(lab, failing("predict", traceback("ValueError", SECRET)))
    assert (found["exception"], found["message"], found["file"], found["line"]) == ("ValueError", None, None, None)
    assert SECRET not in json.dumps(found)


def test_a_made_up_exception_carries_nothing_out(lab: Lab) -> None:
    found = told(lab, failing("predict", traceback("Labels_3_1_4_1_5", "x")))
    assert found["exception"] == "Exception"


def test_a_place_outside_the_hand_in_is_not_named(lab: Lab) -> None:
    found = told(lab, failing("train", traceback("KeyError", "'x'", "/usr/lib/python3/json.py")))
    assert (found["file"], found["line"]) == (None, None)


def test_a_hand_in_run_without_mounts_is_recognised_by_its_own_path(lab: Lab) -> None:
    evidence = failing("train", traceback("KeyError", "'x'", "/data/trees/abc/code/train.py"))
    evidence = Evidence(**{**vars(evidence), "tree": "/data/trees/abc"})
    assert told(lab, evidence)["file"] == "code/train.py"


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\"'><img src=x onerror=y>", "&amp;\x00\u202e"])
def test_everything_in_the_page_is_escaped(lab: Lab, language: Any, text: str) -> None:
    found = told(lab, failing("train", traceback("ValueError", text, f"/work/{text}.py".replace("\n", ""))))
    page = feedback.to_html(found, language)
    assert "<script" not in page
    assert "<img" not in page
    assert page.startswith("<section")


def test_findings_say_what_went_wrong_where(lab: Lab) -> None:
    found = told(lab, failing("train", traceback("ValueError", "bad shape", "/work/code/train.py")))
    assert feedback.findings(found, "en") == ["stage train · code/train.py:7 · ValueError: bad shape"]
    assert feedback.findings(found, "zh")[0].startswith("阶段 train")
    hidden = told(lab, failing("predict", traceback("ValueError", SECRET)))
    assert feedback.findings(hidden, "en") == ["stage predict · ValueError"]
    assert feedback.findings({}, "en") == []
    bare: dict[str, Any] = {
        "verdict": "infra_error",
        "stage": None,
        "file": None,
        "exception": None,
        "encoding": [],
        "problems": [],
    }
    assert feedback.findings(bare, "zh") == []


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_verdict_makes_a_page(lab: Lab, verdict: Verdict, language: Any) -> None:
    from qianka.services.attempts.outcome import _bare_feedback

    page = feedback.to_html(_bare_feedback(verdict), language)
    assert (VERDICTS[verdict].zh if language == "zh" else VERDICTS[verdict].en) in page


def test_the_page_of_a_grade_lists_every_check(lab: Lab) -> None:
    results = dict.fromkeys(("train", "predict", "style", "judge"), OK)
    reference = {"train": {"cpu": 10.0, "wall": 10.0, "peak_memory": 1 << 20}}
    evidence = Evidence(
        results=results, score=json.loads(figures()), style=json.loads(style_figures()), reference=reference
    )
    page = feedback.to_html(told(lab, evidence), "zh")
    for word in ("准确率", "速度", "内存", "代码风格", "100 / 100"):
        assert word in page


def test_advice_fits_the_cause() -> None:
    network = advise(Verdict.CRASHED, "train", "urllib.error.URLError", "<urlopen error Name or service not known>")
    assert "no network" in network.en
    todo = advise(Verdict.CRASHED, "train", "NotImplementedError", "")
    assert "TODO" in todo.en
    memory = advise(Verdict.OUT_OF_MEMORY, "train", None, "")
    assert "batch_size" in memory.en
    assert "segmentation" in advise(Verdict.CRASHED, "train", None, "", 11).en.lower()


def test_sources_are_searched_without_being_run(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "x = 1\nimport gc\ngc.get_objects()\n", "conftest.py": "", "ok.py": "print(1)\n"})
    (tmp_path / "binary.py").write_bytes(b"\xff\x00" * 1000)
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    found = flags.of_sources(tmp_path)
    assert {(flag.code, flag.where) for flag in found} == {("inspects", "a.py:3"), ("hooks", "conftest.py")}
