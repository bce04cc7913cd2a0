"""Our scorer as it runs in the judge sandbox, started by path like there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from qianka.grading import labfile, stages
from qianka.grading.figures import read_score
from qianka.testing.labfolders import LAB_TOML

SCORE = stages.HARNESS / "score.py"
IDS = [str(n) for n in range(20)]
RIGHT = {id: str(int(id) % 10) for id in IDS}
LABELS = [str(n) for n in range(10)]
VALUE_RULES = {"metrics": ["mean_absolute_error"], "kind": "value", "column": "value", "labels": None}


class Bench:
    """A folder of answers and predictions, and the scorer over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rules: dict[str, Any] = {
            "metrics": ["accuracy"],
            "kind": "label",
            "id": "id",
            "column": "label",
            "labels": LABELS,
            "max_bytes": 10_000,
        }
        (folder / "predictions").mkdir()
        self.answer(RIGHT)

    def answer(self, answers: dict[str, str]) -> None:
        lines = "".join(f"{id},{value}\n" for id, value in answers.items())
        (self.folder / "answers.csv").write_text(f"id,{self.rules['column']}\n{lines}")

    def score(self, data: bytes | None, name: str = "predictions.csv") -> dict[str, Any]:
        """figures.json for a predictions file of these bytes."""
        path = self.folder / "predictions" / name
        if data is not None:
            path.write_bytes(data)
        return self.run(path)

    def run(self, path: Path) -> dict[str, Any]:
        out = self.folder / "figures.json"
        argv = [sys.executable, "-I", str(SCORE), "--answers", str(self.folder / "answers.csv")]
        argv += ["--predictions", str(path), "--out", str(out), "--rules", json.dumps(self.rules)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        found: dict[str, Any] = json.loads(out.read_text())
        return found

    def problems(self, text: str | bytes) -> dict[str, Any]:
        """Problems by code of a predictions file."""
        found = self.score(text if isinstance(text, bytes) else text.encode())
        assert not found["ok"]
        assert "scores" not in found
        return {problem["code"]: problem for problem in found["problems"]}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def rows(predictions: dict[str, str], header: str = "id,label") -> str:
    return header + "\n" + "".join(f"{id},{value}\n" for id, value in predictions.items())


def test_what_it_writes_is_what_the_judge_reads(bench: Bench) -> None:
    lab = labfile.parse(LAB_TOML, Path("lab"))
    assert read_score(bench.score(rows(RIGHT).encode()), lab).scores == {"accuracy": 1.0}
    assert read_score(bench.score(b"x"), lab).problems[0].code == "columns"


def test_order_and_line_ends_do_not_matter(bench: Bench) -> None:
    """C17: shuffled is the same score as sorted; so are Windows line ends."""
    wrong = {**RIGHT, "3": "0"}
    backwards = dict(reversed(list(wrong.items())))
    for text in (rows(wrong), rows(backwards), rows(wrong).replace("\n", "\r\n"), rows(wrong) + "\n"):
        assert bench.score(text.encode())["scores"] == {"accuracy": 0.95}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("NaN", "not_finite"),
        ("nan", "not_finite"),
        ("inf", "not_finite"),
        ("-inf", "not_finite"),
        ("", "empty_value"),
        ("1e400", "not_finite"),
        ("None", "not_number"),
        ("True", "not_number"),
        ('"0,5"', "not_number"),
        ("0x10", "not_number"),
        ("1_000", "not_number"),
        (" 1", "not_number"),
        ("１", "not_number"),
    ],
)
def test_a_value_that_is_no_number_is_refused_by_row_and_id(bench: Bench, value: str, code: str) -> None:
    """C16."""
    bench.rules.update(VALUE_RULES)
    bench.answer(RIGHT)
    good = dict.fromkeys(IDS, "0.5")
    found = bench.problems(rows({**good, "4": value}, "id,value"))
    assert found[code]["count"] == 1
    assert (found[code]["first"][0]["line"], found[code]["first"][0]["id"]) == (6, "4")


@pytest.mark.parametrize("value", ["7.0", "True", "seven", " 7", "-1", "10", "７"])
def test_a_label_that_is_none_is_refused(bench: Bench, value: str) -> None:
    assert bench.problems(rows({**RIGHT, "7": value}))["unknown_label"]["count"] == 1


