"""Text in files that people open in a spreadsheet."""

from __future__ import annotations

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def cell(text: str) -> str:
    """`text`, with an apostrophe before anything that a spreadsheet would calculate."""
    return "'" + text if text.startswith(_FORMULA) else text
