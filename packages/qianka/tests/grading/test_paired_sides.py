"""Our side and the student's, as two processes with a socket between: what each trick comes to.

Without a sandbox, so that it runs everywhere; tests/labs grades the same tricks on a real platform.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from qianka.grading import stages
from qianka.grading.report import STATES, Item, Report, read_report
from qianka.testing.labfolders import write_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
RULES = {"seconds": 1.0, "seconds_start": 10.0, "seconds_total": 20.0, "files": ["tests/test_*.py"], "path": "code"}
CONTRACTS = Path(__file__).parents[4] / "contracts"
SCHEMA = json.loads((CONTRACTS / "report.schema.json").read_text("utf-8"))
GOOD = "def add(a, b):\n    return a + b\n"
TESTS = """
from qianka_tests import close, hidden, hint, points, seconds, student, title

solution = student.module("solution")

@title("加法", "addition")
def test_add():
    assert solution.add(2, 3) == 5

@hidden("边界", "edges")
@hint("试试大数。", "Try great numbers.")
@points(3)
def test_secret():
    assert solution.add(10**20, 41) == 10**20 + 41, "SECRET-MESSAGE"
"""


@dataclass
class Paired:
    """What both processes ended with."""

    report: Report | None
    code: int
    stderr: str
    peer: int
    printed: str

    def item(self, name: str) -> Item:
        assert self.report is not None, self.stderr
        return next(item for item in self.report.items if item.name == name)

    @property
    def states(self) -> dict[str, str]:
        assert self.report is not None, self.stderr
        return {item.name: item.state for item in self.report.items}


def run(folder: Path, solution: str, tests: str = TESTS, **rules: Any) -> Paired:
    """Run the stage `tests` on a hand-in."""
    write_files(folder, {"lab/tests/test_it.py": tests, "work/code/solution.py": solution})
    (folder / "out").mkdir()
    ours, theirs = socket.socketpair()
    words = ["--lab", str(folder / "lab"), "--out", str(folder / "out/tests.json")]
    words += ["--rules", json.dumps({**RULES, **rules})]
    peer = _start("peer.py", ["--work", str(folder / "work")], theirs, folder / "out")
    main = _start("run_tests.py", words, ours, folder / "out")
    ours.close()
    theirs.close()
    _, stderr = main.communicate(timeout=60)
    printed, _ = peer.communicate(timeout=20)
    written = folder / "out" / "tests.json"
    report = None
    if written.exists():
        raw = json.loads(written.read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(raw)
        report = read_report(raw)
    return Paired(report, main.returncode, stderr, peer.returncode, printed)


def _start(script: str, words: list[str], end: socket.socket, cwd: Path) -> subprocess.Popen[str]:
    environment: Mapping[str, str] = {"PATH": os.environ["PATH"], "QIANKA_SOCKET": str(end.fileno())}
    return subprocess.Popen(
        [sys.executable, "-I", str(stages.HARNESS / script), *words],
        pass_fds=[end.fileno()],
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_golden_sample_keeps_the_schema_and_is_read() -> None:
    sample = json.loads((CONTRACTS / "samples/report-tests.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(sample)
    report = read_report(sample)
    assert ([item.state for item in report.items], report.share) == (["passed", "raised", "failed"], 0.25)
    assert SCHEMA["$defs"]["item"]["properties"]["state"]["enum"] == list(STATES)


def test_a_good_hand_in_passes(tmp_path: Path) -> None:
    done = run(tmp_path, GOOD)
    assert done.report is not None, done.stderr
    assert (done.states, done.report.share) == ({"test_add": "passed", "test_secret": "passed"}, 1.0)
    assert (done.report.failure, done.peer) == (None, 0)
    assert (done.item("test_secret").visible, done.item("test_secret").points) == (False, 3)


def test_a_wrong_answer_is_told_with_the_line_of_the_test_and_what_came_back(tmp_path: Path) -> None:
    done = run(tmp_path, "def add(a, b):\n    return a - b\n")
    assert done.states == {"test_add": "failed", "test_secret": "failed"}
    assert done.item("test_add").message == "assert solution.add(2, 3) == 5; add(2, 3) → -1"


def test_an_exception_is_told_by_type_and_place(tmp_path: Path) -> None:
    done = run(tmp_path, "def add(a, b):\n    x = {}\n    return x['sum']\n")
    found = done.item("test_add")
    assert (found.state, found.exception, found.message) == ("raised", "KeyError", "'sum'")
    assert (found.file, found.line) == ("code/solution.py", 3)


@pytest.mark.parametrize(
    ("source", "exception"),
    [
        ("import sys\nsys.exit(0)\n", "SystemExit"),
        ("import nonesuch\n", "ModuleNotFoundError"),
        ("def add(a, b)\n    return 1\n", "SyntaxError"),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt"),
        ("raise type('Odd', (BaseException,), {})('x\\ny\\x1b[0m')\n", "Odd"),
    ],
)
def test_a_module_that_cannot_be_imported_fails_everything_with_the_reason(
    tmp_path: Path, source: str, exception: str
) -> None:
    done = run(tmp_path, source)
    assert done.report is not None, done.stderr
    assert set(done.states.values()) == {"raised"}
    assert done.report.failure is not None
    assert (done.report.failure.exception, done.report.share) == (exception, 0.0)
    assert "\n" not in done.report.failure.message
    assert "\x1b" not in done.report.failure.message


def test_leaving_by_a_side_door_costs_one_answer_each_time(tmp_path: Path) -> None:
    done = run(tmp_path, "import os\ndef add(a, b):\n    os._exit(0) if a == 2 else None\n    return a + b\n")
    assert done.states == {"test_add": "ended", "test_secret": "passed"}


def test_a_function_that_hangs_costs_its_own_test_only(tmp_path: Path) -> None:
    done = run(tmp_path, "def add(a, b):\n    while a == 2: pass\n    return a + b\n")
    assert done.states == {"test_add": "timeout", "test_secret": "passed"}
    assert 1 <= done.item("test_add").seconds < 5


def test_a_function_that_will_not_be_interrupted_is_killed(tmp_path: Path) -> None:
    stubborn = (
        "import signal, time\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\n"
        "def add(a, b):\n    while True:\n        try: time.sleep(100)\n        except BaseException: pass\n"
    )
    done = run(tmp_path, stubborn)
    assert done.states == {"test_add": "timeout", "test_secret": "timeout"}


def test_when_the_time_of_all_is_over_the_rest_counts_as_failed(tmp_path: Path) -> None:
    slow = "import time\ndef add(a, b):\n    time.sleep(0.8)\n    return a + b\n"
    many = "from qianka_tests import student\n" + "".join(
        f"def test_{n}():\n    assert student.call('solution:add', {n}, 1) == {n + 1}\n" for n in range(6)
    )
    done = run(tmp_path, slow, many, seconds_total=2.5)
    assert done.states["test_0"] == "passed"
    assert done.states["test_5"] == "late"


def test_a_test_that_loops_over_a_student_s_number_is_ended_too(tmp_path: Path) -> None:
    loop = (
        "from qianka_tests import student\ndef test_loop():\n"
        "    n = student.call('solution:add', 0, 0)\n    while n: pass\n"
    )
    done = run(tmp_path, "def add(a, b):\n    return 10**12\n", loop, seconds_total=2.0)
    assert done.states == {"test_loop": "late"}


def test_the_student_s_side_gone_is_told_at_once_and_is_no_fault_of_ours(tmp_path: Path) -> None:
    done = run(tmp_path, "import os, signal\ndef add(a, b):\n    os.kill(os.getppid(), signal.SIGKILL)\n    return 5\n")
    assert done.report is not None, done.stderr
    assert done.code == 0
    assert set(done.states.values()) <= {"gone", "passed"}
    assert done.states["test_secret"] == "gone"


FORGES = """
import json, os
def shout(value):
    for n in range(1, 60):
        for fd in range(3, 40):
            try:
                os.write(fd, (json.dumps({"n": n, "ok": {"value": value}}) + "\\n").encode())
            except OSError:
                pass
