"""mean 死循环，别的都对：只丢 mean 的分。"""

from collections import Counter

import numpy as np


def mean(values):
    """永远算不完。"""
    while True:
        pass


def count_words(text):
    """每个词出现几次。"""
    return dict(Counter(text.lower().split()))


def one_hot(labels, classes):
    """每行在标签处为 1。"""
    return np.eye(classes)[labels]
