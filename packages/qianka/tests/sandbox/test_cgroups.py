"""Control groups on recorded trees of both versions, and for real where this user may make one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from qianka.sandbox import cgroup, cgroup_paths, cgroup_v2
from qianka.sandbox.cgroup_v2 import LEAF

V1_MOUNTS = """\
proc /proc proc rw 0 0
tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
"""
V1_OWN = "5:pids:/session\n4:memory:/host/group\n2:cpu,cpuacct:/\n0::/\n"
V2_MOUNTS = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n"
V2_PATH = "user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope"


def record(root: Path, mounts: str, own: str) -> None:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mounts").write_text(mounts)
    (root / "proc/self/cgroup").write_text(own)


def make_group_folder(folder: Path, **files: str) -> Path:
    """As the kernel would: a folder comes with its files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder


@pytest.fixture
def hybrid(tmp_path: Path) -> Path:
    record(tmp_path, V1_MOUNTS, V1_OWN)
    for folder in ("memory/host/group", "pids/session", "cpu,cpuacct", "unified"):
        make_group_folder(tmp_path / "sys/fs/cgroup" / folder)
    (tmp_path / "sys/fs/cgroup/unified/cgroup.controllers").write_text("hugetlb\n")
    return tmp_path


@pytest.fixture
def unified(tmp_path: Path) -> Path:
    record(tmp_path, V2_MOUNTS, f"0::/{V2_PATH}\n")
    make_group_folder(
        tmp_path / "sys/fs/cgroup" / V2_PATH,
        cgroup__controllers="cpu memory pids\n",
        cgroup__subtree_control="",
        cgroup__procs="",
    )
    return tmp_path


def test_version_one_is_found_under_our_own_paths(hybrid: Path) -> None:
    found = cgroup_paths.find(str(hybrid))
    top = f"{hybrid}/sys/fs/cgroup"
    assert found.version == 1
    assert found.folders == {
        "memory": f"{top}/memory/host/group",
        "pids": f"{top}/pids/session",
        "cpu": f"{top}/cpu,cpuacct",
        "cpuacct": f"{top}/cpu,cpuacct",
    }


def test_version_two_counts_only_with_the_memory_controller(unified: Path) -> None:
    found = cgroup_paths.find(str(unified))
    assert (found.version, found.folders) == (2, {"": f"{unified}/sys/fs/cgroup/{V2_PATH}"})
    (unified / "sys/fs/cgroup" / V2_PATH / "cgroup.controllers").write_text("cpu pids\n")
    assert cgroup_paths.find(str(unified)).version == 0


def test_a_path_of_the_host_that_a_container_does_not_show_falls_back_to_its_own_root(tmp_path: Path) -> None:
    record(tmp_path, V2_MOUNTS, "0::/docker/abc\n")
    make_group_folder(tmp_path / "sys/fs/cgroup", cgroup__controllers="memory pids cpu")
    assert cgroup_paths.find(str(tmp_path)).folders == {"": f"{tmp_path}/sys/fs/cgroup"}


def test_no_control_groups_is_told_with_a_reason(tmp_path: Path) -> None:
    record(tmp_path, "proc /proc proc rw 0 0\n", "0::/\n")
    with pytest.raises(cgroup.GroupError, match="no control group controllers"):
        cgroup.make("qianka-x", memory=1 << 20, processes=5, cpus=1, root=str(tmp_path))


