"""Our side's process that runs the master's tests. It holds expected values, and is ended from outside when it hangs.

Between it and the student's process stands the driver: requests go up, answers come down.
"""

from __future__ import annotations

import doctest
import os
import resource
import socket
import sys
import traceback
from typing import Any

from qianka.grading.harness import wire
from qianka.grading.harness.notebook.lines import Closed, Link
from qianka.grading.harness.notebook.names import Names
from qianka.grading.harness.notebook.remote import Peer, Stop, Unfit
from qianka.notebooks.master import Master
from qianka.notebooks.subset import is_doctest

FILE = "<test>"
MEMORY = 560 << 20
MESSAGE = 400


class Tester:
    """Runs one test after the other."""

    def __init__(self, link: Link, master: Master) -> None:
        self.link = link
        self.master = master
        self.names = Names(master, Peer(self._ask))

    def serve(self) -> None:
        """Until the driver is gone."""
        self.names.preload("\n".join(test.source for test in self.master.tests))
        self.link.send(wire.dumps({"ready": True}), 60)
        while True:
            request = self.link.message(None)
            test = self.master.test(request["test"])
            self.link.send(wire.dumps({"done": self.run(test.source if request["hidden"] else test.known)}), 60)

    def run(self, source: str) -> dict[str, Any]:
        """Run one test's source; how it ended."""
        self.names.mirror(source)
        try:
            if is_doctest(source):
                return self._session(source)
            exec(compile(source, FILE, "exec"), self.names)  # noqa: S102  the teacher's test
        except Stop:
            return {"state": "stopped"}
        except Unfit as error:
            return {"state": "unfit", "text": str(error)[:MESSAGE], "line": _line(error)}
        except BaseException as error:  # noqa: BLE001  whatever a test raises, it has failed
            return _failed(error, source)
        return {"state": "passed"}

    def _session(self, source: str) -> dict[str, Any]:
        said: list[str] = []
        test = doctest.DocTestParser().get_doctest(source, {}, "test", FILE, 0)
        test.globs = self.names
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
        found = runner.run(test, out=said.append, clear_globs=False)
        if not found.failed:
            return {"state": "passed"}
        return {"state": "failed", "type": "", "text": _got("".join(said))[:MESSAGE], "line": None, "student": False}

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.link.send(wire.dumps({"ask": request}), 60)
        reply = self.link.message(None)
        if "stop" in reply:
            raise Stop
        answer: dict[str, Any] = reply["reply"]
        return answer


def _failed(error: BaseException, source: str) -> dict[str, Any]:
    line = _line(error)
    lines = source.split("\n")
    shown = lines[line - 1].strip() if line is not None and 0 < line <= len(lines) else ""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  text of an exception that came from there
        text = ""
    return {
        "state": "failed",
        "type": type(error).__name__[:60],
        "text": (text.strip() or shown)[:MESSAGE],
        "line": line,
        "student": getattr(error, "of_student", False) is True,
    }


def _line(error: BaseException) -> int | None:
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == FILE:
            found = number
    return found


def _got(report: str) -> str:
    """`Expected … Got …` of the first example that failed."""
    at = report.find("Failed example:")
    lines = [line.strip() for line in report[max(at, 0) :].split("\n") if line.strip() and set(line.strip()) != {"*"}]
    if "Exception raised:" in lines:
        return " ".join([*lines[: lines.index("Exception raised:")], lines[-1]])
    return " ".join(lines[:8])


def start(master: Master) -> tuple[int, Link]:
    """Fork a tester: its process and our end of the line to it."""
    mine, theirs = socket.socketpair()
    pid = os.fork()
    if pid:
        theirs.close()
        return pid, Link(mine)
    try:
        mine.close()
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.setrecursionlimit(2000)
        Tester(Link(theirs), master).serve()
    except Closed:
        pass
    finally:
        os._exit(0)