class Same:
    def __eq__(self, other): return True
    def __hash__(self): return 1
def add(a, b):
    shout(-1)
    return Same()
shout(-1)
"""


def test_forged_answers_and_lying_objects_win_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, FORGES)
    assert done.report is not None, done.stderr
    assert (done.code, done.report.share) == (0, 0.0)


HOSTILE = {
    "deep": "def add(a, b):\n    x = []\n    for _ in range(100000): x = [x]\n    return x\n",
    "huge": "def add(a, b):\n    return 'x' * (64 << 20)\n",
    "many": "def add(a, b):\n    return [[]] * 3000000\n",
    "surrogates": "def add(a, b):\n    raise ValueError('\\ud800' * 1000 + '\\0')\n",
    "odd name": "def add(a, b):\n    raise type('<b>\\n' * 50, (Exception,), {})()\n",
    "str that raises": "class E(Exception):\n    def __str__(self): raise self\ndef add(a, b):\n    raise E\n",
    "floods": (
        "import os\ndef add(a, b):\n    for fd in range(3, 40):\n        try:\n"
        "            for _ in range(64): os.write(fd, b'[' * (1 << 20))\n        except OSError: pass\n    return 1\n"
    ),
    "closes": "import os\ndef add(a, b):\n    os.closerange(3, 64)\n    return a + b\n",
    "collides": "def add(a, b):\n    return {(2**61 - 1) * n for n in range(50000)}\n",
    "replaces": (
        "import json, builtins, os\njson.dumps = lambda *a, **k: '{\"n\": 1}'\nbuiltins.print = None\n"
        "os.write = lambda *a: 0\ndef add(a, b):\n    return 0\n"
    ),
    "prints": 'def add(a, b):\n    print(\'{"n": 2, "ok": {"value": 5}}\')\n    return 0\n',
    "threads": (
        "import threading, time\n"
        "def spin():\n    while True: pass\n"
        "def add(a, b):\n    for _ in range(20): threading.Thread(target=spin).start()\n    return 0\n"
    ),
}


@pytest.mark.parametrize("trick", HOSTILE)
def test_hostile_values_are_failures_of_the_student_s_and_never_ours(tmp_path: Path, trick: str) -> None:
    done = run(tmp_path, HOSTILE[trick], seconds=3.0)
    assert done.code == 0, done.stderr
    assert done.report is not None
    assert done.report.share == 0.0
    json.dumps([item.message for item in done.report.items]).encode("ascii")
    assert all(item.message.isprintable() and len(item.message) <= 300 for item in done.report.items)


def test_what_hidden_tests_hand_over_cannot_come_out_in_visible_messages(tmp_path: Path) -> None:
    keeps = (
        "seen = []\ndef add(a, b):\n    seen.append([a, b])\n"
        f"    open({str(tmp_path / 'kept')!r}, 'a').write(str(seen))\n"
        f"    raise RuntimeError('leak ' + open({str(tmp_path / 'kept')!r}).read())\n"
    )
    visible_last = TESTS + "\ndef test_visible_after():\n    assert solution.add(0, 0) == 0\n"
    done = run(tmp_path, keeps, visible_last)
    assert done.report is not None
    told = json.dumps([item.message for item in done.report.items if item.visible])
    assert "leak [[2, 3]" in told
    assert str(10**20) not in told
    names = [item.name for item in done.report.items]
    assert names.index("test_secret") == len(names) - 1


def test_objects_stay_over_there_and_answer_calls(tmp_path: Path) -> None:
    stack = (
        "class Stack:\n    def __init__(self): self.items = []\n"
        "    def push(self, x): self.items.append(x)\n    def pop(self): return self.items.pop()\nLIMIT = 7\n"
    )
    tests = """
