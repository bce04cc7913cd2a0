"""Our scripts with the interpreter and the packages of the student runtime: numpy, scikit-learn, black, flake8."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from qianka.grading import stages
from qianka.grading.figures import read_style
from qianka.testing.labfolders import write_files

pytestmark = pytest.mark.runtime
CLEAN = '"""A module."""\n\n\ndef add(a, b):\n    return a + b\n'
NUMPY = "import sys, numpy; numpy.save(sys.argv[1], eval(sys.argv[2], {'np': numpy}), allow_pickle=True)"


@pytest.fixture(scope="module")
def python(student_runtime: Path) -> Path:
    """The interpreter of the student runtime."""
    return student_runtime / "bin" / "python"


def style(python: Path, work: Path, out: Path) -> dict[str, Any]:
    """style.json for the files below `work`."""
    rules = json.dumps({"line_length": 100, "memory": 600 << 20, "seconds": 8})
    argv = [
        str(python),
        "-I",
        str(stages.HARNESS / "style.py"),
        "--work",
        str(work),
        "--out",
        str(out),
        "--rules",
        rules,
    ]
    subprocess.run(argv, check=True, timeout=120)
    found: dict[str, Any] = json.loads(out.read_text())
    read_style(found)
    return found


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_clean_code_is_clean(python: Path, work: Path, tmp_path: Path) -> None:
    write_files(work, {"code/train.py": CLEAN, "code/predict.py": CLEAN})
    found = style(python, work, tmp_path / "style.json")
    assert (found["files"], found["unformatted"], found["problems"], found["failed"]) == (2, 0, 0, [])


def test_problems_are_named_by_file_line_and_code(python: Path, work: Path, tmp_path: Path) -> None:
    write_files(work, {"code/train.py": "import os\nx=1\n", "code/ok.py": CLEAN})
    found = style(python, work, tmp_path / "style.json")
    assert found["unformatted_first"] == ["code/train.py"]
    assert {"path": "code/train.py", "line": 1, "code": "F401"} in found["problems_first"]


def test_a_configuration_of_ones_own_has_no_effect_and_is_told(python: Path, work: Path, tmp_path: Path) -> None:
    """A flake8 configuration can execute code; ours runs where none lies."""
    owned = tmp_path / "owned"
    evil = f"import pathlib\npathlib.Path({str(owned)!r}).touch()\n"
    write_files(
        work,
        {
            ".flake8": "[flake8]\nexclude = *\nextend-ignore = F,E,W\n[flake8:local-plugins]\nextension = X = evil:X\n",
            "pyproject.toml": "[tool.black]\nexclude = '.*'\nline-length = 999\n",
            "setup.cfg": "[flake8]\nignore = F401\n",
            "evil.py": evil,
            "code/train.py": "import os  # noqa\nx=1 # fmt: skip\n# flake8: noqa\n",
        },
    )
    found = style(python, work, tmp_path / "style.json")
    assert not owned.exists()
    assert found["configs"] == [".flake8", "pyproject.toml", "setup.cfg"]
    assert (found["noqa"], found["fmt_off"]) == (2, 1)
    assert "code/train.py" in found["unformatted_first"]
    assert "F401" in found["by_code"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"x = 1\x00\n",
        b"(" * 20_000,
        b"x = " + b"-" * 50_000 + b"1\n",
        b"# -*- coding: nonsense -*-\nx = 1\n",
        "# -*- coding: gbk -*-\nx = '训练'\n".encode("gbk"),
        b"def f(:\n",
        b"x = '''" + b"a" * 100_000,
        b"\tif x:\n y\n",
    ],
)
def test_hostile_sources_always_end_in_figures(python: Path, work: Path, tmp_path: Path, data: bytes) -> None:
    """C09, C12: whatever a source holds, the style stage writes figures."""
    (work / "code").mkdir()
    (work / "code" / "train.py").write_bytes(data)
    assert style(python, work, tmp_path / "style.json")["files"] == 1


def test_odd_names_links_and_giants(python: Path, work: Path, tmp_path: Path) -> None:
    write_files(work, {"-rf.py": CLEAN, "空 格.py": CLEAN, "new\nline.py": "x=1\n"})
    (work / "link.py").symlink_to("/etc/passwd")
    (work / "giant.py").write_bytes(b"x = 1\n" * 100_000)
    found = style(python, work, tmp_path / "style.json")
    assert (found["files"], found["unformatted"]) == (4, 2)
    assert found["unformatted_first"] == ["new\nline.py"]
    assert found["skipped"] == [{"path": "giant.py", "why": "size"}]


def test_tables_of_literals_are_counted(python: Path, work: Path, tmp_path: Path) -> None:
    write_files(work, {"t.py": "T = [" + "1, " * 9000 + "]\nS = '" + "x" * 5000 + "'\n"})
    found = style(python, work, tmp_path / "style.json")
    assert found["numbers"] == 9000
    assert found["longest"] == 5002


def score(python: Path, folder: Path, expression: str, metric: str = "accuracy", labels: Any = None) -> dict[str, Any]:
    """figures.json for predictions saved by numpy."""
    path = folder / "predictions.npy"
    subprocess.run([str(python), "-c", NUMPY, str(path), expression], check=True, timeout=60)
    (folder / "answers.csv").write_text("id,label\n" + "".join(f"{n},{n % 2}\n" for n in range(10)))
    kind = "label" if labels else "value"
    rules = {"metrics": [metric], "kind": kind, "id": "id", "column": "label", "labels": labels, "max_bytes": 100_000}
    argv = [str(python), "-I", str(stages.HARNESS / "score.py"), "--answers", str(folder / "answers.csv")]
    argv += ["--predictions", str(path), "--out", str(folder / "figures.json"), "--rules", json.dumps(rules)]
    subprocess.run(argv, check=True, timeout=60)
    found: dict[str, Any] = json.loads((folder / "figures.json").read_text())
    return found


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("np.arange(10).astype(float) % 2", "dtype"),
        ("np.array([str(n % 2) for n in range(10)])", "dtype"),
        ("np.array([[0, 1]] * 5)", "shape"),
        ("np.arange(9)", "shape"),
        ("np.array([{'a': 1}] * 10, dtype=object)", "not_npy"),
        ("np.arange(10)", "unknown_label"),
    ],
)
def test_arrays_of_another_form_are_refused(python: Path, tmp_path: Path, expression: str, code: str) -> None:
    found = score(python, tmp_path, expression, labels=["0", "1"])
    assert [problem["code"] for problem in found["problems"]] == [code]


def test_an_array_of_labels_is_scored(python: Path, tmp_path: Path) -> None:
    found = score(python, tmp_path, "np.arange(10, dtype='int64') % 2", labels=["0", "1"])
    assert found["scores"] == {"accuracy": 1.0}


@pytest.mark.parametrize(
    ("metric", "labels"),
    [
        ("f1_macro", ["0", "1"]),
        ("balanced_accuracy", ["0", "1"]),
        ("cohen_kappa", ["0", "1"]),
        ("f1_weighted", ["0", "1"]),
        ("roc_auc", None),
    ],
)
def test_metrics_of_scikit_learn_by_name(python: Path, tmp_path: Path, metric: str, labels: Any) -> None:
    expression = "np.arange(10) % 2" if labels else "(np.arange(10) % 2) * 0.5 + 0.2"
    assert score(python, tmp_path, expression, metric, labels)["scores"] == {metric: 1.0}


def test_nan_in_an_array_is_refused(python: Path, tmp_path: Path) -> None:
    found = score(python, tmp_path, "np.array([0.5] * 9 + [np.nan])", "roc_auc")
    assert found["problems"][0]["code"] == "not_finite"
    assert found["problems"][0]["first"][0]["id"] == "9"
