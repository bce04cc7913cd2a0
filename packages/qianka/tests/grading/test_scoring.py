"""Metrics in plain Python: against scikit-learn where the student runtime is, against themselves everywhere."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.grading import ladder, scoring
from qianka.grading.ladder import Rung
from qianka.grading.metrics import METRICS

SKLEARN = """
import json, sys
from sklearn import metrics as m
call = {
    "accuracy": m.accuracy_score, "balanced_accuracy": m.balanced_accuracy_score,
    "f1_macro": lambda t, g: m.f1_score(t, g, average="macro", zero_division=0),
    "f1_weighted": lambda t, g: m.f1_score(t, g, average="weighted", zero_division=0),
    "cohen_kappa": m.cohen_kappa_score, "roc_auc": m.roc_auc_score, "log_loss": m.log_loss,
    "mean_squared_error": m.mean_squared_error, "root_mean_squared_error": m.root_mean_squared_error,
    "mean_absolute_error": m.mean_absolute_error, "r2": m.r2_score,
}
import warnings; warnings.simplefilter("ignore")
print(json.dumps([float(call[name](t, g)) for name, t, g in json.load(sys.stdin)]))
"""


def cases(name: str, seed: int) -> tuple[list[Any], list[Any]]:
    """Answers and predictions fit for a metric, with ties, rare classes and extremes."""
    source = random.Random(seed)
    rows = source.choice([4, 10, 57, 300])
    if METRICS[name].column == "label":
        labels = source.sample(["cat", "dog", "7", "07", "训练", "x y"], source.randrange(2, 6))
        truth = [*labels, *(source.choice(labels[:3]) for _ in range(rows))]
        guesses = [one if source.random() < 0.6 else source.choice([*labels, "other"]) for one in truth]
        return truth, guesses
    if name in ("roc_auc", "log_loss"):
        truth = [0.0, 1.0, *(float(source.random() < 0.3) for _ in range(rows))]
        return truth, [source.choice([0.0, 1.0, 0.5, round(source.random(), 1), source.random()]) for _ in truth]
    truth = [source.gauss(5, 3) for _ in range(rows)]
    return truth, [one + source.gauss(0, 1) for one in truth]


@pytest.mark.runtime
def test_every_metric_agrees_with_scikit_learn(student_runtime: Path) -> None:
    asked = [(name, *cases(name, seed)) for name in METRICS for seed in range(25)]
    python = str(student_runtime / "bin" / "python")
    done = subprocess.run([python, "-c", SKLEARN], input=json.dumps(asked), capture_output=True, text=True, check=True)
    for (name, truth, guesses), expected in zip(asked, json.loads(done.stdout), strict=True):
        assert scoring.score(name, truth, guesses) == pytest.approx(expected, rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("name", sorted(METRICS))
def test_losses_order_files_as_the_score_does(name: str) -> None:
    """Their mean moves with the score; for the root of an error it is the error below the root."""
    metric = METRICS[name]
    for seed in range(20):
        truth, guesses = cases(name, seed)
        losses = scoring.losses(name, truth, guesses)
        mean, score = sum(losses) / len(losses), scoring.score(name, truth, guesses)
        if name == "accuracy":
            assert 1 - mean == pytest.approx(score)
        elif name == "root_mean_squared_error":
            assert mean == pytest.approx(score**2)
        elif name == "r2":
            assert 1 - mean == pytest.approx(score)
        elif not metric.higher_is_better:
            assert mean == pytest.approx(score)
        else:
            assert -mean == pytest.approx(score)


@pytest.mark.parametrize("name", ["balanced_accuracy", "f1_macro", "f1_weighted", "cohen_kappa"])
def test_pseudo_values_are_those_of_leaving_each_row_out(name: str) -> None:
    truth, guesses = cases(name, 3)
    count, full = len(truth), scoring.score(name, truth, guesses)
    pseudo = []
    for row in range(count):
        rest = scoring.score(name, truth[:row] + truth[row + 1 :], guesses[:row] + guesses[row + 1 :])
        pseudo.append(count * full - (count - 1) * rest)
    mean = sum(pseudo) / count
    for loss, expected in zip(scoring.losses(name, truth, guesses), pseudo, strict=True):
        assert -loss - full == pytest.approx(expected - mean, abs=1e-7)


def test_rows_cannot_be_asked_for_one_by_one() -> None:
    """A single row that gets right gains exactly its own standard error: never told, at any size."""
    for rows in range(2, 1200, 7):
        before = [1.0 if row % 3 == 0 else 0.0 for row in range(rows)]
        after = [0.0, *before[1:]]
        assert ladder.climb(Rung(0.5, before), 0.6, after, METRICS["accuracy"]) is None
        if rows > 8:
            after = [0.0, *before[1:3], 0.0, *before[4:]]
            assert ladder.climb(Rung(0.5, before), 0.6, after, METRICS["accuracy"]) is not None


def test_what_has_no_value_is_told() -> None:
    for name in ("roc_auc", "log_loss"):
        with pytest.raises(scoring.Undefined):
            scoring.score(name, [1.0, 1.0], [0.2, 0.3])
    with pytest.raises(scoring.Undefined):
        scoring.check_answers("r2", [2.0, 2.0])
    with pytest.raises(scoring.Undefined):
        scoring.score("accuracy", [], [])


@given(st.lists(st.lists(st.booleans(), min_size=30, max_size=30), min_size=1, max_size=30))
def test_the_ladder_never_falls_and_never_moves_for_the_same(files: list[list[bool]]) -> None:
    metric, rung = METRICS["accuracy"], None
    shown = []
    for right in files:
        losses = [0.0 if one else 1.0 for one in right]
        rung = ladder.climb(rung, sum(right) / 30, losses, metric) or rung
        assert rung is not None
        assert ladder.climb(rung, sum(right) / 30, rung.losses, metric) is None
        assert ladder.climb(Rung(0.0, losses), sum(right) / 30, losses, metric) is None
        shown.append(rung.shown)
    assert shown == sorted(shown)
    assert all(round(one * 30) == pytest.approx(one * 30) for one in shown)


def test_losses_are_kept_as_they_are() -> None:
    losses = [0.1, 1e300, -3.0, 0.0]
    assert list(ladder.unpack(ladder.pack(losses))) == losses
    assert len(ladder.pack([0.0, 1.0] * 5000)) < 1000
