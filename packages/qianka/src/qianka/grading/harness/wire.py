"""Values and lines between the two sandboxes of a paired run. Both sides use this file.

One message is one line of JSON. A value that JSON has no word for is an object with the key `$`: its kind.
Reading builds nothing but plain values and arrays: no classes, no hooks, nothing that runs.
"""

from __future__ import annotations

import base64
import importlib
import json
import math
from typing import Any

LONGEST = 16 << 20
"""bytes of one message"""
MOST_VALUES = 1_000_000
"""values in one message: each costs its reader far more memory than its bytes"""
DEEPEST = 64
MOST_DIGITS = 1000
MOST_OF_ONE_HASH = 100
KINDS_OF_NUMBERS = "biufc"
"""kinds of array that cross: truth values, integers, floats, complex numbers"""


_PLAIN = {type(None), bool, int, float, str}
_NESTED = {list, dict}


class Nonsense(Exception):
    """A line that is no message, or one that breaks a bound; the message says which."""


class Opaque:
    """A value that did not cross: an object of the other side. Equal to nothing but itself."""

    def __init__(self, type_name: str, ref: int | None = None) -> None:
        self.type_name = type_name
        self.ref = ref

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


def dumps(message: dict[str, Any]) -> bytes:
    """One line. Raises Nonsense for a message above the bound."""
    line = json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    if len(line) > LONGEST:
        raise Nonsense(f"a message of {len(line) >> 20} MiB, at most {LONGEST >> 20}")
    return line


