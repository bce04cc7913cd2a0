"""Runs of two sandboxes with one socket between: whose failure is whose."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from qianka import jobdir
from qianka.testing.supervised import MIB, Direct, Ended, job

NUMBERS = itertools.count(1)
PYTHON = "/usr/bin/python3"
RESULT = json.loads((Path(__file__).parents[4] / "contracts/result.schema.json").read_text("utf-8"))
JOINED = "import os, socket\nline = socket.socket(fileno=int(os.environ['QIANKA_SOCKET']))\n"
ASKS = (
    JOINED
    + """
answer = b''
try:
    line.sendall(b'question\\n')
    answer = line.recv(100)
except OSError:
    pass
open('answer', 'wb').write(answer)
"""
)
ANSWERS = JOINED + "line.recv(100)\nline.sendall(b'42')\n"


def run(
    direct: Direct, backend: str, ours: str, theirs: str, peer: dict[str, Any] | None = None, **changes: Any
) -> Ended:
    spec = job(
        f"j-pair-{backend}-{next(NUMBERS)}",
        [PYTHON, "-c", ours],
        isolation={"backend": backend, "minimum": "none"},
        peer={"argv": [PYTHON, "-c", theirs], "resources": {"memory": 256 * MIB}, **(peer or {})},
        **changes,
    )
    ended = direct.run(spec)
    jsonschema.Draft202012Validator(RESULT).validate(ended.result)
    return ended


def test_the_two_talk_and_each_has_its_own_figures(direct: Direct, backend: str) -> None:
    ended = run(direct, backend, ASKS, ANSWERS + "print('theirs')\nopen('left', 'w').write('x')\n")
    peer = ended.result["peer"]
    assert (ended.result["state"], peer["state"], peer["exit_code"]) == ("COMPLETED", "COMPLETED", 0)
    assert (ended.out / "answer").read_bytes() == b"42"
    assert [path.name for path in ended.out.iterdir()] == ["answer"]
    assert ended.stdout == ""
    assert jobdir.read_log(ended.directory, 1, "peer.stdout")[0] == "theirs\n"
    assert not (ended.directory / "runs/1/peer").exists()
    assert peer["measured"]["wall"]


def test_a_peer_that_dies_is_the_end_of_the_stream_and_no_failure_of_the_run(direct: Direct, backend: str) -> None:
    ended = run(direct, backend, ASKS, JOINED + "os._exit(7)")
    assert ended.result["state"] == "COMPLETED"
    peer = ended.result["peer"]
    assert peer["exit_code"] == 7
    # Ours ends at once, too: which end is noticed first is open, and the peer is judged by that.
    assert peer["state"] == ("COMPLETED" if peer["closed"] else "FAILED")


def test_a_peer_goes_when_ours_has_ended(direct: Direct, backend: str) -> None:
    ended = run(direct, backend, "pass", "import time\ntime.sleep(60)")
    assert (ended.result["state"], ended.result["peer"]["state"]) == ("COMPLETED", "COMPLETED")
    assert ended.result["peer"]["closed"] is True
    assert ended.result["wall"] < 10


def test_a_peer_that_prints_without_end_is_ended_and_told(direct: Direct, backend: str) -> None:
    theirs = "import os\nwhile True: os.write(1, b'x' * 65536)"
    ended = run(direct, backend, ASKS, theirs, {"limits": {"output_total": MIB, "output": 4096}})
    peer = ended.result["peer"]
    assert (ended.result["state"], peer["state"], peer["reason"]["code"]) == ("COMPLETED", "FAILED", "output_limit")
    assert len(jobdir.read_log(ended.directory, 1, "peer.stdout")[0]) < 10_000


def test_cpu_time_is_counted_for_each_side(direct: Direct, backend: str) -> None:
    ended = run(direct, backend, ASKS, "while True: pass", {"limits": {"cpu": 1}})
    peer = ended.result["peer"]
    assert (ended.result["state"], peer["state"], peer["reason"]["code"]) == ("COMPLETED", "TIMEOUT", "timeout_cpu")
    assert ended.result["cpu"] < 1 < peer["cpu"]


def test_the_clock_is_the_run_s(direct: Direct, backend: str) -> None:
    ended = run(direct, backend, "import time\ntime.sleep(60)", "import time\ntime.sleep(60)", limits={"wall": 1})
    assert (ended.result["state"], ended.reason) == ("TIMEOUT", "timeout_wall")


def test_our_failure_is_the_run_s(direct: Direct, backend: str) -> None:
    ended = run(direct, backend, "raise SystemExit(3)", "import time\ntime.sleep(60)")
    assert (ended.result["state"], ended.result["exit_code"]) == ("FAILED", 3)
    assert ended.result["peer"]["closed"] is True


def test_a_cancelled_run_ends_both(direct: Direct, backend: str) -> None:
    spec = job(
        f"j-pair-{backend}-{next(NUMBERS)}",
        [PYTHON, "-c", "import time; print('there', flush=True); time.sleep(60)"],
        isolation={"backend": backend, "minimum": "none"},
        peer={"argv": [PYTHON, "-c", "import time; time.sleep(60)"], "resources": {"memory": 256 * MIB}},
    )
    directory = direct.prepare(spec)
    jobdir.ask_cancel(directory)
    ended = direct.start(directory)
    assert ended.wait(30) == 0
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert result["state"] == "CANCELLED"


@pytest.mark.sandbox
def test_neither_side_sees_the_other(direct: Direct, tmp_path: Path) -> None:
    secret = direct.base / "secret"
    secret.mkdir(exist_ok=True)
    (secret / "expected").write_text("42")
    looks = (
        "import os, json\n"
        "print(json.dumps([os.path.exists('/secret/expected'), sorted(p for p in os.listdir('/proc') if p.isdigit()),"
        " sorted(os.listdir('/out')), sorted(os.listdir('/proc/self/fd'))]))\n"
    )
    spec = job(
        "j-pair-apart",
        [
            PYTHON,
            "-c",
            "import time; assert open('/secret/expected').read() == '42'; open('/out/x', 'w'); time.sleep(1)",
        ],
        isolation={"backend": "bubblewrap", "minimum": "none"},
        mounts=[{"source": str(secret), "target": "/secret"}],
        peer={"argv": [PYTHON, "-c", looks], "resources": {"memory": 256 * MIB}},
    )
    ended = direct.run(spec)
    assert ended.result["state"] == "COMPLETED", ended.stderr
    sees, processes, out, descriptors = json.loads(jobdir.read_log(ended.directory, 1, "peer.stdout")[0])
    assert (sees, len(processes), out) == (False, 2, [])
    # Its three streams, its end of the socket, and the folder it is looking at.
    assert len(descriptors) == 5


def test_a_peer_that_is_not_as_it_should_be_is_refused(direct: Direct) -> None:
    wrong: list[dict[str, Any]] = [
        {"argv": []},
        {"argv": ["x"], "network": "host"},
        {"argv": ["x"], "work": "relative"},
        {"argv": ["x"], "resources": {"memory": 512 * MIB}},
        {"argv": ["x"], "resources": {"cpus": 2.0}},
    ]
    for peer in wrong:
        with pytest.raises(jobdir.FormatError, match="peer"):
            jobdir.filled(job("j-wrong", ["x"], peer=peer))
