"""lab.toml: the golden sample, the schema, and mistakes that name file, line and key in both languages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from qianka.grading import labfile
from qianka.grading.labchecks import KINDS
from qianka.grading.metrics import METRICS
from qianka.grading.model import MetricCheck, StyleCheck, TimeCheck
from qianka.grading.reader import LabError
from qianka.grading.toml_lines import scan
from qianka.testing.labfolders import LAB_TOML

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONTRACTS = Path(__file__).resolve().parents[4] / "contracts"
SAMPLE = (CONTRACTS / "samples" / "lab.toml").read_text("utf-8")
SCHEMA: dict[str, Any] = json.loads((CONTRACTS / "lab.schema.json").read_text("utf-8"))


def mistakes(text: str) -> list[tuple[int, str, str]]:
    """(line, key, English sentence) of every mistake in a lab.toml."""
    with pytest.raises(LabError) as caught:
        labfile.parse(text, Path("lab"))
    for problem in caught.value.problems:
        assert problem.file == "lab.toml"
        assert problem.text.zh
        assert problem.text.zh != problem.text.en
    return [(problem.line, problem.key, problem.text.en) for problem in caught.value.problems]


def line_of(text: str, piece: str) -> int:
    return text[: text.index(piece)].count("\n") + 1


@pytest.mark.parametrize("name", ["lab-tests.toml", "lab-notebook.toml"])
def test_samples_of_labs_without_training_keep_the_schema_and_are_read(name: str) -> None:
    text = (CONTRACTS / "samples" / name).read_text("utf-8")
    jsonschema.Draft202012Validator(SCHEMA).validate(tomllib.loads(text))
    lab = labfile.parse(text, Path("lab"))
    assert (lab.train, lab.predict, lab.predictions, lab.board) == (None, None, None, None)
    (check,) = lab.paired
    assert name == f"lab-{check.kind}.toml"
    assert check.peer.resources.memory == int(tomllib.loads(text)["check"][0]["memory_mb"]) << 20


def test_the_golden_sample_is_read_as_it_is_meant() -> None:
    lab = labfile.parse(SAMPLE, Path("lab"))
    metric, time, _, style = lab.checks
    assert isinstance(metric, MetricCheck)
    assert (metric.metric, metric.line, metric.full, metric.floor) == ("accuracy", 0.8, 0.95, 0.5)
    assert isinstance(time, TimeCheck)
    assert time.bands == ((1.5, 1.0), (3.0, 0.6), (6.0, 0.3))
    assert isinstance(style, StyleCheck)
    assert lab.compared == ("train",)
    assert lab.predictions.format == "csv"
    assert lab.handin.required == ("code/train.py", "code/predict.py", "README.md")


def test_the_golden_sample_obeys_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(tomllib.loads(SAMPLE), SCHEMA)
    jsonschema.validate(tomllib.loads(LAB_TOML), SCHEMA)


def test_schema_and_reader_know_the_same_keys() -> None:
    """Whatever the schema admits the reader reads: every table with every key set."""
    for name, table in SCHEMA["properties"].items():
        keys = table.get("properties", {})
        for key in keys:
            bad = f"[{name}]\n{key} = [[[]]]\n"
            assert "there is no such key" not in str(_texts(bad, key))
        unknown = f"[{name}]\nsomething = 1\n"
        if keys:
            assert "there is no such key" in str(_texts(unknown, "something"))
    names = {check["properties"]["kind"]["const"] for check in SCHEMA["properties"]["check"]["items"]["oneOf"]}
    assert names == set(KINDS)
    enum = SCHEMA["properties"]["check"]["items"]["oneOf"][0]["properties"]["metric"]["enum"]
    assert set(enum) == set(METRICS)


def _texts(text: str, key: str) -> list[str]:
    with pytest.raises(LabError) as caught:
        labfile.parse(text, Path("lab"))
    return [problem.text.en for problem in caught.value.problems if problem.key.endswith(key)]


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        ("weight = 60", "weigth = 60", "check.0.weigth", "no such key"),
        ("weight = 60", "", "check.0.weight", "missing"),
        ("weight = 60", "weight = 50", "check", "add up to 100, now 90"),
        ("[3.0, 0.6]", "[1.6, 0.6]", "check.1.bands", "1.5 times"),
        ("[[1.5, 1.0], [3.0, 0.6], [6.0, 0.3]]", "[[1.2, 1.0]]", "check.1.bands", "at least 1.5"),
        ("[3.0, 0.6]", "[3.0, 1.6]", "check.1.bands", "0..1"),
        ("[3.0, 0.6]", "[3.0]", "check.1.bands", "upper edge"),
        ('kind = "time"', 'kind = "tiem"', "check.1.kind", "one of metric, time, memory, style"),
        ("full = 0.95", "full = 0.7", "check.0.full", "no worse than"),
        ("line = 0.80", "line = nan", "check.0.line", "must be a number"),
        ("max_files = 100", "max_files = 1.5", "handin.max_files", "whole number"),
        ("max_files = 100", "max_files = true", "handin.max_files", "whole number"),
        ("weights = false", 'weights = "no"', "handin.weights", "true or false"),
        ('late = "mark"', 'late = "later"', "handin.late", "one of refuse, mark"),
        ('required = ["code/train.py"', 'required = ["../train.py"', "handin.required", "no relative path"),
        ('allowed = [".py"', 'allowed = [".pt"', "handin.allowed", "trained weights"),
        ('allowed = [".py"', 'allowed = ["py"', "handin.allowed", "begins with a dot"),
        ('cache = ["mnist-demo"]', 'cache = ["../x"]', "data.cache", "data set"),
        ('prepare = "data/prepare.py"', 'prepare = "/etc/passwd"', "data.prepare", "relative path"),
        ('argv = ["python", "/work/code/train.py"', 'argv = ["bash", "-c"', "train.argv", "begin with"),
        ('file = "predictions.csv"', 'file = "../p.csv"', "predictions.file", "without a folder"),
        ('file = "predictions.csv"', 'file = "p.pkl"', "predictions.file", ".csv or .npy"),
        ("wall = 120\ncpus", 'wall = "2min"\ncpus', "train.wall", "must be a number"),
        ("memory_mb = 1024\n\n[predict]", "memory_mb = 1\n\n[predict]", "train.memory_mb", "64..1048576"),
        ('[reference]\nfolder = "solution"\nruns = 3\n', "", "reference", "[reference] is needed"),
        ('title = "', 'titel = "', "titel", "no such key"),
        ("digits = 4", "digits = 40", "board.digits", "0..8"),
    ],
)
def test_a_mistake_names_its_line_and_key(old: str, new: str, key: str, says: str) -> None:
    assert old in SAMPLE
    text = SAMPLE.replace(old, new, 1)
    found = {at: (line, en) for line, at, en in mistakes(text)}
    line, sentence = found[key]
    assert says in sentence
    last = key.rsplit(".", 1)[-1]
    if f"{last} =" in text and new:
        assert text.splitlines()[line - 1].strip().startswith((last, "[[check]]"))


def test_all_mistakes_are_told_at_once_in_the_order_of_lines() -> None:
    text = SAMPLE.replace("max_mb = 5.0", "max_mb = -1").replace("digits = 4", "digits = 99")
    lines = [line for line, _, _ in mistakes(text)]
    assert len(lines) == 2
    assert lines == sorted(lines)


def test_a_syntax_error_names_its_line() -> None:
    text = SAMPLE.replace("max_files = 100", "max_files = = 100")
    ((line, _, sentence),) = mistakes(text)
    assert line == line_of(text, "max_files = =")
    assert "TOML" in sentence


def test_an_unfinished_file_names_its_last_line() -> None:
    ((line, _, _),) = mistakes('title = "x"\nnote = """\nabc\n')
    assert line >= 2


def test_a_file_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_bytes(b"# ok\n" + 'title = "实验"\n'.encode("gbk"))
    with pytest.raises(LabError) as caught:
        labfile.load(tmp_path)
    assert (caught.value.problems[0].line, caught.value.problems[0].text.en) == (2, "is not UTF-8")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_bytes(b"\xef\xbb\xbf" + SAMPLE.encode())
    assert labfile.load(tmp_path).title.zh == "手写数字识别（CPU）"


def test_a_folder_without_lab_toml(hostile_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        labfile.load(hostile_path)
    assert "cannot be read" in caught.value.message.en


def test_keys_inside_strings_and_later_tables_do_not_mislead_the_line_finder() -> None:
    text = 'a = """\n[handin]\nx = 1\n"""\n[handin]\nx = 2\n[[check]]\nkind = 1\n[[check]]\nkind = 2\n'
    lines = scan(text)
    assert lines[("handin", "x")] == 6
    assert lines[("check", "0", "kind")] == 8
    assert lines[("check", "1", "kind")] == 10
