"""One suite for every engine: what `engines.base` promises, on the fake, the local engine and a real Slurm.

A rig gives an engine and says how to make its jobs behave; nothing here knows which engine it is.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from qianka import jobdir
from qianka.domain.jobs import JobState
from qianka.domain.resources import Node, Placement
from qianka.engines.base import Cleans, Engine, Handle, Logs, Status, Waits
from qianka.engines.local.engine import LocalEngine
from qianka.engines.local.serving import ServingStarter
from qianka.engines.local.starters import DirectStarter, LauncherStarter, Starter
from qianka.engines.local.watch import Watcher
from qianka.errors import Unavailable
from qianka.sandbox import selftest
from qianka.testing import FakeClock, FakeEngine, Program, one_node
from qianka.testing.slurm.rigs import SlurmPersonRig, SlurmRig
from qianka.testing.supervised import Launched

MIB = 1 << 20
PYTHON = os.path.realpath(sys.executable)


class Rig(Protocol):
    """How the suite handles an engine."""

    engine: Engine
    nodes: int
    patience: float

    def job(self, name: str, behaviour: str, **limits: Any) -> dict[str, Any]: ...
    def restarted(self) -> Engine: ...
    def lose(self, handle: Handle) -> None: ...
    def silence(self, handle: Handle) -> None: ...
    def close(self) -> None: ...


def job_text(name: str, argv: list[str], **limits: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "job": name,
        "kind": "run",
        "name": name,
        "argv": argv,
        "resources": {"cpus": 1.0, "memory": limits.pop("memory", 512 * MIB), "gpus": 0},
        "limits": {"wall": 60.0, **limits},
        "isolation": {"backend": "none", "minimum": "none"},
    }


class FakeRig:
    nodes = 1
    patience = 30.0
    PROGRAMS: dict[str, Program] = {
        "quick": Program(stdout="hello\n", stderr="oops\n", files={"made.txt": b"made"}),
        "fails": Program(exit_code=3),
        "endless": Program(seconds=math.inf),
        "hog": Program(seconds=math.inf, memory=400 * MIB),
    }

    def __init__(self, tmp_path: Path) -> None:
        self.jobs = tmp_path
        self.engine: Any = FakeEngine(FakeClock(), jobs=tmp_path)

    def job(self, name: str, behaviour: str, **limits: Any) -> dict[str, Any]:
        self.engine.programs[name] = self.PROGRAMS[behaviour]
        return job_text(name, ["true"], **limits)

    def restarted(self) -> Engine:
        self.engine = self.engine.restarted()
        return self.engine  # type: ignore[no-any-return]

    def lose(self, handle: Handle) -> None:
        self.engine.lose(handle)

    def silence(self, handle: Handle) -> None:
        self.engine.down = True

    def close(self) -> None:
        pass


class LocalRig:
    nodes = 1
    patience = 30.0
    SCRIPTS: dict[str, list[str]] = {
        "quick": ["/bin/sh", "-c", "echo hello; echo oops >&2; printf made > /out/made.txt"],
        "fails": ["/bin/sh", "-c", "exit 3"],
        "endless": ["/bin/sleep", "1000"],
        "hog": [PYTHON, "-c", f"import time; x = b'x' * {400 * MIB}; time.sleep(1000)"],
    }

    def __init__(
        self, tmp_path: Path, starter: type[DirectStarter] = DirectStarter, descriptors: bool | None = None
    ) -> None:
        self.jobs, self.run = tmp_path / "jobs", tmp_path / "run"
        self.jobs.mkdir()
        self.run.mkdir()
        self.starter, self.descriptors = starter, descriptors
        self.engine: Any = None
        self.restarted()

    def job(self, name: str, behaviour: str, **limits: Any) -> dict[str, Any]:
        argv = [word.replace("/out/", f"{self.jobs}/{name}/out/") for word in self.SCRIPTS[behaviour]]
        return {**job_text(name, argv, **limits), "volume": "folder"}

    def restarted(self) -> Engine:
        """As another process would see it: nothing is carried over but the files."""
        if self.engine is not None:
            self.engine.close()
        starter = self.starter(self.jobs, self.run)
        self.engine = LocalEngine(self.jobs, starter, one_node, Watcher(self.descriptors))
        return self.engine  # type: ignore[no-any-return]

    def lose(self, handle: Handle) -> None:
        beat = until(lambda: jobdir.read_beat(self.jobs / handle.job, handle.run))
        os.kill(beat["pid"], signal.SIGKILL)
        if beat["child"]:
            os.kill(beat["child"], signal.SIGKILL)

    def silence(self, handle: Handle) -> None:
        folder = self.jobs / handle.job
        shutil.move(folder, self.jobs / "elsewhere")
        folder.write_text("a file where a folder should be")
        self.restarted()  # what the engine has under its eyes it goes on knowing

    def close(self) -> None:
        self.engine.close()


class SandboxedRig(LocalRig):
    """The local engine with bubblewrap: through a launcher as root, directly as an ordinary user."""

    SCRIPTS = {**LocalRig.SCRIPTS, "hog": ["/usr/bin/python3", *LocalRig.SCRIPTS["hog"][1:]]}

    def __init__(self, tmp_path: Path) -> None:
        level = selftest.probe("bubblewrap", tmp_path)
        if level["level"] not in ("full", "degraded"):
            pytest.skip("this machine does not contain code")
        self.launched: Launched | None = None
        if os.geteuid() == 0:
            self.launched = Launched("--service-uid", "0", "--uid-base", "61600", "--uid-count", "8")
            for path in [self.launched.data, *self.launched.data.rglob("*")]:
                os.chown(path, 0, 0)
            self.jobs, self.run = self.launched.data / "jobs", self.launched.data / "run"
        else:
            self.jobs, self.run = tmp_path / "jobs", tmp_path / "run"
            self.jobs.mkdir()
            self.run.mkdir()
            jobdir.write_json(str(self.run / "sandbox.json"), level)
        self.engine = None
        self.restarted()

    def job(self, name: str, behaviour: str, **limits: Any) -> dict[str, Any]:
        spec = {**job_text(name, self.SCRIPTS[behaviour], **limits), "volume": "folder"}
        return {**spec, "isolation": {"backend": "bubblewrap", "minimum": "degraded"}}

    def restarted(self) -> Engine:
        if self.engine is not None:
            self.engine.close()
        starter: Starter = LauncherStarter(self.run / "launcher.sock")
        if self.launched is None:
            starter = ServingStarter(self.jobs, self.run)
        self.engine = LocalEngine(self.jobs, starter, one_node)
        return self.engine  # type: ignore[no-any-return]

    def close(self) -> None:
        super().close()
        if self.launched is not None:
            self.launched.close()


def until(look: Callable[[], Any], seconds: float = 20.0) -> Any:
    """What `look` finds, as soon as it finds something: for what no event tells of."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.01)
    raise AssertionError("it did not come to pass")


