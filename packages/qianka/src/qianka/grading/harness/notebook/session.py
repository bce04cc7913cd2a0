"""One run of a notebook from top to bottom, seen from our side: every limit is measured here."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, field
from typing import Any

from qianka.grading.harness import wire
from qianka.grading.harness.notebook import tester
from qianka.grading.harness.notebook.lines import Closed, Late, Link
from qianka.notebooks.master import Master
from qianka.notebooks.pairing import Step
from qianka.notebooks.reading import Notebook
from qianka.notebooks.subset import beyond

GRACE = 2.0
"""seconds between interrupting a cell and ending its kernel"""
OVERTIME = 15.0
"""seconds beyond the end of everything that the other side may take to end and start a kernel"""
MOST_RESTARTS = 5
STALE = 10_000


class Gone(Exception):
    """The kernel's process has ended; `status`: its exit code, negative for a signal."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status


@dataclass
class Limits:
    """Seconds of one cell, of starting a kernel; the instant (time.monotonic) at which everything ends."""

    cell: float
    start: float
    end: float


@dataclass
class Outcome:
    """What came of one run: a record for each cell and each test, by number and by key."""

    cells: dict[int, dict[str, Any]] = field(default_factory=dict)
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    restarts: list[int] = field(default_factory=list)
    """numbers of the cells whose kernel had to be replaced"""
    lost: list[int] = field(default_factory=list)
    """cells whose names are gone since, because running them again did not work"""
    ended: str | None = None
    """why the rest was not run: time, restarts, gone"""


