"""The command line of bubblewrap for one run; why each unusual part is there stands beside it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Version = tuple[int, int, int]

TEMPORARY, SHARED_MEMORY = "/tmp", "/dev/shm"  # noqa: S108 (the run's own, inside)
UID = 1000
"""what the run believes to be"""
ETC = ("passwd", "group", "hosts", "nsswitch.conf")
OLDEST = (0, 5, 0)
HAS_SIZE = (0, 7, 0)
HAS_DISABLE_USERNS = (0, 8, 0)


class Setup:
    """Everything a sandbox is made of; sources are paths that the run's uid can reach."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self.environment: Mapping[str, str] = {}
        self.out: str | None = None
        """source of /out; None: a tmpfs inside the sandbox, of `disk` bytes"""
        self.binds: list[tuple[str, str, bool]] = []
        """(source, target, writable), in the order in which they are mounted"""
        self.devices: list[str] = []
        self.tmp = 64 << 20
        self.shm = 64 << 20
        self.disk = 64 << 20
        self.cwd = "/out"
        self.network = "none"


def options(setup: Setup, *, seccomp: int, status: int, etc: Mapping[str, int], block: int | None = None) -> list[str]:
    """What goes to bwrap through --args. The numbers are open descriptors that bwrap inherits."""
    words = ["--unshare-user", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    if setup.version >= HAS_DISABLE_USERNS:
        words += ["--disable-userns", "--assert-userns-disabled"]
    if setup.network == "host":
        words += ["--share-net"]
    # A session of its own: no terminal whose input could be forged.
    words += ["--new-session", "--uid", str(UID), "--gid", str(UID), "--hostname", "sandbox", "--clearenv"]
    for key, value in setup.environment.items():
        words += ["--setenv", key, value]
    words += _system(setup, etc)
    words += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    for name in ("keys", "cmdline"):
        if os.path.exists(f"/proc/{name}"):
            words += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    words += ["--dev", "/dev", *_tmpfs(setup, setup.shm, SHARED_MEMORY), *setup.devices, "--remount-ro", "/dev"]
    words += _tmpfs(setup, setup.tmp, TEMPORARY)
    for source, target, writable in setup.binds:
        words += ["--bind" if writable else "--ro-bind", source, target]
    words += ["--bind", setup.out, "/out"] if setup.out else _tmpfs(setup, setup.disk, "/out")
    # The root itself is a tmpfs of half the memory.
    words += ["--remount-ro", "/", "--chdir", setup.cwd, "--seccomp", str(seccomp), "--json-status-fd", str(status)]
    if block is not None:
        words += ["--block-fd", str(block)]
    return words


def _tmpfs(setup: Setup, size: int, target: str) -> list[str]:
    bound = ["--size", str(size)] if setup.version >= HAS_SIZE else []
    return ["--perms", "1777", *bound, "--tmpfs", target]


def _system(setup: Setup, etc: Mapping[str, int]) -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = f"/{name}"
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    words += ["--dir", "/etc"]
    shared = ["/etc/ld.so.cache", "/etc/alternatives"]
    if setup.network == "host":
        shared += ["/etc/resolv.conf", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"]
    for path in shared:
        words += ["--ro-bind-try", path, path]
    for name, descriptor in etc.items():
        # Copied from a descriptor: the run's uid need not reach the folder this package lies in.
        words += ["--perms", "0444", "--file", str(descriptor), f"/etc/{name}"]
    return words


def pack(words: list[str]) -> bytes:
    """For --args: kept off the command line, which the run can read in /proc/1/cmdline."""
    for word in words:
        if "\0" in word:
            raise ValueError(f"a NUL in {word!r}")
    return "".join([word + "\0" for word in words]).encode("utf-8", "surrogateescape")


def parse_version(text: str) -> Version | None:
    """(0, 8, 0) from "bubblewrap 0.8.0"; None for anything else."""
    words = text.split()
    numbers = words[1].split(".") if len(words) == 2 and words[0] == "bubblewrap" else []
    if len(numbers) < 2 or not all(number.isdecimal() for number in numbers[:3]):
        return None
    padded = [int(number) for number in numbers[:3]] + [0]
    return padded[0], padded[1], padded[2]
