"""实验 0 的参考解。"""

import numpy as np


def mean(values):
    """平均值；空列表抛 ValueError。"""
    if not values:
        raise ValueError("no values")
    return sum(values) / len(values)


def count_words(text):
    """每个词出现几次，不分大小写。"""
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def one_hot(labels, classes):
    """形状 (len(labels), classes) 的数组，每行在标签处为 1。"""
    found = np.zeros((len(labels), classes))
    found[np.arange(len(labels)), labels] = 1
    return found
