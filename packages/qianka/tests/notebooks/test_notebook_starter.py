"""What students are handed holds no solution, no hidden test and no hint."""

from __future__ import annotations

import json

import pytest
from qianka.notebooks.master import understand
from qianka.notebooks.reading import read
from qianka.notebooks.regions import BadRegion, plain, without_hidden, without_solution
from qianka.notebooks.starter import Leaks, hidden_lines, solution, starter
from qianka.notebooks.subset import beyond, unsure
from qianka.testing.notebooks import code, graded, notebook, written

TEST = "assert f(1) == 2\n### BEGIN HIDDEN TESTS\nassert f(41) == 42, 'the secret'\n### END HIDDEN TESTS"


def test_hidden_tests_and_hints_and_outputs_are_gone() -> None:
    answer = code("def f(x):\n    ### BEGIN SOLUTION\n    return x + 1\n    ### END SOLUTION", "f", solution=True)
    answer["outputs"] = [{"output_type": "stream", "text": "the answer is x + 1"}]
    whole = graded("assert f(7) == 8", "secret-cell", 1, hidden=True, hint="看看 f", hint_en="look at f")
    master = read(written(notebook(answer, graded(TEST, "t", 2), whole)))
    for made in (starter(master), solution(master)):
        text = made.decode()
        for secret in ("f(41)", "f(7)", "the secret", "看看", "look at f", "the answer is", "HIDDEN"):
            assert secret not in text
    assert "return x + 1" not in starter(master).decode()
    assert "return x + 1" in solution(master).decode()
    assert json.loads(starter(master))["cells"][0]["source"] == (
        "def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    )


def test_a_hidden_line_elsewhere_is_a_leak() -> None:
    note = {"cell_type": "markdown", "metadata": {}, "source": "For me:\n\nassert f(41) == 42, 'the secret'"}
    master = read(written(notebook(code("f = abs", "f"), graded(TEST, "t"), note)))
    # What students know anyway cannot be hidden: the line is taken for known, and so it is not reported twice.
    assert "assert f(41) == 42, 'the secret'" not in hidden_lines(understand(master))
    assert Leaks("x").line == "x"


def test_answers_without_markers_and_answers_in_words_are_replaced() -> None:
    words = {"cell_type": "markdown", "source": "Because.", "metadata": code("", "w", solution=True)["metadata"]}
    words["metadata"]["nbgrader"] |= {"grade": True, "points": 2}
    master = read(written(notebook(code("x = 42", "x", solution=True), words, graded("assert x", "t"))))
    sources = [cell["source"] for cell in json.loads(starter(master))["cells"]]
    assert sources[:2] == ["# YOUR CODE HERE\nraise NotImplementedError()", "YOUR ANSWER HERE"]


def test_otters_marks_are_understood() -> None:
    lines = ["def f(x):", "    y = x + 1 # SOLUTION", "    z = 3 # SOLUTION NO PROMPT"]
    lines += ['    """ # BEGIN PROMPT', "    ...", '    """ # END PROMPT', "    return y # SOLUTION"]
    source = "\n".join(lines)
    assert without_solution(source) == "def f(x):\n    y = ...\n    ...\n    ..."


@pytest.mark.parametrize(
    "source",
    [
        "### BEGIN HIDDEN TESTS\nx",
        "x\n### END HIDDEN TESTS",
        "### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS",
    ],
)
def test_markers_that_do_not_pair_are_refused(source: str) -> None:
    with pytest.raises(BadRegion):
        without_hidden(source)
    notes = understand(read(written(notebook(graded(source, "t"))))).notes
    assert "bad_region" in [note.code for note in notes]


def test_plain_keeps_every_line_but_the_markers() -> None:
    assert plain(TEST) == "assert f(1) == 2\nassert f(41) == 42, 'the secret'"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("%timeit f()", "syntax"),
        ("!ls", "syntax"),
        ("get_ipython().run_cell('1')", "shell"),
        ("assert 'f' in globals()", "names"),
        ("assert open('out.txt').read()", "files"),
        ("import os\nassert os.path.exists('x')", "files"),
        ("import matplotlib.pyplot as plt\nassert plt.gca().lines", "module"),
        ("with redirect_stdout(b):\n    f()", "capture"),
        ("await f()", "await"),
    ],
)
def test_what_our_side_cannot_do_is_named(source: str, what: str) -> None:
    assert beyond(source)[0].code == what


def test_values_of_given_cells_are_told_to_be_the_students() -> None:
    cells = [
        code("import csv\ndata = list(csv.reader(open('x.csv')))\nlimit = 3", "given"),
        graded("assert f(data) > limit", "t", hidden=True),
    ]
    master = understand(read(written(notebook(*cells))))
    assert [one.detail for one in unsure(master.tests[0], master)] == ["data"]


@pytest.mark.parametrize("points", [-1, "3", True, None, 1e9, float("nan")])
def test_points_that_are_none_are_a_mistake(points: object) -> None:
    cell = graded("assert 1", "t")
    cell["metadata"]["nbgrader"]["points"] = points
    assert "bad_points" in [note.code for note in understand(read(json.dumps(notebook(cell)).encode())).notes]
