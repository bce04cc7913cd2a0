"""Scores predictions against answers; writes figures.json. No student code is anywhere near this process.

Whatever the predictions hold, the outcome is a figures.json: a score, or what is wrong with the file by line
and id. A mistake on our own side (answers unreadable, one class only) raises: no figures, so no grade.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import math
import os
import re
import stat
from typing import Any

FIRST = 5
FIELD = 200
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
LABEL_METRICS = {
    "balanced_accuracy": ("balanced_accuracy_score", {}),
    "f1_macro": ("f1_score", {"average": "macro", "zero_division": 0}),
    "f1_weighted": ("f1_score", {"average": "weighted", "zero_division": 0}),
    "cohen_kappa": ("cohen_kappa_score", {}),
}
VALUE_METRICS = ("roc_auc", "log_loss", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "r2")


class Problems:
    """What is wrong with the predictions: a count and the first offenders of each kind."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = {}

    def add(self, code: str, line: int | None = None, id: str | None = None, value: str | None = None) -> None:
        """Count one offender of kind `code`."""
        entry = self.found.setdefault(code, {"code": code, "count": 0, "first": []})
        entry["count"] += 1
        if len(entry["first"]) < FIRST:
            entry["first"].append({"line": line, "id": id, "value": None if value is None else value[:40]})

    def listed(self) -> list[dict[str, Any]]:
        """All kinds, in the order in which they were met."""
        return list(self.found.values())


def read_answers(path: str, id_column: str, column: str) -> dict[str, str]:
    """Answers by id, in the order of the file. Raises ValueError when they are not what they should be."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        answers = {row[id_column]: row[column] for row in rows}
    if not answers:
        raise ValueError("there are no answers")
    return answers


def read_bytes(path: str, limit: int, problems: Problems) -> bytes | None:
    """The file, never more than `limit` bytes of it; None after noting why not."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        _note_missing(path, problems)
        return None
    with open(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            problems.add("missing_file")
            return None
        if facts.st_size > limit:
            problems.add("too_big", value=str(facts.st_size))
            return None
        return file.read(limit + 1)


def _note_missing(path: str, problems: Problems) -> None:
    folder = os.path.dirname(path)
    names: list[str | None] = [*sorted(os.listdir(folder))[:FIRST]] if os.path.isdir(folder) else []
    for name in names or [None]:
        problems.add("missing_file", value=name)


def read_csv(data: bytes, rules: dict[str, Any], answers: dict[str, str], problems: Problems) -> dict[str, str]:
    """Predictions by id; every row that is not as it should be is noted."""
    text = _decode(data, problems)
    if text is None:
        return {}
    csv.field_size_limit(FIELD)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: dict[str, str] = {}
    try:
        header = next(reader, None)
        if header != [rules["id"], rules["column"]]:
            problems.add(_header_problem(header, rules), 1, value=",".join(header or []))
            return {}
        for row in reader:
            if row:
                _take_row(row, reader.line_num, rules, answers, found, problems)
    except csv.Error:
        problems.add("malformed", reader.line_num)
        return {}
    for id in answers:
        if id not in found:
            problems.add("missing_id", id=id)
    return found


def _decode(data: bytes, problems: Problems) -> str | None:
    for magic, code in (
        (b"\x1f\x8b", "compressed"),
        (b"PK\x03\x04", "compressed"),
        (b"\x93NUMPY", "not_csv"),
        (b"\xef\xbb\xbf", "byte_order_mark"),
        (b"\xff\xfe", "encoding"),
        (b"\xfe\xff", "encoding"),
    ):
        if data.startswith(magic):
            problems.add(code)
            return None
    if not data.strip():
        problems.add("empty_file")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.add("encoding", data[: error.start].count(b"\n") + 1)
        return None
    if "\0" in text:
        problems.add("not_csv")
        return None
    return text


def _header_problem(header: list[str] | None, rules: dict[str, Any]) -> str:
    if header and len(header) == 2 and header[0].strip().isdigit():
        return "no_header"
    if header and len(header) == 3 and header[1:] == [rules["id"], rules["column"]]:
        return "index_column"
    if header and len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        return "separator"
    return "columns"


def _take_row(
    row: list[str],
    line: int,
    rules: dict[str, Any],
    answers: dict[str, str],
    found: dict[str, str],
    problems: Problems,
) -> None:
    if len(row) != 2:
        problems.add("columns_in_row", line, value=",".join(row))
        return
    id, value = row
    if id not in answers:
        problems.add("unknown_id", line, value=id)
    elif id in found:
        problems.add("duplicate_id", line, id, value)
    else:
        found[id] = value
        code = value_problem(value, rules)
        if code:
            problems.add(code, line, id, value)


def value_problem(value: str, rules: dict[str, Any]) -> str | None:
    """What is wrong with one prediction, or None."""
    if value == "":
        return "empty_value"
    if rules["labels"] is not None:
        return None if value in rules["labels"] else _not_label(value)
    if value.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return "not_finite"
    if not NUMBER.match(value):
        return "not_number"
    return None if math.isfinite(float(value)) else "not_finite"


def _not_label(value: str) -> str:
    lowered = value.strip().lower().lstrip("+-")
    return "not_finite" if lowered in ("nan", "inf", "infinity") else "unknown_label"


def read_npy(data: bytes, rules: dict[str, Any], answers: dict[str, str], problems: Problems) -> dict[str, str]:
    """Predictions of a one-dimensional array, in the order of the answers. Pickles are refused by numpy."""
    if not data.startswith(b"\x93NUMPY"):
        problems.add("not_npy")
        return {}
    numpy = importlib.import_module("numpy")
    try:
        array = numpy.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, TypeError, OverflowError, MemoryError):
        problems.add("not_npy")
        return {}
    if array.ndim != 1 or array.shape[0] != len(answers):
        problems.add("shape", value=f"{array.shape} / ({len(answers)},)")
        return {}
    wanted = "iu" if rules["labels"] is not None else "iuf"
    if array.dtype.kind not in wanted or array.dtype.itemsize > 8:
        problems.add("dtype", value=str(array.dtype))
        return {}
    found = {id: repr(item) for id, item in zip(answers, array.tolist(), strict=True)}
    for line, (id, value) in enumerate(found.items(), 1):
        code = value_problem(value, rules)
        if code:
            problems.add(code, line, id, value)
    return found


