"""count_words 吃光内存，别的都对。"""

import numpy as np


def mean(values):
    """平均值。"""
    if not values:
        raise ValueError("no values")
    return sum(values) / len(values)


def count_words(text):
    """每次多吃一点，直到没有。"""
    kept = []
    while True:
        kept.append(bytearray(64 << 20))


def one_hot(labels, classes):
    """每行在标签处为 1。"""
    return np.eye(classes)[labels]