@pytest.fixture(
    params=[
        "fake",
        "local",
        "local-looking",
        "local-serving",
        pytest.param("sandboxed", marks=[pytest.mark.sandbox, pytest.mark.xdist_group("launcher")]),
        pytest.param("slurm", marks=[pytest.mark.root, pytest.mark.xdist_group("slurm")]),
        pytest.param(
            "slurm-person",
            marks=[pytest.mark.root, pytest.mark.sandbox, pytest.mark.timeout(240), pytest.mark.xdist_group("slurm")],
        ),
    ]
)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    rigs: dict[str, Callable[[], Rig]] = {
        "fake": lambda: FakeRig(tmp_path),
        "local": lambda: LocalRig(tmp_path),
        "local-looking": lambda: LocalRig(tmp_path, descriptors=False),
        "local-serving": lambda: LocalRig(tmp_path, ServingStarter),
        "sandboxed": lambda: SandboxedRig(tmp_path),
        "slurm": lambda: SlurmRig(request.getfixturevalue("slurm_cluster"), tmp_path),
        "slurm-person": lambda: SlurmPersonRig(request.getfixturevalue("slurm_cluster"), tmp_path),
    }
    made = rigs[request.param]()
    yield made
    made.close()


NODE = one_node()
PLACEMENT = Placement(node=NODE.name, cores=(0,))