def test_ids_are_counted_and_the_first_five_are_named(bench: Bench) -> None:
    """C17: missing, extra, duplicate (same or other label), changed by a spreadsheet."""
    missing = bench.problems(rows({id: RIGHT[id] for id in IDS[:9]}))["missing_id"]
    assert missing["count"] == 11
    assert [first["id"] for first in missing["first"]] == IDS[9:14]
    assert bench.problems(rows({**RIGHT, "99": "1"}))["unknown_id"]["first"][0]["line"] == 22
    for value in ("0", "1"):
        assert bench.problems(rows(RIGHT) + f"0,{value}\n")["duplicate_id"]["first"][0]["id"] == "0"
    floats = bench.problems(rows({f"{id}.0": value for id, value in RIGHT.items()}))
    assert (floats["unknown_id"]["count"], floats["missing_id"]["count"]) == (20, 20)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty_file"),
        (b"  \n", "empty_file"),
        (b"\xef\xbb\xbfid,label\n", "byte_order_mark"),
        ("id,label\n0,1\n".encode("utf-16"), "encoding"),
        ("id,label\n0,数\n".encode("gbk"), "encoding"),
        (b"\x1f\x8b\x08\x00", "compressed"),
        (b"PK\x03\x04....", "compressed"),
        (b"\x93NUMPY\x01\x00", "not_csv"),
        (b"id,label\n0,\x00\n", "not_csv"),
        (b"0,1\n1,1\n", "no_header"),
        (b",id,label\n0,0,1\n", "index_column"),
        (b"id;label\n0;1\n", "separator"),
        (b"id\tlabel\n0\t1\n", "separator"),
        (b"ID,Label\n0,1\n", "columns"),
        (b"id,label\n0,1,2\n", "columns_in_row"),
        (b'id,label\n0,"1\n', "malformed"),
        (b"id,label\n0," + b"9" * 5000 + b"\n", "malformed"),
    ],
)
def test_files_of_another_form_are_named(bench: Bench, data: bytes, code: str) -> None:
    assert code in bench.problems(data)


def test_a_file_beyond_the_cap_is_not_read(bench: Bench) -> None:
    path = bench.folder / "predictions" / "predictions.csv"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    assert bench.run(path)["problems"][0]["code"] == "too_big"


def test_no_file_says_what_lies_there_instead(bench: Bench) -> None:
    (bench.folder / "predictions" / "pred.csv").write_text("x")
    found = bench.score(None)["problems"][0]
    assert (found["code"], found["first"][0]["value"]) == ("missing_file", "pred.csv")


def test_a_link_is_no_file(bench: Bench) -> None:
    (bench.folder / "predictions" / "predictions.csv").symlink_to(bench.folder / "answers.csv")
    assert bench.score(None)["problems"][0]["code"] == "missing_file"


def test_a_pickle_is_never_opened(bench: Bench) -> None:
    payload = b"cposix\nsystem\n(S'touch " + str(bench.folder / "owned").encode() + b"'\ntR."
    found = bench.score(payload, "predictions.npy")
    assert found["problems"][0]["code"] == "not_npy"
    assert not (bench.folder / "owned").exists()


def test_answers_that_cannot_be_read_are_our_own_fault(bench: Bench) -> None:
    (bench.folder / "answers.csv").write_text("")
    with pytest.raises(RuntimeError, match="no answers"):
        bench.score(rows(RIGHT).encode())
    assert not (bench.folder / "figures.json").exists()


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss"])
def test_a_metric_that_is_not_defined_on_the_answers_is_our_own_fault(bench: Bench, metric: str) -> None:
    """C16: AUC with one class only."""
    bench.rules.update({**VALUE_RULES, "metrics": [metric]})
    bench.answer(dict.fromkeys(IDS, "1"))
    with pytest.raises(RuntimeError, match="both classes"):
        bench.score(rows(dict.fromkeys(IDS, "0.5"), "id,value").encode())


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("mean_absolute_error", 0.5),
        ("mean_squared_error", 0.25),
        ("root_mean_squared_error", 0.5),
        ("r2", 1 - 20 * 0.25 / (20 * 8.25)),
        ("log_loss", None),
    ],
)
def test_metrics_of_values(bench: Bench, metric: str, value: float | None) -> None:
    bench.rules.update({**VALUE_RULES, "metrics": [metric]})
    if value is None:
        bench.answer({id: str(int(id) % 2) for id in IDS})
        assert bench.score(rows(dict.fromkeys(IDS, "0.5"), "id,value").encode())["scores"][metric] == pytest.approx(
            0.6931, abs=1e-4
        )
        return
    bench.answer(RIGHT)
    predictions = {id: str(float(answer) + 0.5) for id, answer in RIGHT.items()}
    assert bench.score(rows(predictions, "id,value").encode())["scores"][metric] == pytest.approx(value)


def test_labels_that_are_not_declared_are_those_of_the_answers(bench: Bench) -> None:
    bench.rules["labels"] = None
    assert bench.score(rows(RIGHT).encode())["ok"]
    assert "unknown_label" in bench.problems(rows({**RIGHT, "1": "11"}))
