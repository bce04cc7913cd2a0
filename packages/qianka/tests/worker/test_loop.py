"""Loops: what passes is waited out, what does not ends the worker."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from qianka.errors import Text, Unavailable
from qianka.worker.loop import Loop
from qianka.worker.wake import Ear
from sqlalchemy.exc import OperationalError

LONG = 20.0


def loop_of(step: Callable[[], bool], stop: threading.Event, every: float = LONG) -> Loop:
    return Loop("test", step, stop, every=every, ended=stop.set)


@pytest.mark.parametrize(
    "fault",
    [
        Unavailable(Text("没有应答", "no answer")),
        OSError(28, "No space left on device"),
        OperationalError("select", {}, Exception("database is locked")),
    ],
)
def test_a_fault_that_may_pass_is_logged_and_tried_again(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qianka.worker.loop.FIRST_PAUSE", 0.01)
    stop = threading.Event()
    steps: list[int] = []

    def step() -> bool:
        steps.append(1)
        if len(steps) < 3:
            raise fault
        stop.set()
        return False

    loop = loop_of(step, stop)
    loop.start()
    loop.join(LONG)
    assert (len(steps), loop.failure) == (3, None)


def test_an_unexpected_exception_ends_the_loop_and_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()

    def step() -> bool:
        raise KeyError("a bug")

    loop = loop_of(step, stop)
    loop.start()
    assert stop.wait(LONG)
    loop.join(LONG)
    assert isinstance(loop.failure, KeyError)


def test_a_step_that_did_something_is_followed_at_once_and_a_wake_ends_the_wait() -> None:
    stop, rested = threading.Event(), threading.Event()
    steps: list[int] = []

    def step() -> bool:
        steps.append(1)
        if len(steps) == 3:
            rested.set()
        if len(steps) == 4:
            stop.set()
        return len(steps) < 3

    loop = loop_of(step, stop)
    loop.start()
    assert rested.wait(LONG)
    loop.wake()
    loop.join(LONG)
    assert len(steps) == 4


def test_a_datagram_wakes_however_long_the_path(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / ("x" * 120)):
        folder.mkdir(exist_ok=True)
        heard = threading.Event()
        ear = Ear(folder / "worker.sock", heard.set)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            address = str(folder / "worker.sock")
            if len(address) > 100:
                address = f"/proc/self/fd/{ear._folder}/worker.sock"
            sender.sendto(b"w", address)
        assert heard.wait(LONG)
        ear.close()
        ear.close()


def test_a_socket_left_behind_by_a_killed_worker_is_no_obstacle(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
        dead.bind(str(tmp_path / "worker.sock"))
    heard = threading.Event()
    ear = Ear(tmp_path / "worker.sock", heard.set)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"w", str(tmp_path / "worker.sock"))
    assert heard.wait(LONG)
    ear.close()
