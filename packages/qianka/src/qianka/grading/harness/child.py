"""The process in which the student's code runs: imports, calls, cells; each answer is one line.

Requests: begin · call · get · cell · eval · shell (one that a shell of ours understands, such as the notebook's).
Student code may do to this process whatever it likes: it answers for itself alone.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from qianka.grading.harness.wire import Nonsense, Opaque, decode, dumps, encode, loads

MOST_OBJECTS = 10_000
PRINTED = 8 << 10
"""characters of what a cell prints that are told"""
_LOADS, _DUMPS, _WRITE = loads, dumps, os.write


class Server:
    """What is kept between requests: objects that could not cross, the names of cells, the shell."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.root = str(options["root"]).rstrip("/")
        self.objects: list[Any] = []
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.shell: Any = None
        self._answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "begin": lambda _: {},
            "call": self._call,
            "get": self._get,
            "cell": self._cell,
            "eval": self._eval,
            "shell": lambda request: dict(self.shell.answer(request)),
        }
        if options.get("shell"):
            self.shell = importlib.import_module(str(options["shell"])).Shell(self, options)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request, without its number."""
        try:
            return {"ok": self._answers[request["do"]](request)}
        except Nonsense as error:
            return {"raised": {"type": "ValueError", "mro": [], "message": f"cannot be handed over: {error}"}}
        except BaseException as error:  # noqa: BLE001 - whatever student code raises is its answer
            return {"raised": self.told(error)}

    def told(self, error: BaseException) -> dict[str, Any]:
        """An exception as data: type, bases, message, and the last place in the student's own files."""
        file = line = None
        at_import = False
        if isinstance(error, SyntaxError):
            file, line = error.filename, error.lineno
        for frame in traceback.extract_tb(error.__traceback__):
            at_import = at_import or frame.name == "import_module"
            if frame.filename.startswith((self.root + "/", "<cell ")) and not isinstance(error, SyntaxError):
                file, line = frame.filename, frame.lineno
        if isinstance(file, str) and file.startswith(self.root + "/"):
            file = file[len(self.root) + 1 :]
        try:
            message = str(error)[:2000]
        except BaseException:  # noqa: BLE001 - student code may stand behind str
            message = ""
        mro = [base.__name__ for base in type(error).__mro__[:20] if base is not object]
        name = type(error).__name__
        return {"type": name, "mro": mro, "message": message, "file": file, "line": line, "at_import": at_import}

    def value(self, value: Any) -> dict[str, Any]:
        """A value as an answer."""
        return {"value": encode(value, self.keep)}

    def keep(self, value: Any) -> int | None:
        """Take in an object that cannot cross; None when there are too many."""
        if len(self.objects) >= MOST_OBJECTS:
            return None
        self.objects.append(value)
        return len(self.objects) - 1

    def resolve(self, value: Any) -> Any:
        """Arguments as they came, objects of ours put back in their place."""
        if isinstance(value, Opaque):
            if value.ref is None or value.ref >= len(self.objects):
                raise LookupError("this object belongs to a process that has ended")
            return self.objects[value.ref]
        if isinstance(value, (list, tuple, set)):
            return type(value)(self.resolve(item) for item in value)
        if isinstance(value, dict):
            return {self.resolve(key): self.resolve(item) for key, item in value.items()}
        return value

    def _target(self, request: dict[str, Any]) -> Any:
        """What a request is about: a module's attribute, or an object's."""
        where = request.get("module")
        found = importlib.import_module(where) if where else self.resolve(decode(request["object"]))
        for name in str(request.get("name") or "").split("."):
            found = getattr(found, name) if name else found
        return found

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        target = self._target(request)
        args = self.resolve(decode(request.get("args") or []))
        kwargs = self.resolve(decode(request.get("kwargs") or {}))
        return self.value(target(*args, **kwargs))

    def _get(self, request: dict[str, Any]) -> dict[str, Any]:
        found = self._target(request)
        return {} if request.get("quiet") else self.value(found)

    def _cell(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a source in the names of the cells: what it printed, and the exception it ended with; no values."""
        printed = io.StringIO()
        kept, sys.stdout = sys.stdout, printed
        raised = None
        try:
            code = compile(request["source"], f"<cell {request.get('name') or '?'}>", "exec")
            exec(code, self.names)  # noqa: S102 - a cell of a notebook, in the sandbox of the one who wrote it
        except BaseException as error:  # noqa: BLE001 - whatever student code raises is its answer
            raised = self.told(error)
        finally:
            sys.stdout = kept
            sys.stdout.write(printed.getvalue())
        return {"printed": printed.getvalue()[:PRINTED], "raised": raised}

    def _eval(self, request: dict[str, Any]) -> dict[str, Any]:
        code = compile(request["expression"], "<expression>", "eval")
        return self.value(eval(code, self.names))  # noqa: S307 - as above


def serve(options: dict[str, Any], reading: int, writing: int) -> None:
    """Answer requests until there are no more."""
    ours = sys.path[0]
    server: Server | None = None
    with os.fdopen(reading, "rb") as requests:
        for line in requests:
            request = _LOADS(line)
            if server is None:
                server = Server(options)
                theirs = [os.path.normpath(os.path.join(server.root, str(path))) for path in options.get("path") or []]
                sys.path[:] = [*theirs, *(entry for entry in sys.path if entry != ours)]
                if options.get("cwd"):
                    os.chdir(os.path.join(server.root, str(options["cwd"])))
            _send(writing, request["n"], server.answer(request))


def _send(writing: int, number: int, answer: dict[str, Any]) -> None:
    try:
        line = _DUMPS({"n": number, **answer})
    except (Nonsense, ValueError, RecursionError) as error:
        told = {"type": "ValueError", "mro": [], "message": f"cannot be handed over: {error}"}
        line = _DUMPS({"n": number, "raised": told})
    view = memoryview(line)
    while view:
        view = view[_WRITE(writing, view) :]