def status(rig: Rig, handle: Handle) -> Status:
    return rig.engine.poll([handle])[handle]


def end_of(rig: Rig, handle: Handle, seconds: float = 30.0) -> Status:
    """Wait, by the engine's own waiting, for the end of a run."""
    assert isinstance(rig.engine, Waits)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = status(rig, handle)
        if found.state.ended:
            return found
        rig.engine.wait(1.0)
    raise AssertionError(f"no end: {status(rig, handle)}")


def begun(rig: Rig, handle: Handle) -> None:
    until(lambda: status(rig, handle).state is JobState.RUNNING and status(rig, handle).detail is None)


def test_a_run_completes_with_its_result_output_and_logs(rig: Rig) -> None:
    handle = rig.engine.submit(rig.job("j-1", "quick"), 1, PLACEMENT)
    ended = end_of(rig, handle)
    assert (ended.state, ended.result and ended.result["exit_code"]) == (JobState.COMPLETED, 0)
    assert ended.result is not None
    assert (ended.result["job"], ended.result["run"]) == ("j-1", 1)
    # An engine with a queue of its own chooses the cores itself.
    assert ended.result["cores"] == ([] if rig.engine.queues else [0])
    assert isinstance(rig.engine, Logs)
    assert rig.engine.log(handle, "stdout", 0) == ("hello\n", 6)
    assert rig.engine.log(handle, "stdout", 6) == ("", 6)
    assert rig.engine.log(handle, "stderr", 2) == ("ps\n", 5)


def test_a_program_that_fails_is_its_own_fault(rig: Rig) -> None:
    ended = end_of(rig, rig.engine.submit(rig.job("j-1", "fails"), 1, PLACEMENT))
    assert (ended.state, ended.result and ended.result["exit_code"]) == (JobState.FAILED, 3)


def test_a_run_nobody_submitted_has_not_begun(rig: Rig) -> None:
    assert status(rig, Handle("j-none", 1)).state is JobState.PENDING


def test_many_are_asked_for_at_once(rig: Rig) -> None:
    handles = [rig.engine.submit(rig.job(f"j-{i}", "quick"), 1, PLACEMENT) for i in range(3)]
    absent = Handle("j-absent", 4)
    for handle in handles:
        end_of(rig, handle)
    found = rig.engine.poll([*handles, absent])
    assert [found[h].state for h in (*handles, absent)] == [JobState.COMPLETED] * 3 + [JobState.PENDING]


def test_submitting_twice_is_one_run(rig: Rig) -> None:
    job = rig.job("j-1", "endless")
    handle = rig.engine.submit(job, 1, PLACEMENT)
    assert rig.engine.submit(job, 1, PLACEMENT) == handle
    begun(rig, handle)
    rig.engine.submit(job, 1, PLACEMENT)
    rig.engine.cancel(handle)
    assert end_of(rig, handle).state is JobState.CANCELLED


def test_cancelling_ends_a_run_and_again_changes_nothing(rig: Rig) -> None:
    handle = rig.engine.submit(rig.job("j-1", "endless"), 1, PLACEMENT)
    begun(rig, handle)
    rig.engine.cancel(handle)
    rig.engine.cancel(handle)
    ended = end_of(rig, handle, seconds=10)
    assert (ended.state, ended.result and ended.result["reason"]["code"]) == (JobState.CANCELLED, "cancelled")
    rig.engine.cancel(handle)
    assert status(rig, handle) == ended


def test_cancelling_after_the_end_changes_nothing(rig: Rig) -> None:
    handle = rig.engine.submit(rig.job("j-1", "quick"), 1, PLACEMENT)
    ended = end_of(rig, handle)
    rig.engine.cancel(handle)
    assert status(rig, handle) == ended


def test_what_was_cancelled_before_it_began_never_begins(rig: Rig) -> None:
    handle = Handle("j-1", 1)
    rig.engine.cancel(handle)
    rig.engine.submit(rig.job("j-1", "quick"), 1, PLACEMENT)
    assert end_of(rig, handle).state is JobState.CANCELLED