from qianka_tests import student
solution = student.module("solution")

def test_stack():
    stack = solution.Stack()
    stack.push(3)
    stack.push([1, {"a": None}])
    assert stack.items.value() == [3, [1, {"a": None}]]
    assert stack.pop() == [1, {"a": None}]
    assert solution.Stack.pop(stack) == 3

def test_constant():
    assert solution.LIMIT.value() == 7

def test_raises():
    stack = solution.Stack()
    with student.raises(IndexError):
        stack.pop()
    with student.raises("LookupError"):
        stack.pop()

def test_fresh():
    old = solution.Stack()
    student.restart()
    with student.raises("LookupError"):
        old.push(1)
"""
    assert set(run(tmp_path, stack, tests).states.values()) == {"passed"}


def test_a_test_that_is_wrong_in_itself_grades_nobody(tmp_path: Path) -> None:
    for number, tests in enumerate(
        [
            "def test_a():\n    nonesuch()\n",
            "from qianka_tests import student\nstudent.call('solution:add', 1, 2)\ndef test_a(): pass\n",
            "import nonesuch\ndef test_a(): pass\n",
            "def test_a(:\n",
            "x = 1\n",
            "def test_a():\n    {}['x']\n",
        ]
    ):
        folder = tmp_path / str(number)
        done = run(folder, GOOD, tests)
        assert (done.code, done.report) == (1, None)
        assert "the tests are broken" in done.stderr


def test_a_value_that_a_test_cannot_go_on_with_fails_it_and_is_told_to_staff(tmp_path: Path) -> None:
    tests = (
        "from qianka_tests import student\ndef test_a():\n"
        "    assert abs(student.call('solution:add', 1, 2) - 3) < 1e-9\n"
    )
    done = run(tmp_path, "def add(a, b):\n    return None\n", tests)
    assert done.states == {"test_a": "broken"}
    assert done.report is not None
    assert "TypeError" in done.report.staff[0]


def test_a_report_of_many_long_failures_stays_readable(tmp_path: Path) -> None:
    tests = "from qianka_tests import student\n" + "".join(
        f"def test_{n}():\n    assert student.call('solution:add', 1, 2) == 3, '错' * 5000 + chr(0xd800)\n"
        for n in range(300)
    )
    done = run(tmp_path, "def add(a, b):\n    return '\\ud800' + '值' * 100000\n", tests)
    assert done.report is not None, done.stderr
    assert len(done.report.items) == 300
    assert (tmp_path / "out/tests.json").stat().st_size < 1 << 20


def test_test_files_may_share_helpers_even_late(tmp_path: Path) -> None:
    write_files(tmp_path, {"lab/tests/helping.py": "def three():\n    return 3\n"})
    tests = (
        "from qianka_tests import student\ndef test_a():\n    import helping\n"
        "    assert student.call('solution:add', 1, 2) == helping.three()\n"
    )
    assert run(tmp_path, GOOD, tests).states == {"test_a": "passed"}


def test_the_hand_in_may_be_called_like_our_own_modules(tmp_path: Path) -> None:
    files = {"work/code/wire.py": "X = 1\n", "work/code/link.py": "X = 2\n", "work/code/json.py": "X = 3\n"}
    write_files(tmp_path, files)
    source = "import wire, link\ndef add(a, b):\n    return a + b if (wire.X, link.X) == (1, 2) else 0\n"
    done = run(tmp_path, source)
    assert set(done.states.values()) == {"passed"}


@pytest.mark.parametrize(
    ("body", "returned"),
    [
        ("for row in solution.add(1, 2):\n        last = row\n    assert last == 3", "[]"),
        ("import ast\n    assert ast.literal_eval(solution.add(1, 2)) == 3", "'3 +'"),
    ],
    ids=["nothing to loop over", "text that is no literal"],
)
def test_a_value_that_a_test_did_not_expect_costs_that_test_alone(tmp_path: Path, body: str, returned: str) -> None:
    tests = f"{TESTS}\ndef test_of_value():\n    {body}\n\ndef test_other():\n    assert solution.two() == 2\n"
    done = run(tmp_path, f"def add(a, b):\n    return {returned}\ndef two():\n    return 2\n", tests)
    assert (done.states["test_of_value"], done.states["test_other"]) == ("broken", "passed")
    assert done.report is not None
    assert "test_of_value" in " ".join(done.report.staff)


def test_a_name_that_a_test_file_lacks_is_our_fault(tmp_path: Path) -> None:
    done = run(tmp_path, GOOD, TESTS + "\ndef test_typo():\n    assert solution.add(1, 2) == exspected\n")
    assert (done.report, done.code) == (None, 1)
    assert "exspected" in done.stderr
