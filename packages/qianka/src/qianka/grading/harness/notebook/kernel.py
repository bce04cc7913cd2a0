"""The process that holds a student's names: runs cells, and does what a test asks of those names, one by one.

Requests: cell, name, call, get, set, item, put, op, text, is, next, seed, exec. Answers carry the number of the
request. Any object that cannot cross stays here and crosses as a number.
"""

from __future__ import annotations

import operator
import os
import random
import socket
import sys
from collections.abc import Callable
from typing import Any

from qianka.grading.harness import wire
from qianka.grading.harness.notebook import shell as shells
from qianka.grading.harness.notebook.crossing import THEIRS, CannotCross, pack, unpack
from qianka.grading.harness.notebook.lines import Closed, Link

MOST_KEPT = 100_000
OPERATORS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift",
        "eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "contains", "length_hint",
    )
}  # fmt: skip
OPERATORS |= {
    "len": len,
    "iter": iter,
    "int": int,
    "float": float,
    "bool": bool,
    "hash": hash,
    "dir": dir,
    "round": round,
}
MUTABLE = (list, dict, set)


class Kernel:
    """Answers requests until the other side is gone."""

    def __init__(self, link: Link, shell: Any) -> None:
        self.link = link
        self.shell = shell
        self.kept: list[Any] = []
        self.asked = 0
        self.pid = os.getpid()

    def serve(self) -> None:
        """Answer one request after the other."""
        while True:
            request = self.link.message(None)
            answer = self.answer(request)
            if os.getpid() != self.pid:
                os._exit(0)  # a child that the student's code forked and that came back here
            answer["id"] = request.get("id")
            try:
                line = wire.dumps(answer)
            except (wire.Nonsense, ValueError, RecursionError):
                line = wire.dumps({"id": request.get("id"), "unfit": "the value is too big or too deep"})
            self.link.send(line, 3600)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a request is answered with; an exception of the student's code is an answer too."""
        try:
            return self._do(request)
        except (CannotCross, wire.Nonsense) as error:
            return {"unfit": str(error)}
        except Closed:
            raise
        except BaseException as error:  # noqa: BLE001  sys.exit() and interrupts of the student's code end no kernel
            return {"raised": shells.describe(error)}

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        what = request["do"]
        if what == "cell":
            self.kept.clear()
            return shells.run(self.shell, request["code"])
        if what == "exec":
            exec(compile(request["code"], "<test>", "exec"), self.shell.user_ns)  # noqa: S102  a test that students know
            return {"ok": True}
        if what == "forget":
            self.kept.clear()
            return {"ok": True}
        if what == "name":
            names = self.shell.user_ns
            return self._value(names[request["name"]]) if request["name"] in names else {"missing": True}
        if what == "seed":
            return self._seed(request["what"], request["value"])
        return self._on_object(what, self._their(request["ref"]), request)

    def _on_object(self, what: str, thing: Any, request: dict[str, Any]) -> dict[str, Any]:
        if what == "call":
            return self._call(thing, self._in(request["args"]), self._in(request["names"]))
        if what == "get":
            return self._value(getattr(thing, request["name"]))
        if what == "set":
            setattr(thing, request["name"], self._in(request["value"]))
            return self._value(None)
        if what == "item":
            return self._value(thing[self._in(request["key"])])
        if what == "put":
            thing[self._in(request["key"])] = self._in(request["value"])
            return self._value(None)
        if what == "op":
            return self._value(OPERATORS[request["name"]](*([thing, *self._in(request["args"])][:: request["way"]])))
        if what == "text":
            return self._value(format(thing, request["how"][1:]) if request["how"][:1] == ":"
                               else str(thing) if request["how"] == "str" else repr(thing))  # fmt: skip
        if what == "is":
            return self._value(isinstance(self._in(request["value"]), thing))
        if what == "next":
            try:
                return self._value(next(thing))
            except StopIteration:
                return {"end": True}
        if what == "facts":
            return self._value([callable(thing), isinstance(thing, type), type(thing).__name__[:60]])
        raise CannotCross(f"there is no request {what}")

    def _call(self, thing: Any, args: list[Any], names: dict[str, Any]) -> dict[str, Any]:
        def state(value: Any) -> Any:
            return self._out(value) if isinstance(value, MUTABLE) or type(value).__name__ == "ndarray" else None

        before = [state(value) for value in args]
        answer = self._value(thing(*args, **names))
        after = [state(value) for value in args]
        changed = [[at, new] for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        return answer | {"changed": changed} if changed else answer

    def _seed(self, what: str, value: Any) -> dict[str, Any]:
        if what == "random":
            random.seed(value)
        elif what == "numpy" and "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(value)
        elif what == "torch" and "torch" in sys.modules:
            sys.modules["torch"].manual_seed(value)
        return self._value(None)

    def _value(self, value: Any) -> dict[str, Any]:
        return {"value": self._out(value)}

    def _out(self, value: Any) -> Any:
        return wire.encode(pack(value, self._keep))

    def _in(self, value: Any) -> Any:
        return unpack(wire.decode(value), self._find)

    def _keep(self, value: Any) -> wire.Opaque:
        if len(self.kept) >= MOST_KEPT:
            raise CannotCross("too many objects")
        self.kept.append(value)
        return wire.Opaque(f"{THEIRS}:{type(value).__name__[:50]}", len(self.kept) - 1)

    def _their(self, ref: Any) -> Any:
        return self.kept[ref]

    def _find(self, opaque: wire.Opaque) -> Any:
        if opaque.type_name.startswith(THEIRS):
            return self._their(opaque.ref)
        number = opaque.ref

        def back(*args: Any, **names: Any) -> Any:
            """A function of the test's: called over there."""
            return self._back(number, args, names)

        return back

    def _back(self, number: int | None, args: tuple[Any, ...], names: dict[str, Any]) -> Any:
        self.asked += 1
        self.link.send(wire.dumps({"back": number, "args": self._out(list(args)), "names": self._out(names)}), 3600)
        while True:  # the test may ask for other things before it answers
            message = self.link.message(None)
            if "answer" in message:
                return self._in(message["answer"])
            if "failed" in message:
                raise RuntimeError("the test's function raised")
            reply = self.answer(message)
            reply["id"] = message.get("id")
            self.link.send(wire.dumps(reply), 3600)


def main(stream: socket.socket, shell: Any) -> None:
    """Serve on `stream` until it closes."""
    try:
        Kernel(Link(stream), shell).serve()
    except Closed:
        return