def score(metric: str, answers: dict[str, str], found: dict[str, str]) -> float:
    """The metric over all answers. Raises ValueError for answers on which it is not defined."""
    truth, guesses = list(answers.values()), [found[id] for id in answers]
    if metric == "accuracy":
        return sum(one == other for one, other in zip(truth, guesses, strict=True)) / len(truth)
    if metric in LABEL_METRICS:
        name, options = LABEL_METRICS[metric]
        return float(getattr(importlib.import_module("sklearn.metrics"), name)(truth, guesses, **options))
    if metric in VALUE_METRICS:
        return _score_values(metric, [float(value) for value in truth], [float(value) for value in guesses])
    raise ValueError(f"no metric {metric}")


def _score_values(metric: str, truth: list[float], guesses: list[float]) -> float:
    if metric in ("roc_auc", "log_loss") and len(set(truth)) < 2:
        raise ValueError(f"{metric} needs answers of both classes")
    if metric == "log_loss":
        guesses = [min(max(guess, 1e-15), 1 - 1e-15) for guess in guesses]
        losses = (-math.log(g if t == 1 else 1 - g) for t, g in zip(truth, guesses, strict=True))
        return math.fsum(losses) / len(truth)
    if metric == "roc_auc":
        return float(importlib.import_module("sklearn.metrics").roc_auc_score(truth, guesses))
    differences = [t - g for t, g in zip(truth, guesses, strict=True)]
    if metric == "mean_absolute_error":
        return math.fsum(abs(d) for d in differences) / len(truth)
    squares = math.fsum(d * d for d in differences)
    if metric == "r2":
        mean = math.fsum(truth) / len(truth)
        return 1 - squares / math.fsum((t - mean) ** 2 for t in truth)
    mean_square = squares / len(truth)
    return math.sqrt(mean_square) if metric == "root_mean_squared_error" else mean_square


def figures(answers_path: str, predictions_path: str, rules: dict[str, Any]) -> dict[str, Any]:
    """What goes into figures.json: scores by metric, or the problems."""
    answers = read_answers(answers_path, rules["id"], rules["column"])
    if rules["labels"] is None and rules["kind"] == "label":
        rules = {**rules, "labels": sorted(set(answers.values()))}
    problems = Problems()
    data = read_bytes(predictions_path, rules["max_bytes"], problems)
    read = read_npy if predictions_path.endswith(".npy") else read_csv
    found = {} if data is None else read(data, rules, answers, problems)
    if problems.found:
        return {"format": 1, "ok": False, "rows": len(answers), "problems": problems.listed()}
    scores = {metric: score(metric, answers, found) for metric in rules["metrics"]}
    return {"format": 1, "ok": True, "rows": len(answers), "scores": scores}


def main() -> None:
    """Command line: where things are, and the lab's rules as JSON."""
    parser = argparse.ArgumentParser()
    for name in ("--answers", "--predictions", "--out", "--rules"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    result = figures(options.answers, options.predictions, json.loads(options.rules))
    text = json.dumps(result, allow_nan=False)
    with open(options.out + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(options.out + ".part", options.out)


if __name__ == "__main__":
    main()
