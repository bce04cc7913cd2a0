"""用巨大的和极深的值去撑爆评分的一侧。"""

import os


def mean(values):
    """四百万层。"""
    return "[" * 4_000_000


def count_words(text):
    """极深的列表。"""
    found = []
    for _ in range(100_000):
        found = [found]
    return found


def one_hot(labels, classes):
    """直接往管道里写 40 MB 没有换行的东西。"""
    for descriptor in range(3, 64):
        try:
            for _ in range(40):
                os.write(descriptor, b"[" * (1 << 20))
        except OSError:
            pass
    return [list(range(10))] * 1_000_000
