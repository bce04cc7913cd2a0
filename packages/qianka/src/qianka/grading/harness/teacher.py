"""What test files import as `qianka_tests`: the student's code by name, and what a test says about itself.

    from qianka_tests import close, hidden, hint, points, student

    solution = student.module("solution")

    @points(2)
    def test_mean():
        assert solution.mean([1, 2, 3]) == 2

    @hidden("边界情况", "edge cases")
    @hint("空列表没有平均值。", "An empty list has no mean.")
    def test_mean_of_nothing():
        with student.raises("ValueError"):
            solution.mean([])

Tests run on our side, where no code of the student's is. A call goes to the student's sandbox and comes back as
plain values and arrays (see wire.py); an object that cannot cross stays there, and its methods can be called.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from qianka.grading.harness.link import Ended, Link, Raised, TimedOut, clean, written
from qianka.grading.harness.wire import Opaque

Test = TypeVar("Test", bound=Callable[..., Any])
MARK = "__qianka__"
_SHOWN = 120


class Late(BaseException):
    """No time is left for this stage. No Exception, so that no test takes it for one of its own."""


class NotNow(Exception):
    """The student's code was called while a test file was loaded: calls belong into test functions."""


class Student:
    """The student's side as tests see it; the runner binds it to the socket."""

    def __init__(self) -> None:
        self.link: Link | None = None
        self.rules: dict[str, Any] = {}
        self.deadline = 0.0
        self.limit: float | None = None
        """seconds of one call in this test, where it says so"""
        self.last = ""
        """the last call and what came back, for messages"""
        self.import_error: Raised | None = None
        self._imported: set[str] = set()

    def module(self, name: str) -> Module:
        """A module of the hand-in; it is imported when something of it is first used."""
        return Module(self, name)

    def call(self, target: str, *args: Any, **kwargs: Any) -> Any:
        """`student.call("solution:mean", [1, 2, 3])`: the same as `student.module("solution").mean([1, 2, 3])`."""
        module, _, name = target.partition(":")
        return self.use("call", {"module": module, "name": name}, args, kwargs)

    def raises(self, *exceptions: str | type[BaseException]) -> Raises:
        """`with student.raises("ValueError"): …`: the student's code must raise one of these, or of their children."""
        return Raises(exceptions)

    def restart(self) -> None:
        """A fresh process for the student's code: nothing is imported there, no state is left."""
        path = str(self.rules.get("path") or ".")
        folders = [path, "."] if path != "." else ["."]
        self._imported.clear()
        self._bound().begin(self._seconds("seconds_start"), path=folders)

    def use(self, do: str, target: dict[str, Any], args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """One request. Raises PeerError for whatever went wrong over there, Late when no time is left."""
        module = target.get("module")
        if module and module not in self._imported:
            self._import(module)
        shown = _call(target, args, kwargs or {}) if do == "call" else f"{target.get('name')}"
        self.last = f"{shown} → …"
        fields = {"args": [written(arg) for arg in args], "kwargs": {k: written(v) for k, v in (kwargs or {}).items()}}
        try:
            value = self._bound().value(do, self._seconds("seconds"), **target, **fields)
        except (TimedOut, Ended):
            self._imported.clear()
            raise
        except Raised as error:
            self.last = f"{shown} → {error.exception}"
            raise
        found = self._wrapped(value)
        self.last = f"{shown} → {short(found)}"
        return found

    def _import(self, module: str) -> None:
        try:
            self._bound().ask("get", self._seconds("seconds_start"), module=module, name="", quiet=True)
        except Raised as error:
            self.import_error = self.import_error or error
            raise
        except (TimedOut, Ended):
            self._imported.clear()
            raise
        self._imported.add(module)

    def _bound(self) -> Link:
        if self.link is None:
            raise NotNow("call the student's code inside test functions, not while the file is loaded")
        return self.link

    def _seconds(self, key: str) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Late
        wanted = self.limit if self.limit is not None and key == "seconds" else float(self.rules[key])
        return min(wanted, left)

    def _wrapped(self, value: Any) -> Any:
        if isinstance(value, Opaque):
            return Remote(self, value)
        if isinstance(value, (list, tuple)):
            return type(value)(self._wrapped(item) for item in value)
        if isinstance(value, dict):
            return {key: self._wrapped(item) for key, item in value.items()}
        return value


class Module:
    """A module over there; its attributes are functions and classes to call."""

    def __init__(self, student: Student, name: str) -> None:
        self._student, self._name = student, name

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(self._student, {"module": self._name, "name": name})


class Function:
    """Something over there that can be called, or fetched with `value()` when it is a constant."""

    def __init__(self, student: Student, target: dict[str, Any]) -> None:
        self._student, self._target = student, target

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._student.use("call", self._target, args, kwargs)

    def value(self) -> Any:
        """What it is, for a constant or an attribute."""
        return self._student.use("get", self._target)

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(self._student, {**self._target, "name": f"{self._target['name']}.{name}"})


class Remote(Opaque):
    """An object that stayed over there: `stack.push(3)` calls its method, `stack.size.value()` reads an attribute."""

    def __init__(self, student: Student, told: Opaque) -> None:
        super().__init__(told.type_name, told.ref)
        self._student = student

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self._student, {"object": written(Opaque(self.type_name, self.ref)), "name": name})