def test_the_wall_limit_ends_a_run(rig: Rig) -> None:
    ended = end_of(rig, rig.engine.submit(rig.job("j-1", "endless", wall=0.5), 1, PLACEMENT), rig.patience)
    assert (ended.state, ended.result and ended.result["reason"]["code"]) == (JobState.TIMEOUT, "timeout_wall")


def test_the_memory_limit_ends_a_run(rig: Rig) -> None:
    ended = end_of(rig, rig.engine.submit(rig.job("j-1", "hog", memory=128 * MIB, wall=20.0), 1, PLACEMENT))
    assert (ended.state, ended.result and ended.result["reason"]["code"]) == (JobState.OUT_OF_MEMORY, "out_of_memory")


def test_a_run_whose_supervisor_died_is_lost_without_a_result(rig: Rig) -> None:
    handle = rig.engine.submit(rig.job("j-1", "endless"), 1, PLACEMENT)
    begun(rig, handle)
    rig.lose(handle)
    ended = end_of(rig, handle)
    assert (ended.state, ended.result) == (JobState.NODE_FAIL, None)


def test_a_requeue_is_a_new_run_and_keeps_the_first_ones_end_apart(rig: Rig) -> None:
    job = rig.job("j-1", "endless")
    first = rig.engine.submit(job, 1, PLACEMENT)
    begun(rig, first)
    rig.lose(first)
    end_of(rig, first)
    second = rig.engine.submit(job, 2, Placement(node=NODE.name, cores=(1,)))
    begun(rig, second)
    assert status(rig, first).state is JobState.NODE_FAIL
    rig.engine.cancel(second)
    ended = end_of(rig, second)
    assert (ended.state, ended.result and ended.result["run"]) == (JobState.CANCELLED, 2)
    assert ended.result is not None
    assert ended.result["cores"] == ([] if rig.engine.queues else [1])
    assert status(rig, first).result is None


def test_after_a_restart_what_runs_and_what_ended_is_found_again(rig: Rig) -> None:
    running = rig.engine.submit(rig.job("j-run", "endless"), 1, PLACEMENT)
    done = rig.engine.submit(rig.job("j-done", "quick"), 1, PLACEMENT)
    begun(rig, running)
    before = end_of(rig, done)
    rig.restarted()
    assert status(rig, running).state is JobState.RUNNING
    assert status(rig, done) == before
    rig.engine.cancel(running)
    assert end_of(rig, running).state is JobState.CANCELLED


def test_an_engine_that_does_not_answer_says_so_and_concludes_nothing(rig: Rig) -> None:
    handle = rig.engine.submit(rig.job("j-1", "endless", wall=20.0), 1, PLACEMENT)
    begun(rig, handle)
    rig.silence(handle)
    with pytest.raises(Unavailable) as refused:
        rig.engine.poll([handle])
    assert refused.value.http_status == 503


def test_waiting_ends_with_a_run_or_a_wake_not_with_the_timeout(rig: Rig) -> None:
    assert isinstance(rig.engine, Waits)
    handle = rig.engine.submit(rig.job("j-1", "quick"), 1, PLACEMENT)
    begin = time.monotonic()
    while not status(rig, handle).state.ended:
        rig.engine.wait(60)
    rig.engine.wake()
    rig.engine.wait(60)
    assert time.monotonic() - begin < 30


def test_an_ended_job_can_be_cleaned_away_and_again(rig: Rig) -> None:
    handle = rig.engine.submit(rig.job("j-1", "quick"), 1, PLACEMENT)
    end_of(rig, handle)
    assert isinstance(rig.engine, Cleans)
    rig.engine.clean("j-1")
    rig.engine.clean("j-1")
    assert status(rig, handle).state is JobState.PENDING


def test_nodes_tell_what_may_be_handed_out(rig: Rig) -> None:
    nodes = rig.engine.nodes()
    assert len(nodes) == rig.nodes
    assert all(isinstance(node, Node) and node.alive and node.cores[:2] == (0, 1) for node in nodes)
