"""A request that does not fit its schema, in words of the caller's language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qianka.errors import BadInput, Text

_WORDS = {
    "missing": ("没有填", "is missing"),
    "extra_forbidden": ("没有这一项", "is not known here"),
    "string_pattern_mismatch": ("格式不对，应符合 {pattern}", "is not of the form {pattern}"),
    "string_too_short": ("太短，至少 {min_length} 个字符", "is too short: at least {min_length} characters"),
    "string_too_long": ("太长，至多 {max_length} 个字符", "is too long: at most {max_length} characters"),
    "greater_than": ("应大于 {gt}", "must be greater than {gt}"),
    "greater_than_equal": ("应不小于 {ge}", "must be at least {ge}"),
    "less_than": ("应小于 {lt}", "must be less than {lt}"),
    "less_than_equal": ("应不大于 {le}", "must be at most {le}"),
    "int_parsing": ("应是整数", "must be a whole number"),
    "float_parsing": ("应是数", "must be a number"),
    "literal_error": ("应是 {expected}", "must be {expected}"),
    "enum": ("应是 {expected}", "must be {expected}"),
    "json_invalid": ("不是 JSON", "is not JSON"),
}
"""pydantic's kind of error → what is wrong, with pydantic's own figures"""

_HINTS = {
    "slug": Text("代号用小写字母、数字和连字符，如 ai-2026", "use lower-case letters, digits and hyphens: ai-2026"),
}


def refusal(errors: Sequence[Any]) -> BadInput:
    """The refusal for what pydantic found; what was sent is left out, for it may be a password."""
    first = errors[0] if errors else {"loc": (), "type": "", "msg": ""}
    name = _name(first)
    wrong = _wrong(first)
    return BadInput(
        Text(f"请求不合格：{name}：{wrong.zh}", f"the request is not valid: {name}: {wrong.en}"),
        _HINTS.get(name, Text("改好这一项再试", "mend it and try again")),
        reason="invalid_request",
        fields=[{"field": ".".join(map(str, e["loc"])), "problem": str(e["msg"])} for e in errors[:20]],
    )


def _name(error: Any) -> str:
    """The field as its sender knows it: without `body` or `query` in front."""
    parts = [str(part) for part in error["loc"]]
    return ".".join(parts[1:] or parts)


def _wrong(error: Any) -> Text:
    message = str(error["msg"])
    zh, en = _WORDS.get(str(error["type"]), (message.replace("{", "{{").replace("}", "}}"),) * 2)
    figures = dict(error.get("ctx") or {})
    try:
        return Text(zh.format_map(figures), en.format_map(figures))
    except KeyError:
        return Text(message, message)