class Raises:
    """See Student.raises; afterwards `error` is what was raised."""

    def __init__(self, exceptions: tuple[str | type[BaseException], ...]) -> None:
        self._names = [e if isinstance(e, str) else e.__name__ for e in exceptions] or ["Exception"]
        self.error: Raised | None = None

    def __enter__(self) -> Raises:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            raise AssertionError(f"{' / '.join(self._names)} was expected, nothing was raised")
        if not isinstance(error, Raised):
            return False
        self.error = error
        return any(name in self._names for name in error.mro)


def points(number: float) -> Callable[[Test], Test]:
    """What a test counts among the tests of its lab (1 without it)."""
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 < number <= 1e6:
        raise ValueError("points are a number above 0")
    return _mark(points=float(number))


def hidden(zh: str = "隐藏测试", en: str | None = None) -> Callable[[Test], Test]:
    """A test of which students see only its group's name and count, and its hint after some tries."""
    default = "hidden tests" if zh == "隐藏测试" else zh
    return _mark(visible=False, group={"zh": zh, "en": en or default})


def hint(zh: str, en: str | None = None) -> Callable[[Test], Test]:
    """What to tell after some tries when the test fails. Never say what is tested."""
    return _mark(hint={"zh": zh, "en": en or zh})


def title(zh: str, en: str | None = None) -> Callable[[Test], Test]:
    """What a test is called before students, instead of its function's name."""
    return _mark(title={"zh": zh, "en": en or zh})


def seconds(number: float) -> Callable[[Test], Test]:
    """The limit of one call within this test, instead of the lab's."""
    return _mark(seconds=float(number))


def close(one: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, nan: bool = False) -> bool:
    """Whether numbers, lists or arrays are of the same shape and nearly equal; False for anything else.

    `nan`: NaN equals NaN. As numpy.allclose, but never an error for what a student may return.
    """
    if isinstance(one, Opaque) or isinstance(other, Opaque):
        return False
    if _is_number(one) and _is_number(other):
        if math.isnan(one) or math.isnan(other):
            return nan and math.isnan(one) and math.isnan(other)
        return bool(one == other or abs(one - other) <= atol + rtol * abs(other))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(close(a, b, rtol, atol, nan) for a, b in zip(one, other, strict=True))
    if hasattr(one, "dtype") or hasattr(other, "dtype"):
        numpy = importlib.import_module("numpy")
        try:
            a, b = numpy.asarray(one, dtype=complex), numpy.asarray(other, dtype=complex)
        except (TypeError, ValueError):
            return False
        return a.shape == b.shape and bool(numpy.allclose(a, b, rtol, atol, equal_nan=nan))
    return type(one) is type(other) and bool(one == other)


def short(value: Any) -> str:
    """A value for a message."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = f"<{type(value).__name__}>"
    text = clean(text, _SHOWN)
    return text + "…" if len(text) == _SHOWN else text


def _mark(**facts: Any) -> Callable[[Test], Test]:
    def mark(test: Test) -> Test:
        setattr(test, MARK, {**getattr(test, MARK, {}), **facts})
        return test

    return mark


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _call(target: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    words = [short(arg) for arg in args] + [f"{key}={short(value)}" for key, value in kwargs.items()]
    return f"{target.get('name')}({', '.join(words)})"


student = Student()
