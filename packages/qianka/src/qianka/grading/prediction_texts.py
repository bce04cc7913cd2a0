"""The sentences for mistakes in a predictions file. Nothing a prediction holds is repeated to the student:
a program that sees hidden inputs could write them there."""

from __future__ import annotations

from typing import Any

from qianka.errors import Text
from qianka.grading.figures import PredictionProblem
from qianka.grading.model import Predictions

_TEXTS: dict[str, Text] = {
    "missing_file": Text("没有找到 {file}", "{file} is not there"),
    "too_big": Text("文件超过 {mb} MB", "the file is above {mb} MB"),
    "empty_file": Text("文件是空的", "the file is empty"),
    "compressed": Text("文件被压缩了，请直接写 {file}", "the file is compressed: write {file} as it is"),
    "byte_order_mark": Text(
        "文件开头有 BOM：写文件时用 encoding='utf-8'，不要用 utf-8-sig",
        "the file begins with a byte order mark: write it with encoding='utf-8', not utf-8-sig",
    ),
    "encoding": Text("文件不是 UTF-8", "the file is not UTF-8"),
    "not_csv": Text("文件不是 CSV 文本", "the file is no CSV text"),
    "not_npy": Text("文件不是 .npy（不收 pickle）", "the file is no .npy (pickles are not taken)"),
    "shape": Text("数组应是一维，长度等于测试样本数", "the array must have one dimension, as long as the test"),
    "dtype": Text(
        "数组的类型不对：标签用整数，数值用浮点", "the array's type is wrong: integers for labels, floats for values"
    ),
    "malformed": Text("CSV 格式有误（引号或过长的字段）", "the CSV is malformed (a quote, or a field too long)"),
    "no_header": Text("缺少表头，第一行应是 {header}", "the header is missing: the first line must be {header}"),
    "index_column": Text(
        "多了一列行号：to_csv(..., index=False)", "there is an index column: to_csv(..., index=False)"
    ),
    "separator": Text("列要用逗号分隔", "columns are separated by commas"),
    "columns": Text("表头应是 {header}", "the header must be {header}"),
    "columns_in_row": Text("这些行不是两列", "these rows do not have two columns"),
    "unknown_id": Text(
        "这些行的编号不在测试集里（编号要原样照抄，不要变成 1.0）",
        "ids that are not in the test (copy them as they are, not as 1.0)",
    ),
    "duplicate_id": Text("编号重复", "ids that occur twice"),
    "missing_id": Text("缺少这些编号的预测", "ids without a prediction"),
    "empty_value": Text("预测是空的", "empty predictions"),
    "not_finite": Text("预测是 NaN 或无穷大", "predictions that are NaN or infinite"),
    "not_number": Text("预测不是数字（小数点用 .）", "predictions that are no numbers (the decimal mark is .)"),
    "unknown_label": Text(
        "预测不是规定的标签（整数标签写成 7，不是 7.0 或 True）",
        "predictions that are none of the labels (7, not 7.0 or True)",
    ),
}


def say(problem: PredictionProblem, predictions: Predictions) -> dict[str, Any]:
    """One kind of mistake as the student sees it: sentence, count, lines and ids of the first five."""
    text = _TEXTS.get(problem.code, Text("预测文件有误", "the predictions are wrong"))
    words = {
        "file": predictions.file,
        "mb": f"{predictions.max_bytes / (1 << 20):g}",
        "header": f"{predictions.id_column},{predictions.column}",
    }
    first = [{"line": offender.line, "id": offender.id} for offender in problem.first if offender.line or offender.id]
    return {
        "code": problem.code,
        "count": problem.count,
        "zh": text.zh.format(**words),
        "en": text.en.format(**words),
        "first": first,
    }
