"""The notation of a job array's indexes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.errors import BadInput, OverLimit, QiankaError
from qianka.services.jobs.indexes import LARGEST, Indexes, parse

index = st.integers(0, LARGEST)


@pytest.mark.parametrize(
    ("text", "values", "most"),
    [
        ("0-9%3", tuple(range(10)), 3),
        ("5", (5,), None),
        ("1,3,7", (1, 3, 7), None),
        ("0-9:4", (0, 4, 8), None),
        ("7, 1-3,2%1", (1, 2, 3, 7), 1),
        ("0-3999999:3999999", (0, 3999999), None),
    ],
)
def test_slurms_notation_is_read(text: str, values: tuple[int, ...], most: int | None) -> None:
    assert parse(text, 1000) == Indexes(values, most)


@pytest.mark.parametrize(
    "text",
    [
        "1.5",
        "0x3",
        "1\n2",
        "1;rm",
        "",
        ",",
        "1,",
        "3-1",
        "0-9:0",
        "a",
        "-1",
        "0-9%",
        "0-9%0",
        "0-9%-1",
        "0-9%2%3",
        "1-",
        "٣",
        "4000001",
        "9" * 5000,
    ],
)
def test_what_is_not_in_it_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text, 1000)


def test_an_array_too_large_is_refused_before_it_is_made() -> None:
    with pytest.raises(OverLimit):
        parse("0-4000000%5", 1000)
    with pytest.raises(OverLimit):
        parse("0-599,1000-1599", 1000)
    assert len(parse("0-999,5-900", 1000).values) == 1000


@given(st.lists(st.tuples(index, st.integers(0, 300), st.integers(1, 50)), min_size=1, max_size=5))
def test_a_list_of_ranges_is_their_union_in_order(parts: list[tuple[int, int, int]]) -> None:
    ranges = [(first, min(first + width, LARGEST), step) for first, width, step in parts]
    wanted = sorted({i for first, last, step in ranges for i in range(first, last + 1, step)})
    found = parse(",".join(f"{first}-{last}:{step}" for first, last, step in ranges), 5000)
    assert list(found.values) == wanted
    assert found == parse(",".join(map(str, wanted)) + "", 5000)


@given(st.text(alphabet="0123456789-:,% x", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse(text, 50)
    except QiankaError:
        return
    assert 0 < len(found.values) <= 50
    assert list(found.values) == sorted(set(found.values))
