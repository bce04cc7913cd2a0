"""JSON without the `json` module: its import alone costs a supervisor 10 ms of its start.

Strict both ways: NaN and infinities are neither written nor read.
"""

from __future__ import annotations

from _json import encode_basestring_ascii, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = " \t\n\r"


class FormatError(ValueError):
    """A file of a job directory does not hold what it should."""


def dumps(value: Any) -> str:
    """`value` as JSON on one line, ASCII only. Raises FormatError for what JSON cannot hold."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(_finite(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join([dumps(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join([_key(key) + ": " + dumps(item) for key, item in value.items()]) + "}"
    raise FormatError(f"{type(value).__name__} is nothing that JSON can hold")


def loads(text: str) -> Any:
    """The value in `text`. Raises FormatError for anything but exactly one JSON value."""
    start = 0
    while start < len(text) and text[start] in _BLANK:
        start += 1
    try:
        value, end = _scan(text, start)
    except StopIteration as stop:
        raise FormatError(f"no JSON value at character {stop.value}") from None
    except RecursionError:
        raise FormatError("nested too deeply") from None
    except FormatError:
        raise
    except SystemError:
        # The scanner wants to raise json.JSONDecodeError, which it only finds where `json` is loaded.
        raise FormatError("broken JSON") from None
    except ValueError as error:
        raise FormatError(str(error)) from None
    if text[end:].strip(_BLANK):
        raise FormatError(f"something follows the JSON value at character {end}")
    return value


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise FormatError(f"a key must be a string, not {key!r}")
    return encode_basestring_ascii(key)


def _finite(value: float) -> float:
    if value != value or value in (float("inf"), float("-inf")):
        raise FormatError(f"{value} is not a JSON number")
    return value


def _float(digits: str) -> float:
    return _finite(float(digits))


def _int(digits: str) -> int:
    if len(digits) > 40:
        raise FormatError("a number of more than 40 digits")
    return int(digits)


def _constant(name: str) -> None:
    raise FormatError(f"{name} is not a JSON number")


class _Context:
    """What the C scanner of the standard library wants to be told."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = staticmethod(_float)
    parse_int = staticmethod(_int)
    parse_constant = staticmethod(_constant)
    memo: dict[str, str] = {}


_scan = make_scanner(_Context())  # type: ignore[arg-type]
