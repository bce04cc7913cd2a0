"""metrics.jsonl as the platform reads it; what breaks the contract is skipped, never believed."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.adapters import metrics

CONTRACTS = Path(__file__).resolve().parents[4] / "contracts"
SCHEMA = json.loads((CONTRACTS / "metrics.schema.json").read_text("utf-8"))
GOOD = (CONTRACTS / "samples" / "metrics.jsonl").read_bytes().splitlines()
BAD = (CONTRACTS / "samples" / "metrics.refused.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize("line", GOOD)
def test_golden_lines_are_read(line: bytes) -> None:
    jsonschema.validate(json.loads(line), SCHEMA)
    point = metrics.parse(line)
    assert point is not None
    assert point.step == json.loads(line)["step"]
    assert point.nonfinite == json.loads(line).get("nonfinite", {})


@pytest.mark.parametrize("line", BAD)
def test_refused_lines_are_skipped(line: bytes) -> None:
    assert metrics.parse(line) is None


@pytest.mark.parametrize("line", [line for line in BAD if b"NaN" not in line and b"Infinity" not in line])
def test_reader_and_schema_refuse_alike(line: bytes) -> None:
    try:
        record = json.loads(line)
    except ValueError:
        return
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record, SCHEMA)


def test_a_half_written_line_waits_for_its_end(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_bytes(b'{"step": 1, "loss": 2}\n{"step": 2, "lo')
    first = metrics.read(file)
    assert [point.step for point in first.points] == [1]
    with file.open("ab") as more:
        more.write(b'ss": 1}\n')
    second = metrics.read(file, first.next_offset)
    assert [(point.step, point.values) for point in second.points] == [(2, {"loss": 1.0})]
    assert second.next_offset == file.stat().st_size


def test_bad_lines_are_counted_and_cost_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_bytes(b'garbage\n\n{"step": 1}\n\xff\xfe\n{"step": 2}\n')
    reading = metrics.read(file)
    assert [point.step for point in reading.points] == [1, 2]
    assert reading.refused == 2


def test_an_endless_line_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_bytes(b"[" * (3 * metrics.LONGEST_LINE))
    reading = metrics.read(file, limit=1024)
    assert (reading.points, reading.refused) == ([], 1)
    assert reading.next_offset > metrics.LONGEST_LINE


def test_no_file_means_no_points(tmp_path: Path) -> None:
    assert metrics.read(tmp_path / "metrics.jsonl", 7) == metrics.Reading([], 7, 0)


@given(st.binary(max_size=300))
def test_nothing_student_code_writes_breaks_the_reader(line: bytes) -> None:
    metrics.parse(line)


@pytest.mark.parametrize("line", [b"[" * 9000, b'{"step": 1, "loss": 1' + b"0" * 500 + b"}", b'{"step": 1e400}'])
def test_hostile_numbers_and_nesting_are_refused(line: bytes) -> None:
    assert metrics.parse(line) is None
