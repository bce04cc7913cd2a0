"""The metrics of `metrics.METRICS` in plain Python, with the losses of single rows that the Ladder compares.

They agree with scikit-learn's functions of the same names (tested in the student runtime): a server
scores a CSV without numpy, and a student who scores at home sees the same number.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import sub

from qianka.grading.metrics import METRICS

_SMALLEST = 2.220446049250313e-16
"""how near to 0 and 1 scikit-learn lets a probability come in log_loss: one rounding step of a double"""

Values = Sequence[float]
Labels = Sequence[str]


class Undefined(ValueError):
    """The metric has no value for these answers or predictions, such as AUC with one class only."""


def check_answers(metric: str, truth: Sequence[str] | Sequence[float]) -> None:
    """Raises Undefined for answers on which `metric` could never be computed."""
    kinds = set(truth)
    if not kinds:
        raise Undefined("there are no rows")
    if metric in ("roc_auc", "log_loss"):
        if not kinds <= {0.0, 1.0}:
            raise Undefined(f"{metric} needs answers of 0 and 1")
        if len(kinds) < 2:
            raise Undefined(f"{metric} needs answers of both classes")
    if metric in ("r2", "cohen_kappa", "balanced_accuracy") and len(kinds) < 2:
        raise Undefined(f"{metric} needs more than one value among the answers")


def score(metric: str, truth: Sequence[str] | Sequence[float], guesses: Sequence[str] | Sequence[float]) -> float:
    """The metric over all rows; may be infinite when predictions are huge. Raises Undefined, KeyError."""
    if not truth:
        raise Undefined("there are no rows")
    if METRICS[metric].column == "label":
        return _score_labels(metric, [str(one) for one in truth], [str(one) for one in guesses])
    return _score_values(metric, [float(one) for one in truth], [float(one) for one in guesses])


def score_and_losses(
    metric: str, truth: Sequence[str] | Sequence[float], guesses: Sequence[str] | Sequence[float]
) -> tuple[float, array[float]]:
    """`score` and `losses` of the same rows, the work that both need done once. Raises Undefined, KeyError."""
    found = losses(metric, truth, guesses)
    if METRICS[metric].column == "label" or metric == "roc_auc":
        return score(metric, truth, guesses), found
    check_answers(metric, [float(one) for one in truth])
    return _of_mean(metric, found), found


def losses(
    metric: str, truth: Sequence[str] | Sequence[float], guesses: Sequence[str] | Sequence[float]
) -> array[float]:
    """What each row adds to the loss; their mean orders hand-ins as the score does, lower being better.

    For a mean over rows (accuracy, log_loss, the errors) it is the row's own loss. For the rest it is the
    negative jackknife pseudo-value of the row (for the AUC by the placements of DeLong et al. 1988), their mean
    set to the score: the spread of these is what estimates the standard error of the score.
    """
    if METRICS[metric].column == "label":
        return array("d", _label_losses(metric, [str(one) for one in truth], [str(one) for one in guesses]))
    return array("d", _value_losses(metric, [float(one) for one in truth], [float(one) for one in guesses]))


# labels


def _score_labels(metric: str, truth: Labels, guesses: Labels) -> float:
    if metric == "accuracy":
        return sum(map(str.__eq__, truth, guesses)) / len(truth)
    return _Confusion(zip(truth, guesses, strict=True)).measure(metric)


def _label_losses(metric: str, truth: Labels, guesses: Labels) -> Iterable[float]:
    pairs = list(zip(truth, guesses, strict=True))
    if metric == "accuracy":
        return [0.0 if one == other else 1.0 for one, other in pairs]
    whole = _Confusion(pairs)
    count, full = whole.rows, whole.measure(metric)
    if count < 2:
        return [-full] * count
    left_out = {pair: -(count * full - (count - 1) * _without(whole, pair, metric, full)) for pair in whole.cells}
    # A jackknife is off by the bias that it estimates; the mean is to be the score itself.
    shift = full + math.fsum(left_out[pair] * times for pair, times in whole.cells.items()) / count
    return [left_out[pair] - shift for pair in pairs]


def _without(whole: _Confusion, pair: tuple[str, str], metric: str, full: float) -> float:
    """The metric with one row of that pair left out; where that is not defined the row tells nothing."""
    try:
        return whole.without(pair, metric)
    except Undefined:
        return full


class _Confusion:
    """Counts by class: how often true, guessed, and both."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.cells = Counter(pairs)
        self.rows = sum(self.cells.values())
        self.true: Counter[str] = Counter()
        self.guessed: Counter[str] = Counter()
        self.hit: Counter[str] = Counter()
        for (one, other), count in self.cells.items():
            self.true[one] += count
            self.guessed[other] += count
            if one == other:
                self.hit[one] += count
        self._sums: dict[str, tuple[float, int]] = {}

    def measure(self, metric: str) -> float:
        """The metric of all rows."""
        total, classes = self._sum(metric)
        return _FINISH[metric](total, classes, sum(self.hit.values()), self.rows)

    def without(self, pair: tuple[str, str], metric: str) -> float:
        """The metric with one row of that pair left out; only its one or two classes change."""
        one, other = pair
        total, classes = self._sum(metric)
        term, counts = _TERMS[metric]
        for name in {one, other}:
            true, guessed, hit = self.true[name], self.guessed[name], self.hit[name]
            total -= term(true, guessed, hit)
            classes -= counts(true, guessed)
            true, guessed, hit = true - (name == one), guessed - (name == other), hit - (one == other)
            total += term(true, guessed, hit)
            classes += counts(true, guessed)
        return _FINISH[metric](total, classes, sum(self.hit.values()) - (one == other), self.rows - 1)

    def _sum(self, metric: str) -> tuple[float, int]:
        if metric not in self._sums:
            term, counts = _TERMS[metric]
            names = sorted(self.true.keys() | self.guessed.keys())
            total = math.fsum(term(self.true[name], self.guessed[name], self.hit[name]) for name in names)
            self._sums[metric] = total, sum(counts(self.true[name], self.guessed[name]) for name in names)
        return self._sums[metric]


