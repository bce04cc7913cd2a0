"""Assignments of nbgrader and otter become complete labs, and what is not carried over is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from qianka.adapters import assignments
from qianka.cli.main import main
from qianka.errors import BadInput, Conflict, NotFound
from qianka.grading import labfile, notebooks
from qianka.services.labs import check_lab

FIXTURES = Path(__file__).parent / "fixtures"
CASES = [("nbgrader/source/ps1", "ps1", 8), ("otter/hw01", "hw01", 6), ("otter-ok", "hw02", 3)]


@pytest.mark.parametrize(("folder", "name", "points"), CASES)
def test_the_lab_is_sound_and_gives_nothing_away(folder: str, name: str, points: float, tmp_path: Path) -> None:
    made = assignments.make(FIXTURES / folder, tmp_path / "lab")
    assert made.points == points
    report = check_lab(tmp_path / "lab")
    assert report.ok, report.as_json()
    errors, _ = notebooks.problems(labfile.load(tmp_path / "lab"))
    assert errors == []
    for part in (tmp_path / "lab" / "starter").rglob("*"):
        text = part.read_text("utf-8") if part.is_file() else ""
        for secret in (
            "-7, 7, 21",
            "an empty list was taken",
            "AEIOUxyz",
            "throws(50, 11)",
            "double('ab')",
            "default_rng",
        ):
            assert secret not in text, part
    assert (tmp_path / "lab" / "master" / f"{name}.ipynb").is_file()


def sources(path: Path) -> list[str]:
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return [cell["source"] for cell in cells]


def test_what_is_not_carried_over_is_said(tmp_path: Path) -> None:
    made = assignments.make(FIXTURES / "nbgrader" / "source" / "ps1", tmp_path / "a")
    left = " ".join(one.text.en for one in made.remarks if not one.carried)
    assert "graded by hand" in left
    assert "nbgrader_config.py" in left
    assert "explain" in (tmp_path / "a" / "IMPORT.md").read_text("utf-8")
    other = assignments.make(FIXTURES / "otter" / "hw01", tmp_path / "b")
    assert "q3" in " ".join(one.text.en for one in other.remarks if not one.carried)


def test_files_beside_the_notebook_come_along_twice(tmp_path: Path) -> None:
    assignments.make(FIXTURES / "nbgrader" / "source" / "ps1", tmp_path / "lab")
    for part in ("files", "starter"):
        assert (tmp_path / "lab" / part / "weather.csv").is_file()


def test_otters_expressions_become_sessions_and_failure_messages_hints(tmp_path: Path) -> None:
    assignments.make(FIXTURES / "otter" / "hw01", tmp_path / "lab")
    cells = json.loads((tmp_path / "lab" / "master" / "hw01.ipynb").read_text("utf-8"))["cells"]
    tests = {c["metadata"]["nbgrader"]["grade_id"]: c for c in cells if c["metadata"].get("nbgrader", {}).get("grade")}
    assert tests["q1-1"]["source"] == '>>> count_vowels("banana")\n3'
    assert tests["q1-2"]["metadata"]["qianka"]["hidden"] is True
    assert [tests[key]["metadata"]["nbgrader"]["points"] for key in ("q1-1", "q1-2", "q2-1", "q2-2")] == [1, 1, 1, 2]
    assert tests["q2-2"]["metadata"]["qianka"]["hint"] == "Look at how the seed is used."
    assert "grader" not in " ".join(sources(tmp_path / "lab" / "starter" / "hw01.ipynb"))


def test_refusals_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        assignments.make(tmp_path, tmp_path / "lab")
    folder = tmp_path / "two"
    for name in ("a.ipynb", "b.ipynb"):
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes((FIXTURES / "otter" / "hw01" / "hw01.ipynb").read_bytes())
    with pytest.raises(BadInput) as which:
        assignments.make(folder, tmp_path / "lab")
    assert which.value.reason == "which_notebook"
    assert assignments.make(folder, tmp_path / "lab", "b").points == 6
    with pytest.raises(Conflict):
        assignments.make(folder, tmp_path / "lab", "a")
    (folder / "a.ipynb").write_text("no notebook")
    with pytest.raises(BadInput):
        assignments.make(folder, tmp_path / "other", "a")


def test_the_command_reports_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "import", str(FIXTURES / "otter" / "hw01"), "--to", str(tmp_path / "lab"), "--json"]
    assert main(words) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["system"], said["points"]) == ("otter", 6)
    assert "lab.toml" in said["files"]
    assert said["not_carried"]


def lab_with(folder: Path, source: str, **own: Any) -> Path:
    from qianka.testing.notebooks import code, graded, notebook, written

    (folder / "master").mkdir(parents=True)
    (folder / "starter").mkdir()
    cells = [code("def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION", "f", solution=True)]
    (folder / "master" / "a.ipynb").write_bytes(written(notebook(*cells, graded(source, "t", 1, **own))))
    (folder / "lab.toml").write_text(
        'title = "x"\n[handin]\nrequired = ["a.ipynb"]\nallowed = [".ipynb"]\n'
        '[[check]]\nkind = "notebook"\nweight = 100\nmaster = "master/a.ipynb"\n'
    )
    return folder


def test_lab_check_refuses_a_hidden_test_that_needs_more_and_warns_of_a_visible_one(tmp_path: Path) -> None:
    hidden = check_lab(lab_with(tmp_path / "a", "x = f(1)\nassert open('out.txt')", hidden=True))
    assert [(problem.file, problem.line) for problem in hidden.errors] == [("master/a.ipynb", 2)]
    assert "t line 2" in hidden.errors[0].text.en
    visible = check_lab(lab_with(tmp_path / "b", "assert open('out.txt')"))
    assert visible.ok
    assert "forge" in " ".join(problem.text.en for problem in visible.warnings)


def test_lab_check_refuses_a_starter_with_hidden_tests(tmp_path: Path) -> None:
    lab = lab_with(tmp_path / "a", "assert f('a long secret') == 'a long secret'", hidden=True)
    (lab / "starter" / "a.ipynb").write_bytes((lab / "master" / "a.ipynb").read_bytes())
    assert [problem.file for problem in check_lab(lab).errors] == ["starter/a.ipynb"]