class Session:
    """Drives one kernel through the steps of a pairing; `hidden`: tests run whole, else the part students know."""

    def __init__(self, link: Link, master: Master, student: Notebook, limits: Limits, *, hidden: bool) -> None:
        self.link = link
        self.hidden = hidden
        self.master = master
        self.limits = limits
        self.outcome = Outcome()
        self.sources = {cell.number: cell.source for cell in student.cells}
        self.given = {own.cell.number: own.starter for own in master.cells}
        self.done: list[tuple[int, str]] = []
        self.number = 0
        self.flooded = False
        self.tester: tuple[int, Link] | None = None

    def run(self, steps: list[Step]) -> Outcome:
        """All steps. Never raises for anything the student's side does."""
        self.open()
        try:
            for step in steps:
                self._step(step)
        finally:
            self._end_tester()
        return self.outcome

    def open(self) -> None:
        """A fresh kernel. Raises Late or Closed when the other side does not start one."""
        self._watch("open")
        self._await("opened")

    def _step(self, step: Step) -> None:
        if self.outcome.ended is None and time.monotonic() >= self.limits.end:
            self.outcome.ended = "time"
        if step.kind == "test":
            began = time.monotonic()
            record = {"state": "not_run"} if self.outcome.ended else self._test(step.key)
            self.outcome.tests[step.key] = record | {"seconds": round(time.monotonic() - began, 2)}
            return
        is_own = step.kind == "cell"
        code = self.sources[step.number] if is_own else self.given[step.number]
        record = {"state": "not_run"} if self.outcome.ended else self._cell(step.number, code)
        if is_own:
            self.outcome.cells[step.number] = record

    def _cell(self, number: int, code: str) -> dict[str, Any]:
        try:
            answer = self.ask({"do": "cell", "code": code}, self._until())
        except Late:
            is_back = self._interrupt()
            if not is_back:
                self._restore(number)
            return {"state": "timeout", "kept": is_back}
        except Gone as gone:
            self._restore(number)
            return {"state": "died", "status": gone.status}
        except Closed:
            self.outcome.ended = "gone"
            return {"state": "died", "status": None}
        self.done.append((number, code))
        if answer.get("ok") is True:
            return {"state": "ok"}
        error = answer.get("error") or answer.get("raised")
        told = error if isinstance(error, dict) else {}
        return {"state": "flood" if self.flooded else "error", **_told(told)}

    def _test(self, key: str) -> dict[str, Any]:
        test = self.master.test(key)
        source = test.source if self.hidden else test.known
        if not beyond(source):
            return self._test_here(key)
        if test.hidden and self.hidden:
            return {"state": "unsupported"}
        record = self._cell(0, source)
        self.done = [pair for pair in self.done if pair[0]]
        state = {"ok": "passed", "error": "failed", "flood": "failed"}.get(str(record["state"]), record["state"])
        return {**record, "state": state, "where": "student", "student": False}

    def _test_here(self, key: str) -> dict[str, Any]:
        until = self._until()
        try:
            if self.tester is None:
                self.tester = self._start_tester()
                until = self._until()  # what our side needs to begin is nobody's time
            self.ask({"do": "forget"}, until)
            link = self.tester[1]
            link.send(wire.dumps({"test": key, "hidden": self.hidden}))
            why = self._carry(link, until)
        except (Late, Gone, Closed) as error:
            return self._broken(error)
        if isinstance(why, str):
            return {"state": why}
        return why

    def _carry(self, link: Link, until: float) -> dict[str, Any] | str:
        """Carry questions and answers between a test and the student's process until the test has ended."""
        while True:
            try:
                message = link.message(until)
            except (Late, Closed):  # the test itself does not end, or took too much memory: fed by the student's values
                self._end_tester()
                return "timeout" if time.monotonic() >= until else "unfit"
            if "done" in message:
                done: dict[str, Any] = message["done"]
                return done
            try:
                reply: dict[str, Any] = {"reply": self.ask(message["ask"], until)}
                link.send(wire.dumps(reply))
            except (wire.Nonsense, MemoryError):
                reply = {"reply": {"unfit": "the value is too big"}}
                link.send(wire.dumps(reply))
            except (Late, Gone, Closed) as error:
                self._stop(link)
                raise error

    def _broken(self, error: Exception) -> dict[str, Any]:
        """A test during which the student's process hung or ended."""
        if isinstance(error, Late):
            if not self._interrupt():
                self._restore(0)
            return {"state": "timeout"}
        if isinstance(error, Gone):
            self._restore(0)
            return {"state": "died", "status": error.status}
        self.outcome.ended = "gone"
        return {"state": "died", "status": None}

    def _stop(self, link: Link) -> None:
        """Unwind the test; one that does not let go is ended."""
        try:
            link.send(wire.dumps({"stop": True}))
            until = time.monotonic() + GRACE
            while "done" not in link.message(until):
                link.send(wire.dumps({"stop": True}))
        except (Late, Closed):
            self._end_tester()

    def _start_tester(self) -> tuple[int, Link]:
        """Raises RuntimeError: our own side's fault, so there is no report and no grade."""
        pid, link = tester.start(self.master)
        try:
            link.message(time.monotonic() + self.limits.start)
        except (Late, Closed) as error:
            raise RuntimeError("the process of the tests did not start") from error
        return pid, link

    def _end_tester(self) -> None:
        if self.tester is not None:
            pid, link = self.tester
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            link.stream.close()
            self.tester = None

    def ask(self, request: dict[str, Any], until: float) -> dict[str, Any]:
        """The kernel's answer, or its call back. Raises Late, Gone, Closed."""
        if "do" in request:
            self.number += 1
            self.flooded = False
        self.link.send(wire.dumps({**request, "id": self.number}), max(0.1, until - time.monotonic()))
        for _ in range(STALE):
            message = self._from_kernel(until)
            if message is not None and ("back" in message or message.get("id") == self.number):
                return message
        raise Late

    def _from_kernel(self, until: float) -> dict[str, Any] | None:
        line = self.link.line(until)
        if line[:1] == b"W":
            said = _watched(line)
            if "gone" in said:
                status = said["gone"]
                raise Gone(status if type(status) is int else None)
            self.flooded = self.flooded or "flood" in said
            return None
        try:
            return wire.loads(line[1:])
        except (wire.Nonsense, MemoryError):
            return {"id": self.number, "unfit": "an answer that cannot be read"}

    def _interrupt(self) -> bool:
        """Interrupt what runs; whether the kernel came back with its names."""
        try:
            self._watch("interrupt")
            until = time.monotonic() + GRACE
            while True:
                message = self._from_kernel(until)
                if message is not None and message.get("id") == self.number:
                    return True
        except (Late, Gone, Closed, wire.Nonsense):
            return False

    def _restore(self, number: int) -> None:
        """A new kernel, and in it again what had run before; what fails now is told as lost."""
        self.outcome.restarts.append(number)
        if len(self.outcome.restarts) > MOST_RESTARTS:
            self.outcome.ended = "restarts"
            return
        try:
            self._watch("kill")
            self._await("killed")
            self.open()
            for place, (cell, code) in enumerate(self.done):
                until = self._until()
                try:
                    self.ask({"do": "cell", "code": code}, until)
                except (Late, Gone):
                    self.outcome.lost += [c for c, _ in self.done[place:] if c]
                    self.done = self.done[:place]
                    self._watch("kill")
                    self._await("killed")
                    self.open()
                    self.outcome.lost += [cell] if cell and cell not in self.outcome.lost else []
                    break
        except (Late, Closed, wire.Nonsense):
            self.outcome.ended = "gone"

    def _watch(self, what: str) -> None:
        self.link.send(wire.dumps({"watch": what}))

    def _await(self, word: str) -> None:
        until = min(time.monotonic() + self.limits.start, self.limits.end + OVERTIME)
        for _ in range(STALE):
            line = self.link.line(until)
            if line[:1] == b"W" and word in _watched(line):
                return
        raise Closed("no answer")

    def _until(self) -> float:
        return min(time.monotonic() + self.limits.cell, self.limits.end)


def _watched(line: bytes) -> dict[str, Any]:
    """What the kernel's watcher says. Raises Closed for nonsense: student code has laid hands on it."""
    try:
        return wire.loads(line[1:])
    except (wire.Nonsense, MemoryError):
        raise Closed("a watcher that talks nonsense") from None


def _told(error: dict[str, Any]) -> dict[str, Any]:
    """What the kernel says of an exception, cut to size."""
    line = error.get("line")
    return {
        "type": str(error.get("type", ""))[:60],
        "kind": str(error.get("kind", ""))[:60],
        "text": str(error.get("text", ""))[:300],
        "line": line if type(line) is int and 0 < line < 10**6 else None,
    }
