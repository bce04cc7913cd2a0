"""One run of one job, with and without a sandbox: what its result says."""

from __future__ import annotations

import itertools
import json
import signal
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from qianka import jobdir
from qianka.testing.supervised import MIB, Direct, Ended, job, wait_for

NUMBERS = itertools.count(1)
PYTHON = "/usr/bin/python3"
RESULT = json.loads((Path(__file__).parents[4] / "contracts/result.schema.json").read_text("utf-8"))


def make(program: str, backend: str, **changes: Any) -> dict[str, Any]:
    return job(
        f"j-{backend}-{next(NUMBERS)}",
        [PYTHON, "-c", program],
        isolation={"backend": backend, "minimum": "none"},
        **changes,
    )


def run(direct: Direct, program: str, backend: str, **changes: Any) -> Ended:
    ended = direct.run(make(program, backend, **changes), cores=[0])
    jsonschema.Draft202012Validator(RESULT).validate(ended.result)
    return ended


def test_a_job_that_works(direct: Direct, backend: str) -> None:
    program = (
        "import os, sys; print('你好', os.getcwd()); print('wrong', file=sys.stderr); open('a.txt', 'w').write('1')"
    )
    ended = run(direct, program, backend, environment={"SEED": "7"})
    assert ended.result["state"] == "COMPLETED"
    assert ended.result["exit_code"] == 0
    assert ended.result["reason"] is None
    assert ended.stdout.startswith("你好 ")
    assert ended.stderr == "wrong\n"
    assert (ended.out / "a.txt").read_text() == "1"
    assert ended.result["out"]["files"] == 1
    assert ended.result["isolation"] == ("none" if backend == "none" else "degraded")
    assert ended.result["cores"] == [0]
    assert ended.result["cpu_seconds"] == pytest.approx(ended.result["wall"])


def test_an_exit_code_is_the_programs_own(direct: Direct, backend: str) -> None:
    ended = run(direct, "raise SystemExit(3)", backend)
    assert (ended.result["state"], ended.result["exit_code"], ended.result["reason"]) == ("FAILED", 3, None)


