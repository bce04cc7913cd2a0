"""JSON without `json`: the same values, and nothing that only resembles JSON."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.jobdir.codec import FormatError, dumps, loads

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_what_is_written_is_read_back(value: object) -> None:
    assert loads(dumps(value)) == value


@given(values)
def test_the_standard_library_agrees(value: object) -> None:
    assert json.loads(dumps(value)) == value
    assert loads(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "{} {}",
        "[1, 2",
        "[1 2]",
        "{'a': 1}",
        '"a\nb"',
        "nul",
        "[" * 100_000,
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        loads(text)


@pytest.mark.parametrize("value", [math.nan, math.inf, {1: 2}, {"a": {1, 2}}, b"bytes", 10**50])
def test_what_json_cannot_hold_is_not_written(value: object) -> None:
    if value == 10**50:
        with pytest.raises(FormatError):
            loads(dumps(value))
        return
    with pytest.raises(FormatError):
        dumps(value)
