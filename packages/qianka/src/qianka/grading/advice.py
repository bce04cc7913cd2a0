"""One sentence of advice that fits the cause; the general one of the verdict where nothing fits better."""

from __future__ import annotations

import re

from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.errors import Text

_BY_EXCEPTION: tuple[tuple[str, str, Text], ...] = (
    (
        "NotImplementedError",
        "",
        Text(
            "起始代码里的 TODO 还没写完：把 raise NotImplementedError 换成你的实现。",
            "A TODO of the starter is left: replace raise NotImplementedError by your own code.",
        ),
    ),
    (
        "FileNotFoundError",
        "",
        Text(
            "找不到文件。路径要用命令行给的 --data、--model、--out，不要写死；"
            "predict 读的模型必须由 train 存到 --out。",
            "A file is missing. Use the paths given by --data, --model and --out; "
            "predict can only read what train saved to --out.",
        ),
    ),
    (
        "",
        r"Name or service not known|name resolution|urlopen error|Network is unreachable|"
        r"Connection(Error| refused)|Max retries",
        Text(
            "评分环境没有网络。数据在 --data 里，不要下载。",
            "There is no network here. The data is in --data: download nothing.",
        ),
    ),
    (
        "",
        r"Read-only file system|Permission denied",
        Text(
            "只有 --out 和 /tmp 可写，代码目录是只读的。",
            "Only --out and /tmp can be written to; the code is read-only.",
        ),
    ),
    (
        "EOFError",
        "reading a line",
        Text(
            "程序在等键盘输入，评分时没有人输入。去掉 input()，改用命令行参数。",
            "The program waits for the keyboard and nobody is there. Use command-line arguments, no input().",
        ),
    ),
    (
        "RuntimeError",
        r"shapes? cannot be multiplied|size mismatch|must match|size of tensor",
        Text(
            "张量形状对不上。在出错行之前打印 x.shape；全连接层的输入维数要等于展平后的大小。",
            "Tensor shapes do not fit. Print x.shape before that line; a linear layer takes the flattened size.",
        ),
    ),
    (
        "RuntimeError",
        "same device",
        Text(
            "张量不在同一设备上：模型和数据都要 .to(device)。",
            "Tensors are on different devices: move both model and data with .to(device).",
        ),
    ),
    (
        "RuntimeError",
        r"[Uu]nable to open shared memory|bus error|shm",
        Text(
            "共享内存不够：把 DataLoader 的 num_workers 设为 0。",
            "Too little shared memory: set num_workers of the DataLoader to 0.",
        ),
    ),
    (
        "RuntimeError",
        r"Error\(s\) in loading state_dict",
        Text(
            "保存的权重和模型结构不一致：train 和 predict 要用同一个模型定义。",
            "The saved weights do not fit the model: train and predict must share its definition.",
        ),
    ),
    (
        "",
        r"\bnan\b",
        Text(
            "出现了 NaN：先把学习率降到十分之一，检查输入是否归一化、log 和除法的参数会不会是 0。",
            "NaN came up: divide the learning rate by ten, check the normalisation, and log or division by zero.",
        ),
    ),
    (
        "UnicodeDecodeError",
        "",
        Text(
            "读文本文件时编码不对：open(..., encoding='utf-8')。",
            "A text file was read in the wrong encoding: open(..., encoding='utf-8').",
        ),
    ),
    (
        "RecursionError",
        "",
        Text(
            "递归太深，多半是函数无条件地调用自己。",
            "The recursion is too deep: a function probably calls itself without end.",
        ),
    ),
    (
        "KeyError",
        "",
        Text(
            "字典或数据里没有这个键：打印 .keys() 看有哪些。",
            "There is no such key: print .keys() to see which there are.",
        ),
    ),
    (
        "IndexError",
        "",
        Text(
            "下标越界：检查循环范围、标签是否从 0 开始。",
            "An index is out of range: check the loop and whether labels start at 0.",
        ),
    ),
    (
        "SyntaxError",
        "",
        Text(
            "语法错误：在本机先运行 python -m py_compile 这个文件。",
            "A syntax error: run python -m py_compile on this file first.",
        ),
    ),
    (
        "IndentationError",
        "",
        Text("缩进不对：不要混用空格和 Tab。", "The indentation is wrong: do not mix spaces and tabs."),
    ),
)

_SIGNALS = {
    11: Text(
        "程序发生段错误，多半是 C 扩展用错了；减小批量，或找出崩溃前的最后一步。",
        "A segmentation fault, mostly from a misused extension: shrink the batch, find the last step before it.",
    ),
    9: Text("程序被强行终止。", "The program was killed."),
    6: Text("程序自己中止（abort）。", "The program aborted itself."),
}

NAN_SEEN = Text(
    "训练输出里有 NaN：先把学习率降到十分之一，检查输入是否归一化。",
    "The training log holds NaN: divide the learning rate by ten and check the normalisation.",
)


TESTS_BELOW = Text(
    "程序能运行，但通过的测试不够多。先看下面没通过的可见测试，在本机用同样的参数调用一遍。",
    "The program runs, but not enough tests pass. Begin with the visible ones below: call with the same arguments.",
)


def advise(verdict: Verdict, stage: str, exception: str | None, message: str, signal: int | None = None) -> Text:
    """What to do about a failure of `stage`."""
    name = (exception or "").rpartition(".")[2]
    if verdict is Verdict.CRASHED:
        for wanted, pattern, text in _BY_EXCEPTION:
            if wanted in ("", name) and exception is not None and re.search(pattern, message):
                return text
        if exception is None and signal in _SIGNALS:
            return _SIGNALS[signal]
    if verdict is Verdict.TIMEOUT and stage.startswith("predict"):
        return Text(
            "预测超时：不要在 predict 里重新训练；分批推理，用 torch.inference_mode()。",
            "Predicting took too long: do not train again there, predict in batches under torch.inference_mode().",
        )
    words = VERDICTS[verdict]
    return Text(words.advice_zh, words.advice_en)
