"""Our side of the stage `tests`: runs the test functions of the lab's master copy, writes tests.json.

    python -I /judge/qianka/grading/harness/run_tests.py --lab /lab --out /out/tests.json --rules JSON

Visible tests run first, in a process of their own: nothing that a hidden test hands over can come out in the
message of a visible one. A test file that cannot be loaded ends this program with an error: nothing is graded then.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import linecache
import os
import random
import signal
import sys
import time
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

sys.path.insert(0, os.path.abspath(__file__).rsplit("/", 4)[0])

from qianka.grading.harness import teacher
from qianka.grading.harness.link import Ended, Gone, PeerError, Raised, TimedOut, clean, connect

MOST_TESTS = 300
DETAILS = 150_000
"""characters of details in a whole report: a report above 1 MiB would not be read"""
_OURS = (NameError, ImportError, SyntaxError, teacher.NotNow)
"""what no value of a student's can make a test raise, but for `_of_value`: the test itself is wrong"""
_STATES: dict[type[PeerError], str] = {Raised: "raised", TimedOut: "timeout", Ended: "ended", Gone: "gone"}


class Broken(Exception):
    """The tests themselves are wrong; the message is for staff."""


class Test:
    """One test function and what it says about itself."""

    def __init__(self, file: str, function: Callable[[], object]) -> None:
        facts = getattr(function, teacher.MARK, {})
        self.file, self.function = file, function
        self.name = function.__name__
        self.points = float(facts.get("points", 1.0))
        self.visible = bool(facts.get("visible", True))
        self.group = facts.get("group") or {"zh": "", "en": ""}
        self.title = facts.get("title") or {"zh": self.name, "en": self.name}
        self.hint = facts.get("hint")
        self.seconds: float | None = facts.get("seconds")


class Runner:
    """Runs tests, one after the other."""

    def __init__(self, rules: dict[str, Any]) -> None:
        self.student = teacher.student
        self.student.rules = rules
        self.student.link = connect(dict(os.environ))
        self.student.deadline = time.monotonic() + float(rules["seconds_total"])
        self.items: list[dict[str, Any]] = []
        self.room = 4000
        """characters of details of one test"""
        self.staff: list[str] = []
        self._link = self.student.link

    def run(self, tests: list[Test]) -> dict[str, Any]:
        """The report. Raises Broken when a test is wrong in itself."""
        began = time.monotonic()
        self.room = min(4000, DETAILS // len(tests))
        visible_error = None
        for visible in (True, False):
            file = None
            for test in [test for test in tests if test.visible is visible]:
                self.items.append(self._item(test, fresh=test.file != file))
                file = test.file
            if visible:
                visible_error = self.student.import_error
        self._link.close()
        return {
            "format": 1,
            "items": self.items,
            "notes": [],
            "failure": self._failure(visible_error),
            "staff": self.staff[:100],
            "seconds": round(time.monotonic() - began, 3),
            "complete": True,
        }

    def _item(self, test: Test, *, fresh: bool) -> dict[str, Any]:
        began = time.monotonic()
        self.student.last = ""
        state, error = self._outcome(test, fresh)
        message = exception = file = line = None
        if isinstance(error, Raised):
            exception, message, file, line = error.exception, error.message, error.file, error.line
        elif error is not None and state == "failed":
            message = self._message(test, error)
        return {
            "name": test.name,
            "title": _words(test.title),
            "group": _words(test.group),
            "visible": test.visible,
            "points": test.points,
            "earned": test.points if state == "passed" else 0.0,
            "state": state,
            "message": message,
            "exception": exception,
            "file": file,
            "line": line,
            "hint": None if test.hint is None else _words(test.hint),
            "seconds": round(time.monotonic() - began, 3),
            "details": "" if error is None else self._details(error),
        }

    def _outcome(self, test: Test, fresh: bool) -> tuple[str, BaseException | None]:
        random.seed(zlib.crc32(test.name.encode()))
        self.student.limit = test.seconds
        try:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, self.student.deadline - time.monotonic()) + 1.0)
            if fresh:
                self.student.restart()
            test.function()
        except AssertionError as error:
            return "failed", error
        except PeerError as error:
            return _STATES.get(type(error), "failed"), error
        except teacher.Late as error:
            return "late", error
        except Exception as error:
            # A test may raise anything; whose fault that is, is asked here.
            if (isinstance(error, _OURS) and not _of_value(error)) or not self._link.answers:
                raise Broken(f"{test.file}: {test.name}\n{self._details(error)}") from error
            self.staff.append(clean(f"{test.file}: {test.name} raised {type(error).__name__}: {error}", 300))
            return "broken", error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return "passed", None

    def _message(self, test: Test, error: BaseException) -> str:
        """Of an assertion: its own words, else the line of the test; and the last call with what came back."""
        words = clean(str(error), 200)
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename.endswith(test.file) and not words:
                words = clean(linecache.getline(frame.filename, frame.lineno or 0).strip(), 160)
        return f"{words}; {self.student.last}" if self.student.last else words

    def _details(self, error: BaseException) -> str:
        lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-6)
        # What a student returned may stand in here; half a character of it could not be written down.
        return (f"{self.student.last}\n" + "".join(lines))[-self.room :].encode("utf-8", "replace").decode()

    def _failure(self, visible: Raised | None) -> dict[str, Any] | None:
        """Why nothing passed, where the student's module could not even be imported."""
        error = visible or self.student.import_error
        if error is None or any(item["state"] == "passed" for item in self.items):
            return None
        told: dict[str, Any] = {
            "state": "import",
            "exception": error.exception,
            "message": "",
            "file": None,
            "line": None,
        }
        if visible is not None:
            # Before anything hidden was handed over: its words cannot tell of it.
            told |= {"message": error.message, "file": error.file, "line": error.line}
        return told