def kernel_makes_files(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """mkdir of a group makes its files, as in the real file system."""
    real = os.mkdir

    def mkdir(path: str, mode: int = 0o777) -> None:
        real(path, mode)
        for name in names:
            Path(path, name).touch()

    monkeypatch.setattr(os, "mkdir", mkdir)


def test_bounds_of_version_one_are_written(hybrid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("cgroup.procs", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "pids.max", "cpu.cfs_quota_us")
    kernel_makes_files(monkeypatch, *files, "cpuacct.usage", "memory.max_usage_in_bytes", "memory.oom_control")
    group = cgroup.make("qianka-j-1", memory=64 << 20, processes=32, cpus=0.5, root=str(hybrid))
    top = hybrid / "sys/fs/cgroup"
    assert (top / "memory/host/group/qianka-j-1/memory.limit_in_bytes").read_text() == str(64 << 20)
    assert (top / "memory/host/group/qianka-j-1/memory.memsw.limit_in_bytes").read_text() == str(64 << 20)
    assert (top / "pids/session/qianka-j-1/pids.max").read_text() == "32"
    assert (top / "cpu,cpuacct/qianka-j-1/cpu.cfs_quota_us").read_text() == "50000"
    assert len(group.enter_files()) == 3  # cpu and cpuacct share one hierarchy
    (top / "cpu,cpuacct/qianka-j-1/cpuacct.usage").write_text("2500000000\n")
    (top / "memory/host/group/qianka-j-1/memory.oom_control").write_text(
        "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"
    )
    assert group.cpu_seconds() == 2.5
    assert group.out_of_memory_kills() == 2
    assert "cpuacct" in group.measured["cpu"]


def test_bounds_of_version_two_are_written_beside_our_leaf(unified: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max", "cgroup.procs", "cgroup.kill")
    kernel_makes_files(monkeypatch, *names, "memory.peak", "cpu.stat", "memory.events", "pids.events")
    group = cgroup.make("qianka-j-1", memory=64 << 20, processes=32, cpus=1.5, root=str(unified))
    base = unified / "sys/fs/cgroup" / V2_PATH
    assert (base / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    assert (base / LEAF).is_dir()
    run = base / "qianka-j-1"
    assert (run / "memory.max").read_text() == str(64 << 20)
    assert (run / "memory.swap.max").read_text() == "0"
    assert (run / "memory.oom.group").read_text() == "1"
    assert (run / "cpu.max").read_text() == "150000 100000"
    (run / "cpu.stat").write_text("usage_usec 1250000\nuser_usec 1000000\n")
    (run / "memory.peak").write_text("1048576\n")
    (run / "memory.events").write_text("low 0\nhigh 0\nmax 4\noom 1\noom_kill 1\n")
    (run / "pids.events").write_text("max 3\n")
    assert (group.cpu_seconds(), group.memory_peak()) == (1.25, 1048576)
    assert (group.out_of_memory_kills(), group.forks_denied()) == (1, 3)
    group.kill()
    assert (run / "cgroup.kill").read_text() == "1"


def test_processes_are_moved_into_the_leaf_when_the_group_is_busy(
    unified: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = unified / "sys/fs/cgroup" / V2_PATH
    (base / "cgroup.procs").write_text("101\n102\n")
    kernel_makes_files(monkeypatch, "cgroup.procs")
    moved: list[str] = []
    real = cgroup_v2.small.write

    def write(path: str, value: int | str) -> None:
        if path.endswith("subtree_control") and not moved:
            raise OSError(16, "Device or resource busy", path)
        if path.endswith(f"{LEAF}/cgroup.procs"):
            moved.append(str(value))
            return
        real(path, value)

    monkeypatch.setattr(cgroup_v2.small, "write", write)
    assert cgroup_v2.prepare(str(base)) == str(base)
    assert moved == ["101", "102"]


def test_a_supervisor_in_the_leaf_makes_groups_beside_it(unified: Path) -> None:
    base = unified / "sys/fs/cgroup" / V2_PATH
    assert cgroup_v2.base_of(f"{base}/{LEAF}") == str(base)
    assert cgroup_v2.base_of(str(base)) == str(base)


def test_a_group_that_is_not_ours_is_told_with_the_systems_reason(
    unified: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: str, mode: int = 0o777) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "mkdir", denied)
    with pytest.raises(cgroup.GroupError, match="Permission denied"):
        cgroup.make("qianka-x", memory=1 << 20, processes=5, cpus=1, root=str(unified))


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: makes a control group")
def test_a_real_group_bounds_kills_and_goes() -> None:
    import subprocess
    import sys

    group = cgroup.make(f"qianka-test-{os.getpid()}", memory=64 << 20, processes=20, cpus=1)
    program = "import sys; sys.stdin.read(1)\nheld = bytearray(b'x' * (200 << 20))"
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", program], stdin=subprocess.PIPE) as process:
        for file in group.enter_files():
            Path(file).write_text(str(process.pid))
        assert group.members() == [process.pid]
        process.communicate(b"+", timeout=20)
    assert process.returncode == -9
    assert group.out_of_memory_kills() == 1
    with subprocess.Popen(["/bin/sleep", "60"]) as sleeper:
        for file in group.enter_files():
            Path(file).write_text(str(sleeper.pid))
        assert group.remove() == 1
        assert sleeper.wait(10) == -9
    assert not any(os.path.isdir(folder) for folder in group.folders.values())


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: makes a control group")
def test_an_empty_group_that_a_killed_supervisor_left_is_swept() -> None:
    old = cgroup.make(f"qianka-test-left-{os.getpid()}", memory=64 << 20, processes=20, cpus=1)
    fresh = cgroup.make(f"qianka-test-fresh-{os.getpid()}", memory=64 << 20, processes=20, cpus=1)
    for folder in old.folders.values():
        os.utime(folder, (0, 0))
    assert cgroup.sweep() >= 1
    assert not any(os.path.isdir(folder) for folder in old.folders.values())
    # Another platform's run may be about to enter it.
    assert all(os.path.isdir(folder) for folder in fresh.folders.values())
    fresh.remove()
