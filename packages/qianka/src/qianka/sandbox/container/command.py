"""The command line of Podman or Docker for one run; why each unusual part is there stands beside it."""

from __future__ import annotations

import os

from qianka.sandbox import bounds
from qianka.sandbox.bubblewrap import SHARED_MEMORY, TEMPORARY
from qianka.sandbox.container import image, inner
from qianka.sandbox.container.engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FILTERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "filters")
LABEL = "qianka.jobs"
_PROCESSES = 32_768
"""bound of the user, far above that of the run: control groups count the run's own"""


class Unmountable(Exception):
    """A path that cannot be written on an engine's command line; the message names it."""


class Setup:
    """Everything a container is made of."""

    def __init__(self, name: str, label: str, line: str) -> None:
        self.name = name
        self.label = label
        """of the platform, for finding what an earlier supervisor left"""
        self.line = line
        """path of the socket on which the container's first process reports"""
        self.image: str | None = None
        """an operator's own; None: ours, with /usr of the machine"""
        self.user = (65_534, 65_534)
        self.keeps_user = False
        """rootless: the user inside is the one outside"""
        self.memory = 0
        self.processes = 0
        self.cpus = 1.0
        self.binds: list[tuple[str, str, bool]] = []
        self.out: tuple[str, int] | None = None
        """("tmpfs", bytes); None: one of the binds"""
        self.tmp = 64 << 20
        self.shm = 64 << 20
        self.inodes = 0
        self.network = "none"
        self.devices: list[str] = []
        self.cards: list[str] = []
        """identities of cards, for an operator's own image, which lacks the driver's libraries"""
        self.hide_memory = False
        self.is_limited = True
        """whether the engine can bound memory and processes; rootless on version 1 it cannot"""
        self.python = "/usr/bin/python3"


def run(engine: Engine, setup: Setup) -> list[str]:
    """The whole command line; the command itself goes over the line, never here, where every user could read it."""
    words = ["run", "--name", setup.name, "--label", f"{LABEL}={setup.label}"]
    # Nothing is fetched, nothing is logged outside: output goes through our pipes alone.
    words += ["--pull", "never", "--log-driver", "none"]
    words += ["--network", "host" if setup.network == "host" else "none", "--hostname", "sandbox"]
    words += _rights(engine, setup) + _limits(setup)
    words += [*_temporary(engine, setup), *_mounts(setup)]
    for path in setup.devices:
        words += ["--device", path]
    for card in setup.cards:
        words += ["--device", f"nvidia.com/gpu={card}"] if engine.name == "podman" else ["--gpus", f"device={card}"]
    # Not the image's own: its command is none of ours.
    words += ["--workdir", "/", "--entrypoint", setup.python, setup.image or image.name()]
    return engine.words(*words, "-I", "-S", "-c", inner.PROGRAM, inner.LINE)


def _rights(engine: Engine, setup: Setup) -> list[str]:
    machine = os.uname().machine
    profile = f"{FILTERS}/{machine}{'-nomemfd' if setup.hide_memory else ''}.json"
    words = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    # The engines' own lists leave sockets to the machine's host open, and one of them user namespaces and keys.
    words += ["--security-opt", f"seccomp={profile}"]
    # Labels of SELinux would forbid the machine's /usr; what is shown is bound anyway.
    words += ["--security-opt", "label=disable"]
    words += ["--user", f"{setup.user[0]}:{setup.user[1]}"]
    if engine.name == "podman":
        # Without these, /run and /var/tmp would be writable, and names of the machine's hosts file be seen.
        words += ["--read-only-tmpfs=false", "--no-hosts"]
        if setup.keeps_user:
            words += ["--userns", "keep-id"]
    return words


def _limits(setup: Setup) -> list[str]:
    # Explicit: the engines' own values need rights that root in a container lacks.
    files, processes = _within("NOFILE", bounds.FILES), _within("NPROC", _PROCESSES)
    words = [
        "--ulimit",
        "core=0:0",
        "--ulimit",
        f"nofile={files}:{files}",
        "--ulimit",
        f"nproc={processes}:{processes}",
    ]
    if setup.is_limited:
        # Memory with swap equal to memory: none of it goes to disk.
        words += ["--memory", str(setup.memory), "--memory-swap", str(setup.memory)]
        words += ["--pids-limit", str(setup.processes), "--cpus", f"{max(0.01, setup.cpus):g}"]
    return words


def _within(name: str, value: int) -> int:
    import resource

    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _temporary(engine: Engine, setup: Setup) -> list[str]:
    # Mode 1777: the run has a user of its own. A bound on files is Docker's alone; elsewhere it is looked at.
    common = "rw,nosuid,nodev,exec,mode=1777"
    words = ["--shm-size", str(setup.shm), "--tmpfs", f"{TEMPORARY}:{common},size={setup.tmp}"]
    if setup.out is not None:
        bound = f",nr_inodes={setup.inodes + 1}" if engine.name == "docker" and setup.inodes else ""
        words += ["--tmpfs", f"/out:{common},size={setup.out[1]}{bound}"]
    assert SHARED_MEMORY == "/dev/shm"  # noqa: S101, S108 (where --shm-size puts it)
    return words


def _mounts(setup: Setup) -> list[str]:
    binds = [(setup.line, inner.LINE, False)]
    if setup.image is None:
        binds = [("/usr", "/usr", False), *((path, path, False) for path in image.folders()), *binds]
        shared = ["/etc/ld.so.cache", "/etc/alternatives"]
        if setup.network == "host":
            shared += ["/etc/ssl", "/etc/ca-certificates", "/etc/pki"]
        binds += [(path, path, False) for path in shared if os.path.exists(path)]
    words = []
    for source, target, writable in [*binds, *setup.binds]:
        words += ["--mount", mount(source, target, writable=writable)]
    return words


def mount(source: str, target: str, *, writable: bool) -> str:
    """One bind mount. Raises Unmountable for a path that would be read as something else."""
    for path in (source, target):
        if any(character in path for character in ',"\n\r'):
            raise Unmountable(f"{path!r}: a comma, quote or line end cannot be given to a container engine")
    return f"type=bind,source={source},target={target}" + ("" if writable else ",readonly")


def containers(engine: Engine, label: str) -> Iterable[str]:
    """Names of all containers of one platform, ended ones too. Raises EngineError."""
    code, found, _ = engine.ask("ps", "--all", "--filter", f"label={LABEL}={label}", "--format", "{{.Names}}")
    return found.split() if code == 0 else []
