"""A run in a container ends as one in bubblewrap does, and nothing is left of it."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from qianka import jobdir
from qianka.jobdir.beat import alive, read_beat
from qianka.jobdir.files import write_json
from qianka.sandbox import selftest
from qianka.sandbox.container import command, engine, reap
from qianka.testing.supervised import MIB, Direct, Ended, Launched, job, wait_for

pytestmark = [pytest.mark.root, pytest.mark.xdist_group("attacks"), pytest.mark.timeout(180)]
RESULT = json.loads((Path(__file__).parents[4] / "contracts/result.schema.json").read_text("utf-8"))
NUMBERS = itertools.count(1)
PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module")
def place() -> Iterator[Direct]:
    if shutil.which("podman") is None:
        pytest.skip("needs podman")
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with Direct() as direct:
        report = selftest.probe("podman", direct.data)
        assert report["level"] == "full", report["missing"]
        (direct.data / "run").mkdir()
        write_json(str(direct.data / "run/sandbox.json"), report)
        yield direct


@pytest.fixture(scope="module")
def launched() -> Iterator[Launched]:
    with Launched() as found:
        yield found


@pytest.fixture(scope="module")
def podman(place: Direct) -> engine.Engine:
    return engine.find("podman")


def run(place: Direct | Launched, backend: str, program: str, **changes: Any) -> Ended:
    isolation = {"backend": backend, "minimum": "degraded"}
    spec = job(f"j-{backend}-{next(NUMBERS)}", [PYTHON, "-c", program], isolation=isolation, **changes)
    ended = place.run(spec, cores=[0])
    jsonschema.Draft202012Validator(RESULT).validate(ended.result)
    return ended


FORKS = "import os, time\nfor _ in range(100):\n  if os.fork() == 0: time.sleep(1); os._exit(0)"
FILL = "f = open('big', 'wb', buffering=0)\nfor _ in range(40): f.write(b'x' * (1 << 20))"
FILES = "import time\nfor n in range(5000): open(str(n), 'w').close()\ntime.sleep(5)"


@pytest.mark.parametrize(
    ("program", "changes"),
    [
        ("open('a', 'w').write('1')", {}),
        ("raise SystemExit(3)", {}),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", {}),
        ("import time; time.sleep(30)", {"limits": {"wall": 1}}),
        ("while True: pass", {"limits": {"cpu": 0.5}}),
        ("x = bytearray(b'x' * (300 << 20))", {"resources": {"memory": 128 * MIB}}),
        ("import os\nwhile True: os.write(1, b'A' * 65536)", {"limits": {"output_total": MIB}}),
        (FILL, {"limits": {"disk": 8 * MIB, "tmp": 64 * MIB}}),
        (FILES, {"limits": {"inodes": 100}}),
        (FORKS, {"limits": {"processes": 32}}),
    ],
    ids=["good", "exit", "signal", "wall", "cpu", "memory", "output", "disk", "files", "processes"],
)
def test_a_container_ends_with_the_verdict_of_bubblewrap(
    place: Direct, launched: Launched, program: str, changes: dict[str, Any]
) -> None:
    theirs = run(place, "podman", program, **changes)
    ours = run(launched, "bubblewrap", program, **changes)
    if theirs.reason is None:  # nobody ended it
        assert [theirs.result[key] for key in ("exit_code", "signal")] == [
            ours.result[key] for key in ("exit_code", "signal")
        ]
    assert (theirs.result["state"], theirs.reason) == (ours.result["state"], ours.reason)
    assert theirs.result["left_after"] == 0
    assert theirs.result["isolation"] == "full"
    assert "control group" in theirs.result["measured"]["memory"]


def test_a_program_that_is_not_there_is_the_jobs_fault(place: Direct) -> None:
    isolation = {"backend": "podman", "minimum": "full"}
    ended = place.run(job(f"j-{next(NUMBERS)}", ["nonesuch"], isolation=isolation))
    assert (ended.result["state"], ended.result["exit_code"], ended.reason) == ("FAILED", 127, "spawn")


def test_what_an_engine_cannot_start_is_the_platforms_fault(place: Direct) -> None:
    isolation = {"backend": "podman", "minimum": "full", "image": "nobody/has-this:1"}
    ended = place.run(job(f"j-{next(NUMBERS)}", [PYTHON, "-c", "1"], isolation=isolation))
    assert (ended.result["state"], ended.reason) == ("NODE_FAIL", "sandbox")
    assert "nobody/has-this" in ended.result["reason"]["text"]


def test_time_is_the_runs_own_and_not_the_engines(place: Direct) -> None:
    ended = run(place, "podman", "import time; time.sleep(0.5)")
    assert 0.5 <= ended.result["wall"] < 0.9
    assert ended.result["cpu"] < 0.4


def test_what_it_left_is_there_for_the_next_run(place: Direct) -> None:
    program = "import os; print(sorted(os.listdir('.'))); open(os.environ['QIANKA_RUN'], 'a').write('x')"
    isolation = {"backend": "podman", "minimum": "full"}
    for volume in ("tmpfs", "folder"):
        spec = job(f"j-{next(NUMBERS)}", [PYTHON, "-c", program], isolation=isolation, volume=volume)
        assert place.run(spec, 1).stdout == "[]\n"
        assert place.run(spec, 2).stdout == "['1']\n"
        assert place.run(spec, 3).stdout == "['1', '2']\n"


def test_cancelling_lets_it_save(place: Direct) -> None:
    program = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print('saving', flush=True), sys.exit(0)))
print('ready', flush=True)
time.sleep(60)
"""
    spec = job(
        f"j-{next(NUMBERS)}",
        [PYTHON, "-c", program],
        isolation={"backend": "podman", "minimum": "full"},
        limits={"wall": 50, "grace": 5},
    )
    directory = place.prepare(spec)
    with place.start(directory) as supervisor:
        wait_for(lambda: "ready" in jobdir.read_log(directory, 1, "stdout")[0])
        supervisor.send_signal(signal.SIGTERM)
        assert supervisor.wait(20) == 0
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert (result["state"], result["reason"]["code"]) == ("CANCELLED", "cancelled")
    assert jobdir.read_log(directory, 1, "stdout")[0] == "ready\nsaving\n"