def _recall(true: int, guessed: int, hit: int) -> float:
    return hit / true if true else 0.0


def _f1(true: int, guessed: int, hit: int) -> float:
    return 2 * hit / (true + guessed) if true + guessed else 0.0


def _weighted_f1(true: int, guessed: int, hit: int) -> float:
    return true * _f1(true, guessed, hit)


def _product(true: int, guessed: int, hit: int) -> float:
    return float(true * guessed)


def _is_true(true: int, guessed: int) -> int:
    return int(true > 0)


def _is_known(true: int, guessed: int) -> int:
    return int(true + guessed > 0)


def _mean(total: float, classes: int, hits: int, rows: int) -> float:
    return total / classes if classes else 0.0


def _share(total: float, classes: int, hits: int, rows: int) -> float:
    return total / rows


def _kappa(total: float, classes: int, hits: int, rows: int) -> float:
    by_chance = total / (rows * rows)
    if by_chance >= 1:
        raise Undefined("cohen_kappa is not defined where all is one class")
    return (hits / rows - by_chance) / (1 - by_chance)


_Term = Callable[[int, int, int], float]
_TERMS: dict[str, tuple[_Term, Callable[[int, int], int]]] = {
    "balanced_accuracy": (_recall, _is_true),
    "f1_macro": (_f1, _is_known),
    "f1_weighted": (_weighted_f1, _is_known),
    "cohen_kappa": (_product, _is_known),
}
_FINISH: dict[str, Callable[[float, int, int, int], float]] = {
    "balanced_accuracy": _mean,
    "f1_macro": _mean,
    "f1_weighted": _share,
    "cohen_kappa": _kappa,
}


# values


def _score_values(metric: str, truth: Values, guesses: Values) -> float:
    check_answers(metric, truth)
    if metric == "roc_auc":
        positives, _ = _placements(truth, guesses)
        return math.fsum(share for _, share in positives) / len(positives)
    return _of_mean(metric, _value_losses(metric, truth, guesses))


def _of_mean(metric: str, values: Sequence[float]) -> float:
    """The metric from the losses of which it is the mean, or made of the mean."""
    mean = _sum(values) / len(values)
    if metric == "r2":
        return 1 - mean
    return math.sqrt(mean) if metric == "root_mean_squared_error" else mean


def _value_losses(metric: str, truth: Values, guesses: Values) -> list[float]:
    if metric == "log_loss":
        return [_surprise(guess if true == 1 else 1 - guess) for true, guess in zip(truth, guesses, strict=True)]
    if metric == "mean_absolute_error":
        return [abs(true - guess) for true, guess in zip(truth, guesses, strict=True)]
    if metric == "roc_auc":
        return _auc_losses(truth, guesses)
    errors = map(sub, truth, guesses)
    squares = [error * error for error in errors]
    if metric == "r2":
        mean = math.fsum(truth) / len(truth)
        variance = math.fsum((true - mean) * (true - mean) for true in truth) / len(truth)
        return [square / variance for square in squares]
    return squares


def _surprise(chance: float) -> float:
    if chance < _SMALLEST:
        return -math.log(_SMALLEST)
    return -math.log(chance if chance < 1 - _SMALLEST else 1 - _SMALLEST)


def _sum(values: Sequence[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:  # huge, though each is finite
        return math.inf


_Placed = list[tuple[int, float]]


def _placements(truth: Values, guesses: Values) -> tuple[_Placed, _Placed]:
    """For each row of a class (place, share of the other class on the right side of it); ties count half."""
    positives = [i for i, true in enumerate(truth) if true == 1]
    negatives = [i for i, true in enumerate(truth) if true != 1]
    above, below = sorted(guesses[i] for i in positives), sorted(guesses[i] for i in negatives)
    m, n = 2 * len(above), 2 * len(below)
    higher = [(i, (bisect_left(below, guesses[i]) + bisect_right(below, guesses[i])) / n) for i in positives]
    lower = [(i, 1 - (bisect_left(above, guesses[i]) + bisect_right(above, guesses[i])) / m) for i in negatives]
    return higher, lower


def _auc_losses(truth: Values, guesses: Values) -> list[float]:
    """Negative influence of each row: how its placement among the other class differs from the mean placement."""
    positives, negatives = _placements(truth, guesses)
    found = [0.0] * len(truth)
    auc = math.fsum(share for _, share in positives) / len(positives)
    for placed in (positives, negatives):
        weight = len(truth) / len(placed)
        for row, share in placed:
            found[row] = -(auc + weight * (share - auc))
    return found
