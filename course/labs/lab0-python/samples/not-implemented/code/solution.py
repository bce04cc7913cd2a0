"""实验 0：把每个 raise NotImplementedError 换成你的实现。"""


def mean(values):
    """平均值；空列表抛 ValueError。"""
    raise NotImplementedError("mean")


def count_words(text):
    """每个词出现几次，不分大小写：{"to": 2, "be": 2, …}"""
    raise NotImplementedError("count_words")


def one_hot(labels, classes):
    """形状 (len(labels), classes) 的 NumPy 数组，每行在标签处为 1。"""
    raise NotImplementedError("one_hot")
