"""A student's objects as a test on our side sees them: every look at one is a question to the other side.

Plain values and arrays come over as they are. A `Remote` stands for what stayed there; it cannot be compared with a
value of ours, nor be taken for true: an object that calls itself equal to everything would pass every test.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from qianka.grading.harness import wire
from qianka.grading.harness.notebook.crossing import OURS, THEIRS, CannotCross, pack, unpack

Ask = Callable[[dict[str, Any]], dict[str, Any]]


class Unfit(Exception):
    """A test met a value that cannot be judged here: an object where a plain value was expected."""


class TheirError(Exception):
    """An exception of the student's code whose type Python itself does not know."""


class Stop(BaseException):
    """The test ends here: time is over, or the student's process is gone."""


class Peer:
    """Asks the student's process, and keeps our functions that were handed over to it."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._ours: list[Callable[..., Any]] = []

    def ask(self, **request: Any) -> Any:
        """The value that answers a request. Raises what the student's code raised, Unfit, Stop."""
        answer = self.raw(request)
        if "value" not in answer:
            raise Unfit(str(answer.get("unfit", "no value"))[:200])
        return self.take(answer["value"])

    def raw(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer itself, once every call back has been served."""
        answer = self._ask(request)
        while "back" in answer:
            answer = self._ask(self._serve(answer))
        if isinstance(answer.get("raised"), dict):
            raise raised(answer["raised"])
        return answer

    def take(self, value: Any) -> Any:
        """A value that came over. Raises Unfit."""
        try:
            return unpack(wire.decode(value), self._find)
        except (wire.Nonsense, TypeError, ImportError, RecursionError) as error:
            raise Unfit(f"a value that cannot be read: {error}"[:200]) from None

    def give(self, value: Any) -> Any:
        """A value to hand over. Raises Unfit."""
        try:
            return wire.encode(pack(value, self._keep))
        except (CannotCross, wire.Nonsense) as error:
            raise Unfit(f"a value that cannot be handed over: {error}"[:200]) from None

    def _serve(self, call: dict[str, Any]) -> dict[str, Any]:
        number = call.get("back")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(self._ours):
            return {"failed": True}
        try:
            args, names = self.take(call.get("args")), self.take(call.get("names"))
            return {"answer": self.give(self._ours[number](*args, **names))}
        except Exception:  # noqa: BLE001  the test's own function, fed by the student's code
            return {"failed": True}

    def _keep(self, value: Any) -> wire.Opaque:
        if isinstance(value, Remote):
            return wire.Opaque(THEIRS, number_of(value))
        if not callable(value):
            raise CannotCross(f"an object of type {type(value).__name__}")
        self._ours.append(value)
        return wire.Opaque(OURS, len(self._ours) - 1)

    def _find(self, opaque: wire.Opaque) -> Any:
        kind, _, name = opaque.type_name.partition(":")
        if kind == OURS and opaque.ref is not None and opaque.ref < len(self._ours):
            return self._ours[opaque.ref]
        if kind != THEIRS or opaque.ref is None:
            raise wire.Nonsense("an object of nobody's")
        return Remote(self, opaque.ref, name)


def raised(told: dict[str, Any]) -> BaseException:
    """The student's exception as one of ours: of the same built-in kind where Python has one."""
    kind = getattr(builtins, str(told.get("kind")), None)
    name, text = str(told.get("type"))[:60], str(told.get("text"))[:300]
    if name == str(told.get("kind")) and isinstance(kind, type) and issubclass(kind, Exception):
        try:
            made: BaseException = kind(text)
        except TypeError:  # one that needs more than a message
            made = TheirError(f"{name}: {text}")
    elif isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception:
        made = type(name if name.isidentifier() else "TheirError", (kind,), {})(text)
    else:
        made = TheirError(f"{name}: {text}")
    made.__dict__["of_student"] = True
    return made


def number_of(remote: Any) -> int:
    """The number under which the other side keeps an object."""
    return int(object.__getattribute__(remote, "_number"))


def _peer(remote: Any) -> Peer:
    found: Peer = object.__getattribute__(remote, "_peer")
    return found


def _op(name: str, way: int = 1) -> Callable[..., Any]:
    def ask(self: Any, *args: Any) -> Any:
        peer = _peer(self)
        return peer.ask(do="op", ref=number_of(self), name=name, args=peer.give(list(args)), way=way)

    return ask


def _refuse(self: Any, *_: Any) -> NoReturn:
    name = object.__getattribute__(self, "_type")
    raise Unfit(f"an object of type {name} where a plain value was expected")


def _between(name: str) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: Any) -> Any:
        # Two objects of the student's may be compared by the student's own rule; one of theirs with a value never.
        if not isinstance(other, Remote):
            if other is None and name in ("eq", "ne"):
                return name == "ne"
            _refuse(self)
        found = _op(name)(self, other)
        if not isinstance(found, bool):
            _refuse(self)
        return found

    return compare