def test_a_signal_is_told(direct: Direct, backend: str) -> None:
    ended = run(direct, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", backend)
    assert (ended.result["state"], ended.result["signal"]) == ("FAILED", signal.SIGSEGV)


def test_a_program_that_is_not_there_is_the_jobs_fault(direct: Direct, backend: str) -> None:
    spec = job(f"j-{next(NUMBERS)}", ["nonesuch"], isolation={"backend": backend, "minimum": "none"})
    ended = direct.run(spec)
    if backend == "none":
        assert (ended.result["state"], ended.reason) == ("NODE_FAIL", "spawn")
    else:
        assert (ended.result["state"], ended.result["exit_code"]) == ("FAILED", 127)


def test_the_wall_limit_comes_after_a_grace(direct: Direct, backend: str) -> None:
    program = """
import signal, sys, time
def leave(*_):
    print('saving', flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print('ready', flush=True)
time.sleep(30)
"""
    ended = run(direct, program, backend, limits={"wall": 1, "grace": 5})
    assert (ended.result["state"], ended.reason) == ("TIMEOUT", "timeout_wall")
    assert ended.stdout == "ready\nsaving\n"
    assert 1 <= ended.result["wall"] < 4


def test_cpu_time_is_bounded_for_the_whole_run(direct: Direct, backend: str) -> None:
    ended = run(direct, "while True: pass", backend, limits={"cpu": 0.5, "wall": 20})
    assert (ended.result["state"], ended.reason) == ("TIMEOUT", "timeout_cpu")
    assert 0.5 <= ended.result["cpu"] < 2


def test_memory_is_bounded(direct: Direct, backend: str) -> None:
    program = (
        "import time\nheld = []\nfor _ in range(64):\n    held.append(bytearray(b'x' * (8 << 20))); time.sleep(0.02)"
    )
    ended = run(direct, program, backend, resources={"memory": 128 * MIB})
    assert (ended.result["state"], ended.reason) == ("OUT_OF_MEMORY", "out_of_memory")
    assert ended.result["peak_memory"] > 100 * MIB


def test_cpu_time_and_memory_are_measured(direct: Direct, backend: str) -> None:
    program = """
import time
held = b'x' * (100 << 20)
while time.process_time() < 1.0: pass
"""
    ended = run(direct, program, backend)
    assert ended.result["cpu"] == pytest.approx(1.0, abs=0.35)
    assert ended.result["peak_memory"] == pytest.approx(110 * MIB, abs=30 * MIB)
    assert ended.result["disturbed"] is not None
    assert set(ended.result["measured"]) == {"wall", "cpu", "memory"}


def test_threads_are_set_to_the_quota_and_cores_are_fenced(direct: Direct, backend: str) -> None:
    program = "import os; print(os.environ['OMP_NUM_THREADS'], sorted(os.sched_getaffinity(0)))"
    ended = run(direct, program, backend, resources={"cpus": 1.5})
    assert ended.stdout == "1 [0]\n"
    assert ended.result["threads"] == 1


def high_water(pid: int) -> int:
    """Most memory of a process so far, KiB. Not ru_maxrss: it starts with what the caller of fork() had."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def test_a_flood_of_output_keeps_the_supervisor_small(direct: Direct, backend: str) -> None:
    program = "import os\nfor _ in range(400): os.write(1, b'A' * (1 << 20))"
    spec = make(program, backend, limits={"output_total": 1 << 30, "output": 64 << 10})
    directory = direct.prepare(spec)
    largest = 0
    with direct.start(directory) as supervisor:
        while supervisor.poll() is None:
            largest = max(largest, high_water(supervisor.pid))
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert result["output"]["stdout"] == 400 * MIB
    assert (directory / "runs/1/stdout.log").stat().st_size < 70_000
    assert 0 < largest < 60_000


def test_too_much_output_ends_the_run(direct: Direct, backend: str) -> None:
    program = "import os\nwhile True: os.write(1, b'A' * 65536)"
    ended = run(direct, program, backend, limits={"output_total": MIB})
    assert (ended.result["state"], ended.reason) == ("FAILED", "output_limit")


def test_a_full_disk_is_told(direct: Direct, backend: str) -> None:
    program = (
        "import time\nf = open('big', 'wb', buffering=0)\nfor _ in range(40): f.write(b'x' * (1 << 20))\ntime.sleep(3)"
    )
    ended = run(direct, program, backend, limits={"disk": 8 * MIB, "tmp": 64 * MIB})
    assert (ended.result["state"], ended.reason) == ("FAILED", "disk_full")


def test_cancelling_a_running_job(direct: Direct, backend: str) -> None:
    directory = direct.prepare(make("import time; print('on', flush=True); time.sleep(60)", backend))
    supervisor = direct.start(directory)
    wait_for(lambda: jobdir.read_log(directory, 1, "stdout")[0])
    supervisor.send_signal(signal.SIGTERM)
    assert supervisor.wait(20) == 0
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert (result["state"], result["reason"]["code"]) == ("CANCELLED", "cancelled")


def test_the_mark_alone_cancels_as_well(direct: Direct, backend: str) -> None:
    directory = direct.prepare(make("import time; time.sleep(60)", backend))
    supervisor = direct.start(directory)
    wait_for(lambda: jobdir.read_beat(directory, 1))
    jobdir.ask_cancel(directory)
    assert supervisor.wait(20) == 0
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert result["state"] == "CANCELLED"


def test_a_job_cancelled_before_it_began_never_runs(direct: Direct, backend: str) -> None:
    directory = direct.prepare(make("open('ran', 'w')", backend))
    jobdir.ask_cancel(directory)
    with direct.start(directory) as supervisor:
        assert supervisor.wait(20) == 0
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert result["state"] == "CANCELLED"
    assert list((directory / "out").iterdir()) == []


def test_what_it_left_is_there_for_the_next_run(direct: Direct, backend: str) -> None:
    program = """
import os
print(os.environ['QIANKA_RUN'], sorted(os.listdir('.')))
os.makedirs('checkpoints', exist_ok=True)
open(f"checkpoints/{os.environ['QIANKA_RUN']}", 'w').write('x')
"""
    spec = make(program, backend)
    assert direct.run(spec, 1).stdout == "1 []\n"
    second = direct.run(spec, 2)
    assert second.stdout == "2 ['checkpoints']\n"
    assert sorted(path.name for path in (second.out / "checkpoints").iterdir()) == ["1", "2"]


def test_metrics_are_copied_while_it_runs(direct: Direct, backend: str) -> None:
    program = """
import time
with open('metrics.jsonl', 'w', buffering=1) as f:
    f.write('{"step": 1}\\n')
    time.sleep(3)
    f.write('{"step": 2}\\n')
"""
    directory = direct.prepare(make(program, backend))
    with direct.start(directory) as supervisor:
        mirror = directory / "runs/1/metrics.jsonl"
        wait_for(lambda: mirror.exists() and mirror.read_text())
        assert supervisor.poll() is None
        assert mirror.read_text() == '{"step": 1}\n'
        supervisor.wait(30)
    assert mirror.read_text() == '{"step": 1}\n{"step": 2}\n'


def test_metrics_that_are_a_trap_are_not_opened(direct: Direct, backend: str) -> None:
    program = "import os, time; os.symlink('/etc/passwd', 'metrics.jsonl'); time.sleep(1.2)"
    ended = run(direct, program, backend)
    assert ended.result["state"] == "COMPLETED"
    assert not (ended.directory / "runs/1/metrics.jsonl").exists()
    assert ended.result["out"]["refused"] == [{"name": "metrics.jsonl", "why": "link"}]


def test_the_heart_beats(direct: Direct, backend: str) -> None:
    directory = direct.prepare(make("import time; time.sleep(2.5)", backend))
    with direct.start(directory) as supervisor:
        first = wait_for(lambda: jobdir.read_beat(directory, 1))
        assert jobdir.alive(first)
        assert first["pid"] == supervisor.pid
        wait_for(lambda: (jobdir.read_beat(directory, 1) or first)["touched"] > first["touched"] + 0.5)
        supervisor.wait(20)
    assert not jobdir.alive(jobdir.read_beat(directory, 1))


def test_a_run_is_supervised_once(direct: Direct) -> None:
    directory = direct.prepare(make("import time; time.sleep(1)", "none"))
    first, second = direct.start(directory), direct.start(directory)
    assert sorted([first.wait(20), second.wait(20)]) == [0, 3]


def test_a_run_that_was_replaced_before_it_began_is_kept_aside(direct: Direct) -> None:
    directory = direct.prepare(make("open('ran', 'w')", "none"), run=2)
    with direct.start(directory, 1) as supervisor:
        assert supervisor.wait(20) == 0
    assert jobdir.read_result(directory, 1) is None
    stale = jobdir.read_json(str(directory / "runs/1/result.stale.json"))
    assert stale["reason"]["code"] == "stale"
    assert not (directory / "out/ran").exists()


def test_a_run_that_is_replaced_while_it_goes_on_ends_and_its_result_does_not_count(direct: Direct) -> None:
    directory = direct.prepare(make("import time; time.sleep(60)", "none"))
    supervisor = direct.start(directory)
    wait_for(lambda: jobdir.read_beat(directory, 1))
    jobdir.set_fence(directory, {"run": 2, "node": "there", "cores": [], "cards": []})
    assert supervisor.wait(20) == 0
    assert jobdir.read_result(directory, 1) is None
    assert (directory / "runs/1/result.stale.json").exists()


@pytest.mark.sandbox
def test_the_run_ends_with_a_supervisor_that_is_killed(direct: Direct) -> None:
    directory = direct.prepare(make("import time; print('on', flush=True); time.sleep(60)", "bubblewrap"))
    supervisor = direct.start(directory)
    wait_for(lambda: jobdir.read_log(directory, 1, "stdout")[0])
    beat = jobdir.read_beat(directory, 1)
    assert beat is not None
    supervisor.kill()
    supervisor.wait()
    wait_for(lambda: not Path(f"/proc/{beat['child']}").exists())
    assert not jobdir.alive(beat)
    assert jobdir.read_result(directory, 1) is None


def test_a_level_below_what_the_job_asks_runs_nothing(direct: Direct, backend: str) -> None:
    spec = make("open('ran', 'w')", backend)
    spec["isolation"]["minimum"] = "full"
    ended = direct.run(spec)
    assert (ended.result["state"], ended.reason) == ("NODE_FAIL", "sandbox")
    assert "the job asks for full" in ended.result["reason"]["text"]
    assert ended.result["missing"] != []
    assert not (ended.out / "ran").exists()


@pytest.mark.sandbox
def test_a_source_that_is_not_there_is_the_platforms_fault(direct: Direct) -> None:
    ended = run(direct, "pass", "bubblewrap", work="/nonexistent/tree")
    assert (ended.result["state"], ended.reason) == ("NODE_FAIL", "sandbox")
    assert "/nonexistent/tree" in ended.result["reason"]["text"]


def test_a_damaged_job_file_ends_in_a_result(direct: Direct) -> None:
    directory = direct.prepare(make("pass", "none"))
    (directory / "job.json").write_text('{"format": 1, "job": "j-1", "argv": [}')
    with direct.start(directory) as supervisor:
        assert supervisor.wait(20) == 0
    result = jobdir.read_result(directory, 1)
    assert result is not None
    jsonschema.Draft202012Validator(RESULT).validate(result)
    assert result["state"] == "NODE_FAIL"


def test_the_end_is_noticed_at_once(direct: Direct, backend: str) -> None:
    walls = [run(direct, "pass", backend).result["wall"] for _ in range(5)]
    began = time.monotonic()
    run(direct, "pass", backend)
    assert min(walls) < 0.5
    assert time.monotonic() - began < 3
