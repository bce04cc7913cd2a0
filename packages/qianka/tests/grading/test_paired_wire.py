"""What crosses between the two sides, and what breaks a bound instead of the reader."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.grading.harness import wire
from qianka.grading.harness.wire import Nonsense, Opaque, decode, dumps, encode, loads

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
        | st.sets(st.integers(), max_size=4)
    ),
    max_leaves=20,
)


def crossed(value: Any) -> Any:
    return decode(loads(dumps({"value": encode(value)}))["value"])


@given(VALUES)
def test_plain_values_come_out_as_they_went_in(value: Any) -> None:
    found = crossed(value)
    assert found == value
    assert type(found) is type(value)


def test_what_json_has_no_word_for_crosses_too() -> None:
    assert math.isnan(crossed(math.nan))
    assert crossed((1, -math.inf, 2 + 3j, {"$": 1})) == (1, -math.inf, 2 + 3j, {"$": 1})


def test_an_object_does_not_cross_and_equals_nothing() -> None:
    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

    found = crossed([Anything()])[0]
    assert isinstance(found, Opaque)
    assert found != 3
    assert repr(found) == "<Anything>"


def test_what_holds_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(Nonsense):
        encode(ring)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nothing",
        b"[1]",
        b'{"value": NaN}',
        b'{"value": Infinity}',
        b'{"value": 1e999}',
        b'{"value": ' + b"9" * 2000 + b"}",
        b'{"value": "\xff"}',
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b"[" + b"[]," * 3_000_000,
        b'{"value": "' + b"x" * wire.LONGEST + b'"}',
    ],
    ids=range(12),
)
def test_a_line_that_is_no_message_is_nonsense(line: bytes) -> None:
    with pytest.raises(Nonsense):
        loads(line)


@pytest.mark.parametrize(
    "value",
    [
        {"$": "class", "items": []},
        {"$": "float", "value": "1"},
        {"$": ["float"]},
        {"$": "tuple", "items": 3},
        {"$": "set", "items": [[]]},
        {"$": "dict", "items": [[1]]},
        {"$": "dict", "items": [[[], 1]]},
        {"$": "complex", "items": [1]},
        {"$": "bytes", "data": "?"},
        {"$": "object", "type": 3},
        {"$": "object", "type": "x", "ref": -1},
        {"$": "object", "type": "x", "ref": True},
        {"$": "array", "dtype": "|O8", "shape": [1], "data": "AAAAAAAAAAA="},
        {"$": "array", "dtype": "<f8", "shape": [2], "data": "AAAAAAAAAAA="},
        {"$": "array", "dtype": "<f8", "shape": [-1], "data": ""},
        {"$": "array", "dtype": "<f8", "shape": "1", "data": ""},
        {"$": "array", "dtype": "__import__", "shape": [0], "data": ""},
        json.loads("[" * 70 + "]" * 70),
    ],
)
def test_a_value_of_a_kind_there_is_not_is_nonsense(value: Any) -> None:
    with pytest.raises((Nonsense, ImportError)) as caught:
        decode(value)
    # numpy is in the runtime, not necessarily here; what reaches it is a well-formed array of numbers.
    assert caught.type is not ImportError or value["dtype"] == "<f8"


def test_numbers_made_to_share_a_hash_do_not_hold_up_the_reader() -> None:
    items = [(2**61 - 1) * n for n in range(100_000)]
    began = time.monotonic()
    with pytest.raises(Nonsense, match="collide"):
        decode({"$": "set", "items": items})
    with pytest.raises(Nonsense, match="collide"):
        decode({"$": "dict", "items": [[n, 0] for n in items]})
    assert time.monotonic() - began < 5
