"""公开测试：学生拿得到这个文件。Public tests: students are given this file."""

import numpy as np
from qianka_tests import close, student

solution = student.module("solution")


def test_mean():
    assert close(solution.mean([1, 2, 6]), 3)


def test_count_words():
    counts = solution.count_words("to be or not to be")
    assert counts == {"to": 2, "be": 2, "or": 1, "not": 1}


def test_one_hot():
    assert close(solution.one_hot([0, 2], 3), np.array([[1, 0, 0], [0, 0, 1]]))
