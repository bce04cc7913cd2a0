"""The command line of a container engine, the image made here, and what a self-test makes of an engine's answers."""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from qianka.sandbox import advice, cgroup, selftest
from qianka.sandbox.container import command, engine, group, image, reap
from qianka.sandbox.container import selftest as container_selftest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="containers are Linux's")
PODMAN = engine.Engine("podman", "/usr/bin/podman", "/usr/sbin/runc")
DOCKER = engine.Engine("docker", "/usr/bin/docker", socket="/run/other.sock")


def setup(**changes: Any) -> command.Setup:
    made = command.Setup("qianka-j-1-ab-1", "8-2", "/srv/jobs/j-1/runs/1/container.sock")
    made.user, made.memory, made.processes, made.cpus = (61_005, 61_005), 512 << 20, 64, 1.5
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def pairs(words: list[str]) -> set[tuple[str, str]]:
    return set(itertools.pairwise(words))


@pytest.mark.parametrize("one", [PODMAN, DOCKER])
def test_every_run_is_closed_bounded_and_nobody_special(one: engine.Engine) -> None:
    words = command.run(one, setup())
    assert "--read-only" in words
    assert {
        ("--network", "none"),
        ("--cap-drop", "ALL"),
        ("--security-opt", "no-new-privileges"),
        ("--pull", "never"),
        ("--log-driver", "none"),
        ("--user", "61005:61005"),
        ("--memory", str(512 << 20)),
        ("--memory-swap", str(512 << 20)),
        ("--pids-limit", "64"),
        ("--cpus", "1.5"),
        ("--ulimit", "core=0:0"),
    } <= pairs(words)
    (profile,) = [word for word in words if word.startswith("seccomp=")]
    assert profile.endswith(f"{os.uname().machine}.json")
    assert Path(profile.removeprefix("seccomp=")).is_file()
    (tmp,) = [word for word in words if word.startswith("/tmp:")]
    assert "mode=1777" in tmp.split(":")[1].split(",")
    assert f"size={64 << 20}" in tmp
    assert "type=bind,source=/usr,target=/usr,readonly" in words


def test_podman_is_told_which_runtime_and_docker_which_daemon() -> None:
    assert ("--runtime", "/usr/sbin/runc") in pairs(command.run(PODMAN, setup()))
    assert ("--host", "unix:///run/other.sock") in pairs(command.run(DOCKER, setup()))
    assert "--runtime" not in command.run(DOCKER, setup())


def test_an_image_of_the_operators_brings_its_own_system() -> None:
    words = command.run(PODMAN, setup(image="lab/torch:2", python="python3", cards=["GPU-1"]))
    assert "type=bind,source=/usr,target=/usr,readonly" not in words
    assert words[words.index("--entrypoint") + 2] == "lab/torch:2"
    assert ("--device", "nvidia.com/gpu=GPU-1") in pairs(words)
    # Podman takes --gpus and does nothing with it.
    assert "--gpus" not in words


def test_a_path_that_would_be_read_as_an_option_of_the_mount_is_refused() -> None:
    with pytest.raises(command.Unmountable, match="comma"):
        command.run(PODMAN, setup(binds=[("/srv/a,readonly=false", "/data", False)]))


def test_what_is_run_never_stands_on_a_command_line() -> None:
    # Everybody on the machine can read command lines; a job's environment goes over a socket.
    words = command.run(PODMAN, setup())
    assert not any(word in ("-e", "--env", "--env-file") for word in words)


def test_the_image_is_a_skeleton_and_named_by_its_content() -> None:
    held = image.skeleton()
    assert held == image.skeleton()
    with tarfile.open(fileobj=io.BytesIO(held)) as tar:
        names = {entry.name: entry for entry in tar}
        assert names["usr"].isdir()
        assert names["tmp"].mode == 0o1777
        assert b"student" in (tar.extractfile("etc/passwd") or io.BytesIO()).read()
        for name, target in image.links():
            assert names[name].linkname == target
    assert image.name().startswith("qianka-sandbox:")


def test_profiles_deny_what_the_filters_deny() -> None:
    for machine, without in itertools.product(("x86_64", "aarch64"), ("", "-nomemfd")):
        profile = json.loads((Path(command.FILTERS) / f"{machine}{without}.json").read_text("utf-8"))
        assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
        assert len(profile["architectures"]) == 1  # calls of another one are killed
        rules = {name: rule for rule in profile["syscalls"] for name in rule["names"]}
        assert {"keyctl", "unshare", "ptrace", "mount", "bpf", "io_uring_setup", "clone3", "socket"} <= set(rules)
        assert ("memfd_create" in rules) == bool(without)
        vsock = [r for r in profile["syscalls"] if r["names"] == ["socket"] and r["args"][0].get("valueTwo") == 40]
        assert len(vsock) == 1
        assert vsock[0]["errnoRet"] == 97