def test_nothing_goes_on_after_the_supervisor_was_killed(place: Direct, podman: engine.Engine) -> None:
    spec = job(
        f"j-{next(NUMBERS)}",
        [PYTHON, "-c", "import time; print('on', flush=True); time.sleep(100)"],
        isolation={"backend": "podman", "minimum": "full"},
        limits={"wall": 100},
    )
    directory = place.prepare(spec)
    jobs = str(place.data / "jobs")
    name = reap.name_of(spec["job"], str(directory), 1)

    def living(folder: str, number: int) -> bool:
        return alive(read_beat(folder, number))

    with place.start(directory) as supervisor:
        wait_for(lambda: "on" in jobdir.read_log(directory, 1, "stdout")[0])
        assert reap.reap(podman, jobs, living) == 0  # its supervisor lives
        supervisor.kill()
        supervisor.wait(20)
    wait_for(lambda: podman.ask("inspect", "--format", "{{.State.Running}}", name)[1].strip() == "false")
    assert list(command.containers(podman, reap.label_of(jobs))) == [name]
    assert reap.reap(podman, jobs, living) == 1
    assert list(command.containers(podman, reap.label_of(jobs))) == []


def test_an_end_from_outside_is_the_platforms_fault(place: Direct, podman: engine.Engine) -> None:
    spec = job(
        f"j-{next(NUMBERS)}",
        [PYTHON, "-c", "import time; print('on', flush=True); time.sleep(100)"],
        isolation={"backend": "podman", "minimum": "full"},
        limits={"wall": 100},
    )
    directory = place.prepare(spec)
    with place.start(directory) as supervisor:
        wait_for(lambda: "on" in jobdir.read_log(directory, 1, "stdout")[0])
        assert podman.ask("kill", reap.name_of(spec["job"], str(directory), 1))[0] == 0
        assert supervisor.wait(30) == 0
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert (result["state"], result["reason"]["code"]) == ("NODE_FAIL", "lost")


def test_unproven_containment_is_not_called_full(place: Direct) -> None:
    with Direct() as other:  # no self-test was written there
        isolation = {"backend": "podman", "minimum": "none"}
        ended = other.run(job(f"j-{next(NUMBERS)}", [PYTHON, "-c", "print(1)"], isolation=isolation))
    assert (ended.result["isolation"], ended.result["missing"]) == ("degraded", ["unproven"])


def test_auto_runs_by_what_the_self_test_found(place: Direct) -> None:
    isolation = {"backend": "auto", "minimum": "full"}
    ended = place.run(
        job(f"j-{next(NUMBERS)}", [PYTHON, "-c", "print(open('/proc/1/comm').read())"], isolation=isolation)
    )
    assert ended.stdout.strip() == "python3"


JOINED = "import os, socket\nline = socket.socket(fileno=int(os.environ['QIANKA_SOCKET']))\n"


def test_two_containers_of_one_run_talk_and_each_has_its_own_figures(place: Direct, podman: engine.Engine) -> None:
    ours = JOINED + "line.sendall(b'question')\nopen('answer', 'wb').write(line.recv(100))\n"
    theirs = JOINED + "line.recv(100)\nopen('left', 'w')\nprint('theirs', flush=True)\nline.sendall(b'42')\n"
    ended = run(place, "podman", ours, peer={"argv": [PYTHON, "-c", theirs], "resources": {"memory": 256 * MIB}})
    peer = ended.result["peer"]
    assert (ended.result["state"], ended.result["isolation"]) == ("COMPLETED", "full"), ended.result
    assert (peer["state"], (ended.out / "answer").read_bytes()) == ("COMPLETED", b"42")
    assert [path.name for path in ended.out.iterdir()] == ["answer"]
    assert jobdir.read_log(ended.directory, 1, "peer.stdout")[0] == "theirs\n"
    assert command.containers(podman, reap.label_of(str(place.data / "jobs"))) == []


def test_a_container_without_memory_is_the_peers_own_end(launched: Launched) -> None:
    ours = JOINED + "\ntry:\n    line.recv(1)\nexcept OSError:\n    pass\n"
    theirs = "x = bytearray()\nwhile True: x.extend(bytes(1 << 20))"
    spec = job(
        "j-podman-paired",
        [PYTHON, "-c", ours],
        isolation={"backend": "podman", "minimum": "degraded"},
        peer={"argv": [PYTHON, "-c", theirs], "resources": {"memory": 64 * MIB}},
    )
    result = launched.run(spec).result
    assert (result["state"], result.get("peer", {}).get("state")) == ("COMPLETED", "OUT_OF_MEMORY"), result
    assert result["peer"]["reason"]["code"] == "out_of_memory"
