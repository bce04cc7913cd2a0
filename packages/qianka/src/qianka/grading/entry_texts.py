"""The sentences for mistakes in a CSV entered on a board. What is repeated comes from the person's own file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qianka.errors import Refused, Text
from qianka.grading.predictions import Columns, Offender, Problem

_TEXTS: dict[str, Text] = {
    "empty_file": Text("文件是空的", "the file is empty"),
    "compressed": Text("文件被压缩了：请交 .csv 原文件", "the file is compressed: hand in the .csv itself"),
    "not_csv": Text("这不是 CSV 文本", "this is no CSV text"),
    "byte_order_mark": Text(
        "文件开头有 BOM：写文件时用 encoding='utf-8'，不要用 utf-8-sig，也不要用 Excel 的“CSV UTF-8”",
        "the file begins with a byte order mark: write it with encoding='utf-8', not utf-8-sig or Excel's CSV UTF-8",
    ),
    "encoding": Text("文件不是 UTF-8 编码", "the file is not UTF-8"),
    "malformed": Text("CSV 格式有误（引号不成对，或字段过长）", "the CSV is malformed (a quote, or a field too long)"),
    "no_header": Text("缺少表头：第一行应是 {header}", "the header is missing: the first line must be {header}"),
    "index_column": Text(
        "多了一列行号：用 to_csv(..., index=False) 写文件",
        "there is an index column: write with to_csv(..., index=False)",
    ),
    "separator": Text("列要用逗号分隔，不是分号或制表符", "columns are separated by commas, not semicolons or tabs"),
    "columns": Text("表头应是 {header}", "the header must be {header}"),
    "columns_in_row": Text("这些行不是两列（小数点用 . 不用逗号）", "rows that do not have two columns (0.5, not 0,5)"),
    "float_id": Text(
        "编号变成了小数（1.0）：要写成整数", "ids that became decimals (1.0): write them as whole numbers"
    ),
    "blank_in_id": Text("编号两边有空格", "ids with blanks around them"),
    "unknown_id": Text("测试集里没有这些编号", "ids that are not in the test"),
    "duplicate_id": Text("编号重复", "ids that occur more than once"),
    "missing_id": Text("缺少这些编号的预测", "ids without a prediction"),
    "empty_value": Text("预测是空的", "empty predictions"),
    "not_finite": Text(
        "预测是 NaN、无穷大或大到装不下", "predictions that are NaN, infinite or too large for a number"
    ),
    "decimal_comma": Text("小数点用 . 不用逗号", "the decimal mark is . and not a comma"),
    "not_number": Text("预测不是数字", "predictions that are no numbers"),
    "out_of_bounds": Text("概率应在 0 和 1 之间", "a probability lies between 0 and 1"),
    "unknown_label": Text("预测不是规定的标签（{labels}）", "predictions that are none of the labels ({labels})"),
    "score_overflow": Text("预测大得算不出分数", "predictions so large that no score can be computed"),
}
LABELS = 8


def say(problem: Problem, columns: Columns) -> dict[str, Any]:
    """One kind of mistake: code, sentence in both languages, how many, the first five."""
    text = _TEXTS[problem.code]
    labels = sorted(columns.labels or ())
    words = {
        "header": f"{columns.id},{columns.column}",
        "labels": ", ".join(labels[:LABELS]) + (" …" if len(labels) > LABELS else ""),
    }
    return {
        "code": problem.code,
        "count": problem.count,
        "zh": text.zh.format(**words),
        "en": text.en.format(**words),
        "first": [_offender(one) for one in problem.first if (one.line, one.id, one.value) != (None, None, None)],
    }


def refused(problems: Iterable[dict[str, Any]]) -> Refused:
    """The refusal that tells of said problems: the first in the sentence, all in the details."""
    told = list(problems)
    parts = {language: "；".join(_counted(one, language) for one in told) for language in ("zh", "en")}
    return Refused(
        Text(parts["zh"], parts["en"].replace("；", "; ")),
        Text("改好再交；这不占次数", "mend it and hand in again; this costs no try"),
        reason="predictions",
        problems=told,
    )


def _counted(one: dict[str, Any], language: str) -> str:
    where = [_where(first, language) for first in one["first"]]
    many = f"{one['count']} 处" if language == "zh" else f"{one['count']} of them"
    if not where:
        return str(one[language])
    shown = "、".join(where) if language == "zh" else ", ".join(where)
    colon = "：" if language == "zh" else ": "
    return f"{one[language]}{f'（{many}）' if language == 'zh' else f' ({many})'}{colon}{shown}"


def _where(first: dict[str, Any], language: str) -> str:
    parts = []
    if first.get("line"):
        parts.append(f"第 {first['line']} 行" if language == "zh" else f"line {first['line']}")
    if first.get("id") is not None:
        parts.append(f"id {first['id']}")
    if first.get("value") is not None:
        parts.append(repr(first["value"]))
    return " ".join(parts)


def _offender(one: Offender) -> dict[str, Any]:
    return {"line": one.line, "id": one.id, "value": one.value}
