"""However a notebook was cut up, every damage is named and every test still has its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qianka.notebooks.master import Master, understand
from qianka.notebooks.pairing import Pairing, pair
from qianka.notebooks.reading import read
from qianka.notebooks.starter import starter
from qianka.notebooks.texts import of_note
from qianka.testing.notebooks import code, graded, locked, notebook, written

SETUP = locked("import math\n\ndef near(a, b):\n    return abs(a - b) < 1e-6", "setup")
MASTER = notebook(
    SETUP,
    code(
        "def area(r):\n    ### BEGIN SOLUTION\n    return math.pi * r * r\n    ### END SOLUTION", "area", solution=True
    ),
    graded("assert near(area(0), 0)\n### BEGIN HIDDEN TESTS\nassert area(2) > 12.5\n### END HIDDEN TESTS", "t-area", 2),
    code("def twice(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION", "twice", solution=True),
    graded("assert twice(4) == 8", "t-twice", 3),
)


def master() -> Master:
    return understand(read(written(MASTER)))


def given_out() -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(starter(read(written(MASTER))))["cells"]
    return cells


def paired(cells: list[dict[str, Any]]) -> Pairing:
    return pair(read(written(notebook(*cells))), master())


def order(found: Pairing) -> list[str]:
    return [f"{step.kind} {step.key or step.number}" for step in found.steps]


WHOLE = ["cell setup", "cell area", "test t-area", "cell twice", "test t-twice"]


def test_an_untouched_notebook_has_nothing_to_be_told() -> None:
    found = paired(given_out())
    assert (order(found), found.notes) == (WHOLE, [])


def test_both_copies_run_in_order_and_the_second_is_named() -> None:
    cells = given_out()
    found = paired([*cells[:2], cells[1], *cells[2:]])
    assert order(found) == ["cell setup", "cell area", "cell area", "test t-area", "cell twice", "test t-twice"]
    assert [(note.code, note.cell, note.detail) for note in found.notes] == [("duplicate", 3, "area")]


def test_a_split_answer_is_named_and_both_halves_run() -> None:
    cells = given_out()
    half = {**cells[1], "source": "other = 'half of it'"}
    found = paired([*cells[:2], half, *cells[2:]])
    assert [note.code for note in found.notes] == ["split"]
    assert order(found).count("cell area") == 2


def test_a_missing_answer_is_named_and_its_test_runs() -> None:
    cells = given_out()
    found = paired([cells[0], *cells[2:]])
    assert [(note.code, note.detail) for note in found.notes] == [("missing", "area")]
    assert [step for step in order(found) if step.startswith("test")] == ["test t-area", "test t-twice"]


def test_merged_answers_are_named() -> None:
    cells = given_out()
    both = {**cells[1], "source": cells[1]["source"] + "\n\n" + cells[3]["source"]}
    found = paired([cells[0], both, cells[2], cells[4]])
    assert [(note.code, note.cell, note.detail) for note in found.notes] == [("merged", 2, "twice")]


def test_a_changed_test_cell_counts_for_nothing() -> None:
    cells = given_out()
    cells[4] = {**cells[4], "source": "pass  # all is well"}
    found = paired(cells)
    assert [(note.code, note.cell) for note in found.notes] == [("test_changed", 5)]
    assert order(found) == WHOLE


def test_changed_and_missing_given_cells_are_the_teachers() -> None:
    cells = given_out()
    changed = paired([{**cells[0], "source": "def near(a, b):\n    return True"}, *cells[1:]])
    assert order(changed)[0] == "given setup"
    missing = paired(cells[1:])
    assert order(missing)[0] == "given setup"
    assert [note.code for note in (*changed.notes, *missing.notes)] == ["given_changed", "given_missing"]


def test_a_test_follows_its_answer_wherever_it_was_moved() -> None:
    cells = given_out()
    found = paired([cells[0], cells[3], cells[4], cells[2], cells[1]])
    steps = order(found)
    assert steps.index("test t-area") > steps.index("cell area")
    assert steps.index("test t-twice") > steps.index("cell twice")
    assert "moved" in [note.code for note in found.notes]


def test_cells_without_any_marks_are_recognised_by_what_they_say() -> None:
    bare = [{**cell, "metadata": {}, "id": f"n{n}"} for n, cell in enumerate(given_out())]
    found = paired(bare)
    assert order(found) == WHOLE
    assert {note.code for note in found.notes} == {"marks_lost"}


def test_an_answer_that_is_no_code_any_more_is_named() -> None:
    cells = given_out()
    cells[1] = {"cell_type": "markdown", "metadata": cells[1]["metadata"], "source": cells[1]["source"]}
    found = paired(cells)
    assert [note.code for note in found.notes] == ["type_changed"]


def test_otters_own_calls_are_left_out() -> None:
    cells = given_out()
    found = paired([code("import otter\ngrader = otter.Notebook('x.ipynb')"), *cells, code("grader.check('area')")])
    assert order(found) == WHOLE


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_every_test_runs_exactly_once_after_any_cutting_and_pasting(data: st.DataObject) -> None:
    cells = given_out()
    chosen = data.draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=12))
    stripped = data.draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    made = [{**cells[n], "metadata": {} if bare else cells[n]["metadata"], "id": f"c{at}"}
            for at, (n, bare) in enumerate(zip(chosen, stripped, strict=True))]  # fmt: skip
    found = paired(made)
    tests = [step.key for step in found.steps if step.kind == "test"]
    assert sorted(tests) == ["t-area", "t-twice"]
    own = [step.number for step in found.steps if step.kind == "cell"]
    assert own == sorted(set(own))
    assert all(of_note(note) for note in found.notes)


@pytest.mark.parametrize(
    "source", ["", "   \n", "# only a comment", "def broken(:\n  (((", "\ufffd", "%%bash\nrm -rf /"]
)
def test_sources_may_be_anything(source: str) -> None:
    cells = given_out()
    cells[1] = {**cells[1], "source": source}
    assert len([step for step in paired(cells).steps if step.kind == "test"]) == 2