def test_a_containers_group_is_never_one_that_we_are_in(tmp_path: Path) -> None:
    """The group of a run is killed as a whole."""

    def machine(ours: str, theirs: str) -> group.Watched | None:
        root = tmp_path / f"{ours}-{theirs}".replace("/", "_")
        for name in ("self", "77"):
            (root / "proc" / name).mkdir(parents=True)
        for name, path in (("self", ours), ("77", theirs)):
            (root / f"proc/{name}/cgroup").write_text(f"2:pids:{path}\n1:memory:{path}\n")
        (root / "proc/self/mounts").write_text(
            "cgroup /cg/memory cgroup rw,memory 0 0\ncgroup /cg/pids cgroup rw,pids 0 0\n"
        )
        for name in ("memory", "pids"):
            (root / "cg" / name / theirs.strip("/")).mkdir(parents=True, exist_ok=True)
        return group.of(77, f"{root}/")

    assert machine("/", "/") is None
    assert machine("/service", "/service") is None
    assert machine("/service/leaf", "/service") is None
    assert machine("/x", "/../../y") is None
    found = machine("/service", "/libpod_parent/libpod-1")
    assert found is not None
    assert found.folders["memory"].endswith("/cg/memory/libpod_parent/libpod-1")


def test_figures_of_a_group_outlive_it() -> None:
    class Dying(cgroup.Group):
        def __init__(self, folder: str) -> None:
            super().__init__({"": folder})
            self.kills = 2

        def cpu_seconds(self) -> float | None:
            return 1.5

        def memory_peak(self) -> int | None:
            return 1000

        def file_cache(self) -> int:
            return 10

        def out_of_memory_kills(self) -> int:
            return self.kills

        def forks_denied(self) -> int:
            return 3

        def memory_own(self) -> int | None:
            return 900

    live = Dying("/")
    watched = group.Watched(live)
    watched.keep()
    live.folders.clear()
    watched.folders[""] = "/nonesuch"
    live.kills = 0
    assert (watched.cpu_seconds(), watched.memory_peak(), watched.out_of_memory_kills()) == (1.5, 1000, 2)
    assert watched.forks_denied() == 3
    assert watched.memory_own() is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("qianka-j-ab12-5f-3", ("j-ab12", 3)),
        ("qianka-j-a-b-5f-12", ("j-a-b", 12)),
        ("postgres-1", ("", 0)),
        ("qianka-probe-12ab", ("", 0)),
        ("qianka-../../etc-5f-1", ("", 0)),
    ],
)
def test_names_of_containers_tell_job_and_run(name: str, told: tuple[str, int]) -> None:
    assert reap.run_of(name) == told


GOOD = {
    "uid": "61000",
    "seccomp": "2",
    "calls": "",
    "network": "closed",
    "capabilities": "0000000000000000 0000000000000000",
    "nonewprivs": "1",
    "written": "",
    "forks": "yes 30",
    "hog": "9",
}


@pytest.mark.parametrize(
    ("changes", "code", "level"),
    [
        ({"calls": "AF_VSOCK keyctl"}, "seccomp", "refuse"),
        ({"seccomp": "0"}, "seccomp", "refuse"),
        ({"network": "open"}, "network", "refuse"),
        ({"uid": "0"}, "privileges", "refuse"),
        ({"capabilities": "0000000000000000 00000000a80425fb"}, "privileges", "refuse"),
        ({"nonewprivs": "0"}, "privileges", "refuse"),
        ({"written": "/etc"}, "privileges", "refuse"),
        ({"hog": "0"}, "control_groups", "degraded"),
        ({"forks": "no 60"}, "control_groups", "degraded"),
    ],
)
def test_what_gets_through_lowers_the_level(changes: dict[str, str], code: str, level: str) -> None:
    facts = {**GOOD, **changes}
    missing = container_selftest._holes(facts, is_rootless=False) + container_selftest._bounds(facts)
    assert [item["code"] for item in missing] == [code]
    assert advice.level(missing) == level


def test_everything_held_means_full() -> None:
    assert container_selftest._holes(GOOD, is_rootless=False) + container_selftest._bounds(GOOD) == []


def test_without_any_engine_the_refusal_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine, "PATH", ())
    report = selftest.probe("container", tmp_path)
    assert report["level"] == "refuse"
    assert "apt-get install podman" in advice.refusal(report["missing"], "en")


def test_auto_takes_a_container_only_where_bubblewrap_cannot_serve(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def probe_container(name: str, **_: Any) -> tuple[engine.Engine, list[Any]]:
        asked.append(name)
        return PODMAN, []

    monkeypatch.setattr(container_selftest, "probe", probe_container)
    monkeypatch.setattr(selftest, "_contained", lambda *_: [])
    monkeypatch.setattr(selftest, "_bounded", list)
    monkeypatch.setattr(selftest.find, "bubblewrap", lambda: ("/usr/bin/bwrap", (0, 8, 0)))
    assert selftest.probe("auto", tmp_path)["backend"] == "bubblewrap"
    assert asked == []
    monkeypatch.setattr(selftest.find, "bubblewrap", lambda: None)
    report = selftest.probe("auto", tmp_path)
    assert (report["backend"], report["engine"]["name"]) == ("podman", "podman")
    assert "bubblewrap" in [item["code"] for item in report["notes"]]