class Remote:
    """An object of the student's process."""

    def __init__(self, peer: Peer, number: int, type_name: str) -> None:
        object.__setattr__(self, "_peer", peer)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_type", type_name)

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Remote
        return _peer(self).ask(do="get", ref=number_of(self), name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        peer = _peer(self)
        peer.ask(do="set", ref=number_of(self), name=name, value=peer.give(value))

    def __call__(self, *args: Any, **names: Any) -> Any:
        peer = _peer(self)
        request = {"do": "call", "ref": number_of(self), "args": peer.give(list(args)), "names": peer.give(names)}
        answer = peer.raw(request)
        for at, changed in _changes(answer, len(args)):
            _change(args[at], peer.take(changed))
        if "value" not in answer:
            raise Unfit(str(answer.get("unfit", "no value"))[:200])
        return peer.take(answer["value"])

    def __getitem__(self, key: Any) -> Any:
        peer = _peer(self)
        return peer.ask(do="item", ref=number_of(self), key=peer.give(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        peer = _peer(self)
        peer.ask(do="put", ref=number_of(self), key=peer.give(key), value=peer.give(value))

    def __iter__(self) -> Iterator[Any]:
        peer = _peer(self)
        steps = peer.ask(do="op", ref=number_of(self), name="iter", args=[], way=1)
        while True:
            answer = peer.raw({"do": "next", "ref": number_of(steps)})
            if "end" in answer:
                return
            yield peer.take(answer.get("value"))

    def __next__(self) -> Any:
        peer = _peer(self)
        answer = peer.raw({"do": "next", "ref": number_of(self)})
        if "end" in answer:
            raise StopIteration
        return peer.take(answer.get("value"))

    def __str__(self) -> str:
        return str(_peer(self).ask(do="text", ref=number_of(self), how="str"))

    def __repr__(self) -> str:
        return str(_peer(self).ask(do="text", ref=number_of(self), how="repr"))

    def __format__(self, spec: str) -> str:
        return str(_peer(self).ask(do="text", ref=number_of(self), how=f":{spec}"))

    def __instancecheck__(self, value: Any) -> bool:
        peer = _peer(self)
        if not isinstance(value, Remote):
            return False
        return peer.ask(do="is", ref=number_of(self), value=peer.give(value)) is True

    def __hash__(self) -> int:
        return number_of(self)

    __len__ = _op("len")
    __contains__ = _op("contains")
    __bool__ = _refuse
    __eq__, __ne__ = _between("eq"), _between("ne")
    __lt__, __le__, __gt__, __ge__ = _between("lt"), _between("le"), _between("gt"), _between("ge")
    __int__, __float__, __index__ = _refuse, _refuse, _refuse
    __add__, __radd__ = _op("add"), _op("add", -1)
    __sub__, __rsub__ = _op("sub"), _op("sub", -1)
    __mul__, __rmul__ = _op("mul"), _op("mul", -1)
    __truediv__, __rtruediv__ = _op("truediv"), _op("truediv", -1)
    __floordiv__, __rfloordiv__ = _op("floordiv"), _op("floordiv", -1)
    __mod__, __rmod__ = _op("mod"), _op("mod", -1)
    __pow__, __rpow__ = _op("pow"), _op("pow", -1)
    __matmul__, __rmatmul__ = _op("matmul"), _op("matmul", -1)
    __neg__, __abs__, __invert__ = _op("neg"), _op("abs"), _op("invert")
    __and__, __or__, __xor__ = _op("and_"), _op("or_"), _op("xor")


def _changes(answer: dict[str, Any], count: int) -> Iterator[tuple[int, Any]]:
    listed = answer.get("changed")
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, list) and len(item) == 2 and type(item[0]) is int and 0 <= item[0] < count:
            yield item[0], item[1]


def _change(mine: Any, new: Any) -> None:
    """What a function did to an argument, done to the test's own copy."""
    if isinstance(mine, list) and isinstance(new, list):
        mine[:] = new
    elif isinstance(mine, (dict, set)) and type(mine) is type(new):
        mine.clear()
        mine.update(new)
    elif hasattr(mine, "dtype") and hasattr(new, "shape") and getattr(mine, "shape", None) == new.shape:
        mine[...] = new
