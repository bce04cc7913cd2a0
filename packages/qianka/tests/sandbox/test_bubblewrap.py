"""The command line of bubblewrap: what makes it hold, in the order in which it must stand."""

from __future__ import annotations

import pytest
from qianka.sandbox import bubblewrap, runtime
from qianka.sandbox.bubblewrap import Setup, options, pack, parse_version

ETC = {"passwd": 11, "group": 12}


def words(setup: Setup) -> list[str]:
    return options(setup, seccomp=9, status=10, etc=ETC)


def place(found: list[str], *part: str) -> int:
    """Where `part` stands in the command line."""
    size = len(part)
    places = [at for at in range(len(found)) if found[at : at + size] == list(part)]
    assert places, f"{part} is not there"
    return places[0]


def test_all_namespaces_no_capabilities_no_terminal_and_it_dies_with_its_supervisor() -> None:
    found = words(Setup((0, 8, 0)))
    for part in ("--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--disable-userns"):
        place(found, part)
    place(found, "--cap-drop", "ALL")
    place(found, "--seccomp", "9")
    assert "--share-net" not in found


def test_only_a_job_that_says_so_shares_the_network() -> None:
    setup = Setup((0, 8, 0))
    setup.network = "host"
    place(words(setup), "--share-net")


def test_kernel_settings_and_devices_are_closed_after_they_are_mounted() -> None:
    setup = Setup((0, 8, 0))
    setup.devices = ["--dev-bind", "/dev/nvidia0", "/dev/nvidia0"]
    found = words(setup)
    assert place(found, "--proc", "/proc") < place(found, "--ro-bind", "/proc/sys", "/proc/sys")
    assert (
        place(found, "--dev", "/dev")
        < place(found, "--dev-bind", "/dev/nvidia0")
        < place(found, "--remount-ro", "/dev")
    )
    assert found.index("--remount-ro") < len(found) - found[::-1].index("--remount-ro") - 1
    assert place(found, "--remount-ro", "/") > place(found, "--tmpfs", "/tmp")


def test_every_tmpfs_has_a_size() -> None:
    setup = Setup((0, 8, 0))
    setup.tmp, setup.shm, setup.disk = 1, 2, 3
    found = words(setup)
    for size, target in (("1", "/tmp"), ("2", "/dev/shm"), ("3", "/out")):
        place(found, "--size", size, "--tmpfs", target)


def test_an_old_bubblewrap_gets_only_what_it_knows() -> None:
    found = words(Setup((0, 6, 1)))
    assert "--size" not in found
    assert "--disable-userns" not in found


def test_sources_are_read_only_unless_said_otherwise() -> None:
    setup = Setup((0, 8, 0))
    setup.binds = [("/a", "/work", False), ("/b", "/scratch", True)]
    setup.out = "/volume"
    found = words(setup)
    place(found, "--ro-bind", "/a", "/work")
    place(found, "--bind", "/b", "/scratch")
    place(found, "--bind", "/volume", "/out")


def test_the_environment_is_ours_alone() -> None:
    setup = Setup((0, 8, 0))
    setup.environment = {"HOME": "/tmp"}
    found = words(setup)
    assert place(found, "--clearenv") < place(found, "--setenv", "HOME", "/tmp")


def test_options_are_packed_for_a_descriptor_and_a_nul_is_refused() -> None:
    assert pack(["--bind", "名\udcff", "/x"]) == b"--bind\0\xe5\x90\x8d\xff\0/x\0"
    with pytest.raises(ValueError, match="NUL"):
        pack(["a\0--bind"])


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("bubblewrap 0.8.0\n", (0, 8, 0)),
        ("bubblewrap 0.11", (0, 11, 0)),
        ("bubblewrap 0.9.1.2", (0, 9, 1)),
        ("bubblewrap", None),
        ("bwrap 1.0", None),
        ("bubblewrap x.y", None),
        ("", None),
    ],
)
def test_versions_are_read(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/var/lib/qianka/runtime", "/var/lib/qianka/runtime"),
        ("/work/data/runtime", runtime.MOVED),
        ("/data", runtime.MOVED),
        ("/database/runtime", "/database/runtime"),
    ],
)
def test_a_runtime_below_a_place_of_the_run_is_moved(path: str, seen: str) -> None:
    assert runtime.inside(path, ["/work", "/out", "/data"]) == seen


def test_groups_of_the_skeleton_know_the_uid_of_the_run() -> None:
    from pathlib import Path

    passwd = (Path(bubblewrap.__file__).parent / "etc/passwd").read_text()
    assert f":x:{bubblewrap.UID}:{bubblewrap.UID}:" in passwd