def loads(line: bytes) -> dict[str, Any]:
    """The message of one line. Raises Nonsense for anything else than a JSON object within the bounds."""
    if len(line) > LONGEST:
        raise Nonsense("a message that is too long")
    if line.count(b",") + line.count(b"[") + line.count(b"{") + line.count(b":") > MOST_VALUES:
        raise Nonsense("a message of too many values")
    try:
        text = line.decode("utf-8")
        message = json.loads(text, parse_constant=_refuse, parse_int=_integer, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise Nonsense(f"not JSON: {type(error).__name__}") from None
    if not isinstance(message, dict):
        raise Nonsense("not an object")
    return message


def encode(value: Any, keep: Any = None, depth: int = 0) -> Any:
    """A value as it is written. `keep(value) -> int | None` takes in an object that cannot cross and numbers it.

    Raises Nonsense for what is too deep (or holds itself).
    """
    if depth > DEEPEST:
        raise Nonsense(f"nested deeper than {DEEPEST}")
    if value is None or isinstance(value, (bool, str)):
        return value if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$": "float", "value": repr(float(value))}
    if isinstance(value, Opaque):
        return {"$": "object", "type": value.type_name, "ref": value.ref}
    below = depth + 1
    if isinstance(value, list):
        return list(value) if _is_plain(value) else [encode(item, keep, below) for item in value]
    if isinstance(value, (tuple, set, frozenset)):
        kind = "tuple" if isinstance(value, tuple) else "set"
        return {"$": kind, "items": [encode(item, keep, below) for item in value]}
    if isinstance(value, dict):
        if all(isinstance(key, str) and key != "$" for key in value):
            return {str(key): encode(item, keep, below) for key, item in value.items()}
        pairs = [[encode(key, keep, below), encode(item, keep, below)] for key, item in value.items()]
        return {"$": "dict", "items": pairs}
    if isinstance(value, complex):
        return {"$": "complex", "items": [encode(value.real), encode(value.imag)]}
    if isinstance(value, (bytes, bytearray)):
        return {"$": "bytes", "data": base64.b64encode(bytes(value)).decode()}
    return _encode_object(value, keep)


def decode(value: Any, depth: int = 0) -> Any:
    """The value that was written. Raises Nonsense for a kind there is not, or one that is not as it should be."""
    if depth > DEEPEST:
        raise Nonsense(f"nested deeper than {DEEPEST}")
    if isinstance(value, list):
        return [decode(item, depth + 1) for item in value] if _NESTED & set(map(type, value)) else value
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {key: decode(item, depth + 1) for key, item in value.items()}
    try:
        return _decode_tagged(value, depth + 1)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Nonsense(f"a value that is not as it should be: {type(error).__name__}") from None


def _is_plain(items: list[Any]) -> bool:
    """Whether JSON has a word for every one of `items`: long lists of numbers need no closer look."""
    kinds = set(map(type, items))
    return kinds <= _PLAIN and (float not in kinds or all(map(math.isfinite, filter(_is_float, items))))


def _is_float(item: Any) -> bool:
    return type(item) is float


def _encode_object(value: Any, keep: Any) -> Any:
    for method in ("detach", "cpu", "numpy"):  # a tensor: its numbers, wherever it lies
        if method == "detach" and not hasattr(type(value), "detach"):
            break
        value = getattr(value, method)()
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind in ("b", "i", "u", "f", "c") and hasattr(value, "tobytes"):
        if getattr(value, "shape", None) == () and hasattr(value, "item") and not hasattr(value, "fill_value"):
            scalar = value.item()  # a number of numpy's is a number
            if isinstance(scalar, (bool, int, float, complex)):
                return encode(scalar)
        data = base64.b64encode(value.tobytes()).decode()
        return {"$": "array", "dtype": value.dtype.str, "shape": [int(n) for n in value.shape], "data": data}
    ref = None if keep is None else keep(value)
    return {"$": "object", "type": type(value).__name__[:60], "ref": ref}


def _decode_tagged(value: dict[str, Any], depth: int) -> Any:
    kind = value["$"]
    if kind == "float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[value["value"]]
    if kind == "bytes":
        return base64.b64decode(_text(value["data"]), validate=True)
    if kind == "array":
        return _array(_text(value["dtype"]), value["shape"], _text(value["data"]))
    if kind == "object":
        ref = value.get("ref")
        if ref is not None and (isinstance(ref, bool) or not isinstance(ref, int) or not 0 <= ref < 1 << 53):
            raise Nonsense("an object without a number")
        return Opaque(_text(value["type"])[:60], ref)
    items = value["items"]
    if not isinstance(items, list):
        raise Nonsense("a collection without items")
    if kind == "dict":
        keys = _hashable([decode(key, depth) for key, _ in items])
        return dict(zip(keys, [decode(item, depth) for _, item in items], strict=True))
    if kind == "complex":
        real, imaginary = (decode(item, depth) for item in items)
        return complex(real, imaginary)
    found = [decode(item, depth) for item in items]
    if kind == "tuple":
        return tuple(found)
    if kind == "set":
        return set(_hashable(found))
    raise Nonsense("a kind of value that there is not")


def _hashable(keys: list[Any]) -> list[Any]:
    """The keys, unless so many share a hash that taking them in would take for ever (numbers can be made so)."""
    hashes = sorted(map(hash, keys))
    if any(a == b for a, b in zip(hashes, hashes[MOST_OF_ONE_HASH:], strict=False)):
        raise Nonsense("keys made to collide")
    return keys


def _array(dtype: str, shape: Any, data: str) -> Any:
    """An array of numbers, and of nothing else: `dtype` such as <f8."""
    if len(dtype) > 4 or dtype[:1] not in "<>|" or dtype[1:2] not in KINDS_OF_NUMBERS or not dtype[2:].isdecimal():
        raise Nonsense("an array of something else than numbers")
    if not isinstance(shape, list) or len(shape) > 16 or not all(type(n) is int and 0 <= n < 1 << 32 for n in shape):
        raise Nonsense("an array of no shape")
    numpy = importlib.import_module("numpy")

    flat = numpy.frombuffer(base64.b64decode(data, validate=True), dtype=numpy.dtype(dtype))
    if flat.size != math.prod(shape):
        raise Nonsense("an array whose shape and data differ")
    return flat.reshape(shape).copy()


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Nonsense("a text that is none")
    return value


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise Nonsense("a number of too many digits")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Nonsense("a number out of range")
    return value


def _refuse(word: str) -> Any:
    raise Nonsense(f"{word} is no number of JSON")
