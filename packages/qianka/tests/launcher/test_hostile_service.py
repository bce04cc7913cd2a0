"""A service that was taken over: whatever it writes and asks, root's launcher answers and goes on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from qianka.sandbox import selftest
from qianka.testing.supervised import ORDINARY, Launched, as_user, job

pytestmark = [
    pytest.mark.root,
    pytest.mark.sandbox,
    pytest.mark.xdist_group("launcher"),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux"),
]


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launched]:
    if selftest.probe("bubblewrap", tmp_path_factory.getbasetemp())["level"] != "full":
        pytest.skip("this machine does not contain code fully")
    with Launched("--uid-base", "61600", "--uid-count", "4", "--slurm", "/nowhere/slurm.conf") as launcher:
        yield launcher


def prepare(launched: Launched, name: str, script: bytes = b"#!/bin/sh\n", **changes: Any) -> None:
    spec = {**job(name, ["true"]), **changes}

    def write() -> None:
        directory = launched.data / "jobs" / name
        directory.mkdir()
        (directory / "job.json").write_text(json.dumps(spec))
        (directory / "slurm-1.sh").write_bytes(script)

    as_user(ORDINARY, write)


@pytest.mark.parametrize(
    ("changes", "request_"),
    [
        ({"account": "a\ud800"}, {}),
        ({"account": ["a"]}, {}),
        ({"script": b"#!/bin/sh\n\xff\xfe"}, {}),
        ({"account": "daemon"}, {"folder": "/h\ud800/j"}),
        ({"account": "games"}, {"do": "read", "what": "stdout", "offset": 10**300}),
        ({}, {"do": "read", "what": ["stdout"], "offset": 0}),
        ({}, {"do": ["sbatch"]}),
        ({}, {"do": "start", "run": 10**300}),
        ({}, {"run": 10**300}),
        ({"argv": [["x"]]}, {}),
        ({"resources": 5}, {}),
        ({"limits": {"wall": "x"}}, {}),
        ({"kind": None}, {}),
        ({"peer": 7}, {"do": "start"}),
    ],
)
def test_nothing_that_the_service_writes_ends_the_launcher(
    launched: Launched, changes: dict[str, Any], request_: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    name = "j-" + "".join(letter for letter in request.node.name if letter.isalnum())[-8:].lower()
    prepare(launched, name, **changes)
    answer = launched.ask(**{"do": "sbatch", "job": name, "run": 1, "folder": f"/h/{name}", **request_})
    assert answer["ok"] is False or "said" in answer or request_.get("do") == "start"
    assert launched.ask(do="ping")["ok"] is True
    assert launched.process.poll() is None
