"""What our side makes of nonsense on the socket: an end of the student's side, never a fault of ours."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from qianka.grading.harness.notebook.lines import Link
from qianka.grading.harness.notebook.session import Limits, Session
from qianka.notebooks.master import Master, understand
from qianka.notebooks.pairing import Step
from qianka.notebooks.reading import Notebook, read

CELL = {"cell_type": "code", "source": "x = 1\n", "metadata": {}, "outputs": [], "execution_count": None}
FILE = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**CELL, "id": "a"}]}


@pytest.fixture
def notebook() -> Notebook:
    return read(json.dumps(FILE).encode())


@pytest.fixture
def master(notebook: Notebook) -> Master:
    return understand(notebook)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def answer(theirs: socket.socket, lines: list[bytes]) -> None:
    """The student's side: opens a kernel as it should, then says `lines` to the first cell."""
    requests = theirs.makefile("rb")
    requests.readline()
    theirs.sendall(b'W{"opened":true}\n')
    requests.readline()
    theirs.sendall(b"".join(line + b"\n" for line in lines))
    theirs.shutdown(socket.SHUT_WR)
    while requests.read(1 << 16):
        pass


@pytest.mark.parametrize("line", [b"Wnonsense", b"W[]", b"W" + b"[" * 100_000, b"W\xff", b"W"])
def test_a_watcher_that_talks_nonsense_counts_as_gone(
    line: bytes, master: Master, notebook: Notebook, ends: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = ends
    side = threading.Thread(target=answer, args=(theirs, [line]))
    side.start()
    session = Session(Link(ours), master, notebook, Limits(5, 5, time.monotonic() + 10), hidden=False)
    outcome = session.run([Step("cell", 1, "")])
    ours.close()
    side.join(10)
    assert outcome.cells[1]["state"] == "died"
    assert outcome.ended == "gone"
