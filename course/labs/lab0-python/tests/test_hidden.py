"""隐藏测试：学生看不到，只看到每组过了几个。Hidden tests: students see how many of a group passed, no more."""

import numpy as np
from qianka_tests import close, hidden, hint, points, student

solution = student.module("solution")


@hidden("边界情况", "edge cases")
@hint("没有任何数时，平均值没有意义。", "Without any number there is no mean.")
def test_mean_of_nothing():
    with student.raises(ValueError):
        solution.mean([])


@hidden("边界情况", "edge cases")
@hint("一段只有空白的文字里没有词。", "A text of spaces alone holds no word.")
def test_no_words():
    assert solution.count_words("  \n\t ") == {}


@hidden("一般情况", "usual cases")
@hint("大写和小写算同一个词。", "Upper and lower case are one word.")
@points(2)
def test_case():
    assert solution.count_words("Data data DATA x") == {"data": 3, "x": 1}


@hidden("一般情况", "usual cases")
@points(2)
def test_mean_of_many():
    values = list(np.random.default_rng(7).normal(5, 2, 1000))
    assert close(solution.mean(values), float(np.mean(values)))


@hidden("一般情况", "usual cases")
@hint("标签可以重复，也可以一个都没有。", "Labels may repeat, and there may be none.")
@points(2)
def test_one_hot_of_many():
    labels = np.random.default_rng(8).integers(0, 10, 500)
    found = solution.one_hot(labels.tolist(), 10)
    assert close(found, np.eye(10)[labels])
