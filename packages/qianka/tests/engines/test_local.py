"""What the local engine has beside the common promises: starters, watching, inventory."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka import jobdir
from qianka.adapters import nvml
from qianka.domain.jobs import JobState
from qianka.domain.resources import Card, Placement
from qianka.engines.base import Handle
from qianka.engines.local import LocalEngine, make_engine, tell_isolation
from qianka.engines.local.nodes import inventory
from qianka.engines.local.serving import ServingStarter
from qianka.engines.local.starters import DirectStarter, LauncherStarter
from qianka.engines.local.watch import Watcher
from qianka.errors import PlatformFault, SandboxRefused, Unavailable
from qianka.settings import Settings
from qianka.testing import one_node


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    jobs, run = tmp_path / "jobs", tmp_path / "run"
    jobs.mkdir()
    run.mkdir()
    return jobs, run


def text(name: str, argv: list[str]) -> dict[str, Any]:
    return {
        "format": 1,
        "job": name,
        "argv": argv,
        "volume": "folder",
        "resources": {"cpus": 0.5, "memory": 64 << 20, "gpus": 0},
        "limits": {"wall": 30.0},
        "isolation": {"backend": "none", "minimum": "none"},
    }


def end_of(engine: LocalEngine, handle: Handle) -> JobState:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        state = engine.poll([handle])[handle].state
        if state.ended:
            return state
        engine.wait(1.0)
    raise AssertionError("no end")


def test_the_interpreter_is_the_real_one_and_loads_no_site(folders: tuple[Path, Path]) -> None:
    command = DirectStarter(*folders)._command
    assert command[0] == os.path.realpath(command[0])
    assert Path(command[0]).is_absolute()
    assert command[1:3] == ["-I", "-S"]


def test_a_forking_process_that_died_is_replaced_and_its_runs_go_on(folders: tuple[Path, Path]) -> None:
    starter = ServingStarter(*folders)
    engine = LocalEngine(folders[0], starter, one_node)
    long = engine.submit(text("j-long", ["/bin/sleep", "2"]), 1, None)
    assert starter._server is not None
    os.kill(starter._server[0], 9)
    for name in ("j-1", "j-2"):
        assert end_of(engine, engine.submit(text(name, ["/bin/true"]), 1, None)) is JobState.COMPLETED
    assert end_of(engine, long) is JobState.COMPLETED
    engine.close()


def test_a_job_that_was_started_by_both_ways_runs_once(folders: tuple[Path, Path]) -> None:
    serving = ServingStarter(*folders)
    engine = LocalEngine(folders[0], serving, one_node)
    handle = engine.submit(text("j-1", ["/bin/sh", "-c", "echo ran"]), 1, None)
    DirectStarter(*folders).start("j-1", 1)
    assert end_of(engine, handle) is JobState.COMPLETED
    assert engine.log(handle, "stdout", 0) == ("ran\n", 4)
    engine.close()


def test_a_late_worker_cannot_turn_the_fence_back(folders: tuple[Path, Path]) -> None:
    engine = LocalEngine(folders[0], DirectStarter(*folders), one_node)
    job = text("j-1", ["/bin/true"])
    assert end_of(engine, engine.submit(job, 2, None)) is JobState.COMPLETED
    with pytest.raises(PlatformFault):
        engine.submit(job, 1, None)
    fence = jobdir.read_fence(folders[0] / "j-1")
    assert fence is not None
    assert fence["run"] == 2
    engine.close()


def test_the_fence_tells_cores_and_cards(folders: tuple[Path, Path]) -> None:
    engine = LocalEngine(folders[0], DirectStarter(*folders), one_node)
    card = Card(index=1, uuid="SIM-1", model="A100-80G", memory=80 << 30, simulated=True)
    placement = Placement(node="n", cores=(1,), cards=(card,))
    handle = engine.submit(text("j-1", ["/bin/true"]), 1, placement)
    end_of(engine, handle)
    assert jobdir.read_fence(folders[0] / "j-1") == {
        "run": 1,
        "node": "n",
        "cores": [1],
        "cards": [{"index": 1, "uuid": "SIM-1", "model": "A100-80G", "memory": 80 << 30, "simulated": True}],
    }
    engine.close()


@pytest.mark.parametrize("damage", ["{", '{"format": 1, "run": 1, "state": "BRILLIANT"}', '{"format": 1, "run": 1}'])
def test_a_result_that_cannot_be_read_is_a_lost_run_never_a_grade(folders: tuple[Path, Path], damage: str) -> None:
    engine = LocalEngine(folders[0], DirectStarter(*folders), one_node)
    handle = engine.submit(text("j-1", ["/bin/true"]), 1, None)
    end_of(engine, handle)
    (folders[0] / "j-1/runs/1/result.json").write_text(damage)
    status = engine.poll([handle])[handle]
    assert (status.state, status.result) == (JobState.NODE_FAIL, None)
    engine.close()


def test_a_run_claimed_by_a_supervisor_that_died_before_its_first_beat_is_lost(folders: tuple[Path, Path]) -> None:
    engine = LocalEngine(folders[0], DirectStarter(*folders), one_node)
    claimed = folders[0] / "j-1/runs/1"
    claimed.mkdir(parents=True)
    handle = Handle("j-1", 1)
    assert engine.poll([handle])[handle].state is JobState.RUNNING
    os.utime(claimed, (time.time() - 60, time.time() - 60))
    assert engine.poll([handle])[handle].state is JobState.NODE_FAIL
    engine.close()


def test_a_machine_without_room_for_a_process_is_unavailable(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "posix_spawn", full)
    with pytest.raises(Unavailable):
        ServingStarter(*folders).start("j-1", 1)


# the launcher's side of the talk


class Launcher:
    """Answers like a launcher, from a list."""

    def __init__(self, path: Path, answers: list[bytes]) -> None:
        self.asked: list[dict[str, Any]] = []
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(path))
        self._server.listen()
        self._answers = answers
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        for answer in self._answers:
            connection, _ = self._server.accept()
            with connection, connection.makefile("rb") as lines:
                self.asked.append(json.loads(lines.readline()))
                connection.sendall(answer)

    def close(self) -> None:
        self._thread.join(10)
        self._server.close()


@pytest.fixture
def launcher(folders: tuple[Path, Path]) -> Iterator[Callable[[list[bytes]], Launcher]]:
    made: list[Launcher] = []

    def make(answers: list[bytes]) -> Launcher:
        made.append(Launcher(folders[1] / "launcher.sock", answers))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_start_stop_and_clean_are_one_line_each(folders: tuple[Path, Path], launcher: Any) -> None:
    server = launcher([b'{"ok": true, "pid": 77}\n', b'{"ok": true}\n', b'{"ok": true}\n'])
    starter = LauncherStarter(folders[1] / "launcher.sock")
    assert starter.start("j-1", 2) == 77
    starter.stop("j-1", 2)
    starter.clean("j-1")
    assert server.asked == [
        {"do": "start", "job": "j-1", "run": 2},
        {"do": "kill", "job": "j-1", "run": 2},
        {"do": "clean", "job": "j-1"},
    ]


@pytest.mark.parametrize("answer", [b'{"ok": false, "error": "no uid is free"}\n', b"hm\n", b"", b"[]\n"])
def test_a_launcher_that_refuses_or_mumbles_is_unavailable(
    folders: tuple[Path, Path], launcher: Any, answer: bytes
) -> None:
    launcher([answer])
    with pytest.raises(Unavailable, match="launcher"):
        LauncherStarter(folders[1] / "launcher.sock").start("j-1", 1)


def test_without_a_launcher_nobody_listens_and_a_socket_left_behind_is_nobody(folders: tuple[Path, Path]) -> None:
    starter = LauncherStarter(folders[1] / "launcher.sock")
    assert not starter.listens()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(starter.path))
    assert not starter.listens()
    with pytest.raises(Unavailable):
        starter.start("j-1", 1)


def test_root_without_a_launcher_is_refused_unless_the_sandbox_is_off(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(SandboxRefused) as refused:
        make_engine(Settings(sandbox_backend="bubblewrap"), *folders)
    assert refused.value.hint is not None
    make_engine(Settings(sandbox_backend="none"), *folders).close()


def test_the_level_of_isolation_is_written_for_all_to_read(folders: tuple[Path, Path], launcher: Any) -> None:
    none = Settings(sandbox_backend="none", data_dir=str(folders[1].parent))
    assert tell_isolation(none, folders[1], folders[1] / "runtime")["level"] == "none"
    # First it is asked whether anybody listens, with a connection that says nothing.
    report = {"ok": True, "running": 0, "level": "degraded", "missing": [], "bwrap": "/usr/bin/bwrap"}
    path = folders[1] / "launcher.sock"
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen()

    def serve() -> None:
        server.accept()[0].close()
        connection, _ = server.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(json.dumps(report).encode() + b"\n")

    thread = threading.Thread(target=serve)
    thread.start()
    tell_isolation(none, folders[1], folders[1] / "runtime")
    thread.join()
    server.close()
    written = json.loads((folders[1] / "sandbox.json").read_text())
    assert written == {"level": "degraded", "missing": [], "bwrap": "/usr/bin/bwrap"}


# watching


@pytest.mark.parametrize("descriptors", [None, False])
def test_watching_tells_of_children_and_of_strangers(descriptors: bool | None) -> None:
    watcher = Watcher(descriptors)
    child = os.posix_spawn("/bin/sleep", ["sleep", "0.2"], {})
    shell = subprocess.Popen(["/bin/sh", "-c", "sleep 0.4 & echo $!; wait"], stdout=subprocess.PIPE)
    assert shell.stdout is not None
    watcher.watch(Handle("child", 1), child)
    watcher.watch(Handle("stranger", 1), int(shell.stdout.readline()))
    begin = time.monotonic()
    while watcher.watches(Handle("child", 1)) or watcher.watches(Handle("stranger", 1)):
        watcher.wait(10)
    assert time.monotonic() - begin < 9
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)
    shell.communicate()
    watcher.close()


def test_a_process_that_is_gone_already_wakes_the_one_who_waits() -> None:
    watcher = Watcher()
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    watcher.watch(Handle("gone", 1), gone.pid)
    begin = time.monotonic()
    watcher.wait(30)
    assert time.monotonic() - begin < 20
    assert not watcher.watches(Handle("gone", 1))
    watcher.close()


# inventory


def groups(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def test_cores_and_memory_are_what_may_really_be_used(tmp_path: Path) -> None:
    plain = inventory(Settings(), tmp_path)
    assert set(plain.cores) <= os.sched_getaffinity(0)
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert plain.memory == int(total * 0.8)
    v2 = groups(tmp_path / "v2", {"cpu.max": "150000 100000\n", "memory.max": f"{1 << 30}\n"})
    assert (len(inventory(Settings(), v2).cores), inventory(Settings(), v2).memory) == (1, int((1 << 30) * 0.8))
    v1 = groups(
        tmp_path / "v1",
        {
            "cpu/cpu.cfs_quota_us": "50000\n",
            "cpu/cpu.cfs_period_us": "100000\n",
            "memory/memory.limit_in_bytes": f"{1 << 29}\n",
        },
    )
    assert (len(inventory(Settings(), v1).cores), inventory(Settings(), v1).memory) == (1, int((1 << 29) * 0.8))
    unlimited = groups(tmp_path / "free", {"cpu.max": "max 100000\n", "memory.max": "max\n"})
    assert inventory(Settings(), unlimited) == plain


def test_settings_bound_what_is_handed_out(tmp_path: Path) -> None:
    node = inventory(Settings(local_cores=1, local_memory_mb=512), tmp_path)
    assert (len(node.cores), node.memory) == (1, 512 << 20)


def test_simulated_cards_have_the_memory_their_model_names(tmp_path: Path) -> None:
    node = inventory(Settings(local_simulated_cards=2, local_simulated_model="A100-40G"), tmp_path)
    assert [(c.index, c.model, c.memory, c.simulated) for c in node.cards] == [
        (0, "A100-40G", 40 << 30, True),
        (1, "A100-40G", 40 << 30, True),
    ]
    other = inventory(Settings(local_simulated_cards=1, local_simulated_model="T4"), tmp_path)
    assert other.cards[0].memory == 24 << 30


def test_without_the_library_of_the_driver_there_are_no_cards() -> None:
    assert nvml.cards("libqianka-none.so.9") == ()


class Nvml:
    """NVIDIA's library with one card that answers and one that does not."""

    def __init__(self, _: str) -> None:
        self.is_shut = False

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlShutdown(self) -> int:
        self.is_shut = True
        return 0

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = 2
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index: int, _: Any) -> int:
        return 15 if index == 1 else 0

    def nvmlDeviceGetMinorNumber(self, _: Any, minor: Any) -> int:
        minor._obj.value = 3  # the node is /dev/nvidia3
        return 0

    def nvmlDeviceGetUUID(self, _: Any, text: Any, size: int) -> int:
        text.value = b"GPU-1234"
        return 0

    def nvmlDeviceGetName(self, _: Any, text: Any, size: int) -> int:
        text.value = b"NVIDIA H200"
        return 0

    def nvmlDeviceGetMemoryInfo(self, _: Any, memory: Any) -> int:
        memory._obj.total = 150754820096
        return 0


def test_cards_are_read_from_the_library_and_a_dead_one_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Nvml] = []

    def load(name: str) -> Nvml:
        made.append(Nvml(name))
        return made[-1]

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert nvml.cards() == (Card(index=3, uuid="GPU-1234", model="NVIDIA H200", memory=150754820096),)
    assert made[0].is_shut


def test_importing_the_engine_starts_nothing() -> None:
    code = "import qianka.engines.local, threading; assert threading.active_count() == 1"
    subprocess.run([sys.executable, "-c", code], check=True)