def _of_value(error: Exception) -> bool:
    """Whether a value can be behind it: a loop over nothing that binds no name, text that a test reads as Python."""
    is_text = isinstance(error, SyntaxError) and (error.filename or "<").startswith("<")
    return is_text or isinstance(error, UnboundLocalError)


def _words(text: dict[str, str]) -> dict[str, str]:
    return {language: clean(words, 200) for language, words in text.items()}


def load(lab: Path, patterns: list[str]) -> list[Test]:
    """The tests of all files, in the order of their names. Raises Broken."""
    sys.modules["qianka_tests"] = teacher
    files = sorted({path for pattern in patterns for path in lab.glob(pattern) if path.is_file()})
    if not files:
        raise Broken(f"no test file is called {', '.join(patterns)}")
    tests = []
    for path in files:
        name = path.relative_to(lab).as_posix()
        module = _module(path, name)
        found = [
            value
            for key, value in vars(module).items()
            if key.startswith("test_") and callable(value) and getattr(value, "__module__", "") == module.__name__
        ]
        tests += [Test(name, function) for function in found]
    if not tests or len(tests) > MOST_TESTS:
        raise Broken(f"{len(tests)} tests, there must be 1 to {MOST_TESTS}")
    return tests


def _module(path: Path, name: str) -> ModuleType:
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(f"tests_{zlib.crc32(name.encode()):08x}", path)
        if spec is None or spec.loader is None:
            raise Broken(f"{name} is no Python file")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except Exception as error:
        # Whatever a test file raises while it is loaded, it cannot be used.
        raise Broken(f"{name} cannot be loaded\n{traceback.format_exc(limit=-4)}") from error
    return module


def _late(number: int, frame: FrameType | None) -> None:
    raise teacher.Late


def main() -> None:
    """Command line: where the lab lies, where the report goes, and the lab's rules as JSON."""
    parser = argparse.ArgumentParser()
    for name in ("--lab", "--out", "--rules"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    rules = json.loads(options.rules)
    signal.signal(signal.SIGALRM, _late)
    try:
        # First, since what tests import for themselves is none of the student's time.
        tests = load(Path(options.lab), list(rules["files"]))
        report = Runner(rules).run(tests)
    except Broken as error:
        sys.exit(f"the tests are broken: {error}")
    text = json.dumps(report, allow_nan=False, ensure_ascii=False)
    with open(options.out + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(options.out + ".part", options.out)


if __name__ == "__main__":
    main()
