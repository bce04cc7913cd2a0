"""What notebooks may try, and what it comes to: both sides as two processes with a socket between.

Without a sandbox, so that it runs wherever a student runtime is; test_class_of_notebooks.py has the whole platform.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from qianka.grading import stages
from qianka.grading.report import Item, Report, read_report
from qianka.testing.notebooks import code, graded, locked, notebook, written

pytestmark = pytest.mark.runtime
SECRET = "assert f(10) == 11, 'SECRET'"
MASTER = notebook(
    locked("import numpy as np\n\ndef near(a, b):\n    return abs(a - b) < 1e-6", "setup"),
    code("def f(x):\n    ### BEGIN SOLUTION\n    return x + 1\n    ### END SOLUTION", "f", solution=True),
    graded(f"assert f(1) == 2\n### BEGIN HIDDEN TESTS\n{SECRET}\n### END HIDDEN TESTS", "t-f", 2),
    code("def g(x):\n    ### BEGIN SOLUTION\n    return x * 2\n    ### END SOLUTION", "g", solution=True),
    graded("assert g(2) == 4", "t-g"),
    graded("assert near(f(g(3)), 7)", "t-both", 1, hidden=True, hint="看看 g", hint_en="look at g"),
)
F, G = "def f(x):\n    return x + 1", "def g(x):\n    return x * 2"


@dataclass
class Done:
    """What our side wrote, and what both sides printed."""

    report: Report
    raw: str
    printed: str

    def item(self, name: str) -> Item:
        return next(item for item in self.report.items if item.name == name)

    @property
    def states(self) -> dict[str, str]:
        return {item.name: item.state for item in self.report.items}

    @property
    def notes(self) -> list[str]:
        return [note.code for note in self.report.notes]


class Bench:
    """Runs hand-ins of one lab."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self.folder = folder
        self.python = str(runtime / "bin" / "python")
        self.master: dict[str, Any] = MASTER

    def run(self, first: str = F, second: str = G, **rules: float) -> Done:
        """A hand-in with these two answers."""
        cells = [locked(self.master["cells"][0]["source"], "setup"), code(first, "f"), code(second, "g")]
        return self.grade(written(notebook(*cells)), **rules)

    def grade(self, data: bytes, **rules: float) -> Done:
        """Any file at all as a hand-in."""
        for name, content in (("work/a.ipynb", data), ("lab/master/a.ipynb", written(self.master))):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(content)
        out = self.folder / "notebook.json"
        limits = {"seconds": 2.0, "seconds_start": 20.0, "seconds_total": 40.0, **rules}
        told = json.dumps({**limits, "file": "a.ipynb", "master": "master/a.ipynb"})
        ours, theirs = socket.socketpair()
        place = ["--place", str(self.folder / "out/work"), "--home", str(self.folder / "out/home")]
        peer = self._start("peer.py", ["--work", str(self.folder / "work"), *place], theirs)
        words = ["--handin", str(self.folder / "work"), "--lab", str(self.folder / "lab"), "--out", str(out)]
        main = self._start("ours.py", [*words, "--rules", told], ours)
        ours.close()
        theirs.close()
        try:
            _, stderr = main.communicate(timeout=90)
            assert main.returncode == 0, stderr
        finally:
            peer.kill()  # the supervisor does so too: a stopped process ends by itself never
            printed, _ = peer.communicate(timeout=10)
        raw = out.read_text("utf-8")
        return Done(read_report(json.loads(raw)), raw, printed)

    def _start(self, script: str, words: list[str], end: socket.socket) -> subprocess.Popen[str]:
        environment = {"PATH": os.environ["PATH"], "QIANKA_SOCKET": str(end.fileno()), "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            [self.python, "-I", str(stages.HARNESS / "notebook" / script), *words],
            pass_fds=[end.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )


@pytest.fixture
def bench(tmp_path: Path, student_runtime: Path) -> Bench:
    return Bench(tmp_path, student_runtime)


ALL = {"t-f": "passed", "t-g": "passed", "t-both": "passed"}


def test_a_solved_notebook_earns_everything(bench: Bench) -> None:
    done = bench.run()
    assert (done.states, done.report.share, done.notes) == (ALL, 1.0, ["test_missing", "test_missing"])


def test_magics_figures_and_shell_escapes_work_and_installing_is_explained(bench: Bench) -> None:
    first = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n" + F
    second = "!pip install torch\n%pip install torch\nfiles = !echo one two\nassert files == ['one two']\n%time 1\n" + G
    done = bench.run(first, second, seconds=20)
    assert done.states == ALL
    assert "没有网络" in done.printed
    assert "cell_error" not in done.notes


def test_of_a_hidden_test_nothing_is_told(bench: Bench) -> None:
    leak = "seen = []\ndef f(x):\n    seen.append(x)\n    return x + (x < 5)"
    done = bench.run(leak, G + "\nassert 10 not in seen, f'SEEN {seen}'")
    item = done.item("t-f")
    assert (item.state, item.visible, item.message, item.exception, item.line) == ("failed", False, "", None, None)
    assert item.earned == 0
    # The second cell raises once the hidden test has been seen; what is told comes from a run that has not.
    assert "cell_error" not in done.notes
    assert done.item("t-both").hint is not None


@pytest.mark.parametrize(
    "trick",
    [
        "get_ipython().showtraceback = lambda *a, **k: None",
        "import builtins\nbuiltins.AssertionError = Exception",
        "def near(a, b):\n    return True",
        "import numpy as np\nnp.testing.assert_allclose = lambda *a, **k: None",
        "import sys\nsys.settrace(lambda *a: None)",
        "import atexit\natexit.register(lambda: print('passed'))",
        "class E(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__",
    ],
)
def test_tricks_change_nothing(bench: Bench, trick: str) -> None:
    wrong = "def f(x):\n    return E(0) if 'E' in globals() else 0"
    done = bench.run(f"{trick}\n{wrong}", G)
    assert done.states == {"t-f": "failed", "t-g": "passed", "t-both": "failed"}


def test_an_object_equal_to_everything_is_no_value(bench: Bench) -> None:
    done = bench.run("class E:\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return E()")
    assert done.states["t-f"] == "failed"
    assert "plain value" in done.item("t-f").message


def test_an_endless_cell_is_interrupted_and_the_rest_goes_on(bench: Bench) -> None:
    done = bench.run("x = 5\nwhile True:\n    pass", G)
    assert done.states == {"t-f": "raised", "t-g": "passed", "t-both": "raised"}
    assert "cell_timeout" in done.notes


def test_a_cell_that_does_not_stop_is_killed_and_earlier_cells_run_again(bench: Bench) -> None:
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass"
    done = bench.run(F, stubborn)
    assert (done.states["t-f"], done.states["t-g"]) == ("passed", "raised")
    assert "cell_killed" in done.notes


def test_an_endless_function_costs_its_tests_alone(bench: Bench) -> None:
    done = bench.run("def f(x):\n    while True:\n        pass", G)
    assert done.states == {"t-f": "timeout", "t-g": "passed", "t-both": "timeout"}


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_leaving_costs_its_cell_alone(bench: Bench, end: str) -> None:
    done = bench.run(F, f"import os\n{end}")
    assert (done.states["t-f"], done.states["t-g"]) == ("passed", "raised")
    assert "cell_died" in done.notes


def test_sys_exit_is_an_error_of_its_cell(bench: Bench) -> None:
    done = bench.run(F, f"{G}\nimport sys\nsys.exit(0)")
    assert (done.states, "cell_error" in done.notes) == (ALL, True)


def test_a_flood_is_cut_and_named(bench: Bench) -> None:
    done = bench.run(F, f"{G}\nwhile True:\n    print('训' * 100_000)", seconds=20)
    assert (done.states, "cell_flood" in done.notes) == (ALL, True)
    assert len(done.printed) < 100_000


def test_forks_that_come_back_do_no_harm(bench: Bench) -> None:
    done = bench.run(f"import os\nos.fork()\n{F}", G)
    assert done.states == ALL


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSTOP"])
def test_whoever_ends_the_process_above_loses_what_follows(bench: Bench, signal: str) -> None:
    done = bench.run(F, f"import os, signal\nos.kill(os.getppid(), signal.{signal})", seconds_start=3)
    assert (done.states["t-g"], done.report.share) == ("gone", 0.0)


def test_values_that_are_too_great_fail_their_test(bench: Bench) -> None:
    done = bench.run("def f(x):\n    return 'x' * (40 << 20)", "def g(x):\n    return 10 ** 5000", seconds=20)
    assert (done.states["t-f"], done.states["t-g"]) == ("failed", "failed")


def test_the_total_limit_ends_everything(bench: Bench) -> None:
    done = bench.run(F, "import time\ntime.sleep(60)", seconds=30, seconds_total=4)
    assert done.states["t-g"] == "late"


def test_no_notebook_at_all_is_said_and_nothing_runs(bench: Bench) -> None:
    done = bench.grade(b"<html>")
    assert done.report.failure is not None
    assert (done.report.failure.state, done.notes) == ("unreadable", ["other_format"])


def test_objects_functions_generators_and_arguments_changed_in_place(bench: Bench) -> None:
    answer = (
        "class Stack:\n"
        "    def __init__(self):\n        self.items = []\n"
        "    def push(self, x):\n        self.items.append(x)\n        return self\n"
        "    def __len__(self):\n        return len(self.items)\n"
        "    def __add__(self, other):\n        s = Stack()\n"
        "        s.items = self.items + other.items\n        return s\n"
        "    def __eq__(self, other):\n        return self.items == other.items\n"
        "    def __repr__(self):\n        return f'Stack({self.items})'\n"
        "def apply(h, x):\n    return h(h(x))\n"
        "def grow(l, a):\n    l.append(1)\n    a += 1\n"
        "def count():\n    n = 0\n    while True:\n        yield n\n        n += 1\n"
        "def roll():\n    import random\n    return random.random()\n"
        "def bad():\n    raise KeyError('k')\n"
    )
    test = (
        "import itertools\nimport random\nimport numpy as np\n"
        "s = Stack()\nt = s.push(3).push(4)\nassert len(s) == 2 and s.items == [3, 4] and t == s\n"
        "assert isinstance(s, Stack) and not isinstance(3, Stack)\nassert repr(s + s) == 'Stack([3, 4, 3, 4])'\n"
        "s.items = [9]\nassert s.items[0] == 9\n"
        "assert apply(lambda x: x * 3, 2) == 18\n"
        "l, a = [0], np.zeros(2)\ngrow(l, a)\nassert l == [0, 1] and a.tolist() == [1, 1]\n"
        "assert list(itertools.islice(count(), 3)) == [0, 1, 2]\n"
        "random.seed(7)\nx = roll()\nrandom.seed(7)\nassert x == roll() == random.Random(7).random()\n"
        "try:\n    bad()\n    raise RuntimeError\nexcept KeyError:\n    pass\n"
    )
    bench.master = notebook(MASTER["cells"][0], code(answer, "f", solution=True), graded(test, "t", 1, hidden=True))
    done = bench.run(answer, "")
    assert done.states == {"t": "passed"}, done.item("t").details


def test_a_visible_test_that_needs_the_students_process_runs_there_and_staff_are_told(bench: Bench) -> None:
    bench.master = notebook(MASTER["cells"][0], graded("import os\nassert os.path.exists('made.txt')", "t"))
    done = bench.run("open('made.txt', 'w').close()", "")
    assert done.states == {"t": "passed"}
    assert "could forge" in " ".join(done.report.staff)
