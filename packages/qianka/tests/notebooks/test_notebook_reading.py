"""Any file at all is either plain cells or a named refusal; nothing else ever happens."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qianka.notebooks.reading import MAX_BYTES, MAX_CELLS, Unreadable, read, read_file
from qianka.notebooks.texts import of_note, of_unreadable
from qianka.testing.notebooks import code, notebook, written

GOOD = notebook(code("x = 1"), {"cell_type": "markdown", "metadata": {}, "source": ["# a\n", "b"]})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings_that_tools_write_are_read(encoding: str) -> None:
    found = read(json.dumps(GOOD).encode(encoding))
    assert [(cell.number, cell.kind, cell.source) for cell in found.cells] == [
        (1, "code", "x = 1"),
        (2, "markdown", "# a\nb"),
    ]


def test_nbformat_3_is_read() -> None:
    cells = [
        {"cell_type": "code", "input": ["a = 1\n", "b"], "language": "python"},
        {"cell_type": "heading", "level": 1, "source": "T"},
    ]
    old = {"nbformat": 3, "worksheets": [{"cells": cells}]}
    assert [(cell.kind, cell.source) for cell in read(written(old)).cells] == [("code", "a = 1\nb"), ("markdown", "T")]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty_file"),
        (b"\0\0\0  \n", "empty_file"),
        (b"<!DOCTYPE html><p>", "other_format"),
        (b"PK\x03\x04rest", "other_format"),
        (b"%PDF-1.7", "other_format"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "other_format"),
        (b"import numpy as np\n", "other_format"),
        (b"[]", "no_notebook"),
        (b'"cells"', "no_notebook"),
        (b"{}", "no_notebook"),
        (b'{"nbformat": 4}', "no_cells"),
        (b'{"nbformat": 4, "cells": []}', "no_cells"),
        (b'{"nbformat": 4, "cells": {"0": 1}}', "no_cells"),
        (b'{"cells": [1, null, "x", [], {}], "nbformat": 4}', "no_cells"),
        (json.dumps(GOOD).encode()[:60], "truncated"),
        (b'{"cells": [}', "not_json"),
        ('{"cells": ["训练"]}'.encode("gbk"), "not_utf8"),
        (b'{"a":' + b"[" * 300_000, "too_deep"),
        (b'{"a":' * 200_000, "too_deep"),
        (b'{"cells": [\n<<<<<<< HEAD\n{}\n=======\n>>>>>>> x\n]}', "merge_conflict"),
        (b'{"x": "' + b"a" * MAX_BYTES + b'"}', "too_big"),
        (b'{"x": [' + b"0," * 3_000_000 + b"0]}", "too_many_values"),
        (b'{"x": [' + b'"",' * 4_500_000 + b"0]}", "too_many_values"),
        (written({"nbformat": 4, "cells": [code("")] * (MAX_CELLS + 1)}), "too_many_cells"),
    ],
)
def test_what_is_no_notebook_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read(data)
    assert refused.value.code == reason
    assert all(of_unreadable(refused.value))


@pytest.mark.parametrize(
    ("data", "code_of_note"),
    [
        (written(notebook(code("x = '\ud800'"))), "surrogate"),
        (json.dumps(notebook(code("x = '\ud800'"))).encode(), "surrogate"),
        (json.dumps(notebook(code("x\0y"))).encode(), "nul"),
        (b'{"nbformat": 4, "nbformat": 4, "cells": [{"cell_type": "code", "source": "x"}]}', "duplicate_key"),
        (b'{"nbformat": NaN, "cells": [{"cell_type": "code", "source": "x"}]}', "nan"),
        (written({**GOOD, "nbformat": "four"}), "no_version"),
        (written({**GOOD, "nbformat": 9}), "new_version"),
        (written(notebook(code("x"), {"cell_type": 7, "source": "y"})), "bad_cell"),
        (written(notebook(code("x"), {"cell_type": "code", "source": [1]})), "bad_cell"),
        (written(notebook(code("x"), code("#" * 1_100_000))), "cell_too_big"),
        (written(notebook({**code("x"), "metadata": [1]})), "bad_metadata"),
    ],
)
def test_what_is_odd_is_read_and_told(data: bytes, code_of_note: str) -> None:
    found = read(data)
    assert found.cells
    notes = [note for note in found.notes if note.code == code_of_note]
    assert notes
    assert all(of_note(notes[0]))
    found.cells[0].source.encode("utf-8")
    assert "\0" not in found.cells[0].source


def test_great_numbers_and_great_outputs_do_no_harm() -> None:
    cell = {**code("x"), "outputs": [{"data": {"image/png": "A" * (10 << 20)}}], "execution_count": 1}
    text = written(notebook(cell)).replace(b'"execution_count": 1', b'"execution_count": ' + b"9" * 100_000)
    tracemalloc.start()
    found = read(text)
    assert tracemalloc.get_traced_memory()[1] < 300 << 20
    tracemalloc.stop()
    assert found.cells[0].source == "x"


def test_hostile_json_is_refused_quickly() -> None:
    for data in (
        b'{"x": "' + b'\\"' * 7_000_000 + b'"}',
        b'{"' + b"\\" * (15 << 20),
        b'{"x":"' + b"\\u0041" * 2_500_000,
    ):
        begin = time.process_time()
        with pytest.raises(Unreadable):
            read(data)
        assert time.process_time() - begin < 5


def test_links_and_devices_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(written(GOOD))
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "a.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    for name in ("link.ipynb", "pipe.ipynb", "none.ipynb", "."):
        with pytest.raises(Unreadable, match="missing"):
            read_file(str(tmp_path / name))
    assert len(read_file(str(tmp_path / "a.ipynb")).cells) == 2


_KEYS = ["cells", "cell_type", "source", "metadata", "id", "nbformat", "worksheets", "nbgrader", "grade_id"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=30,
)


def outcome(data: bytes) -> list[tuple[str, str]]:
    """Everything that is said of a file."""
    try:
        return [of_note(note) for note in read(data).notes]
    except Unreadable as error:
        return [of_unreadable(error)]


@given(_JSON | st.fixed_dictionaries({"nbformat": _JSON, "cells": st.lists(_JSON, max_size=5)}))
@settings(max_examples=300, deadline=None)
def test_wrong_types_everywhere_raise_nothing_else(value: object) -> None:
    assert all(all(pair) for pair in outcome(json.dumps(value).encode()))


@given(st.binary(max_size=300))
def test_any_bytes_raise_nothing_else(data: bytes) -> None:
    assert all(all(pair) for pair in outcome(data))
