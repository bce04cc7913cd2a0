"""Podman or Docker: which one this machine has, and how it is called.

Podman needs no daemon and works in the caller's own mounts; Docker's daemon sees the machine's.
"""

from __future__ import annotations

import os

from qianka.sandbox import cgroup_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = ("podman", "docker")
PATH = ("/usr/bin", "/usr/local/bin", "/bin")
_VARIABLES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class EngineError(Exception):
    """There is no container engine that works; the message is its own reason."""


class Engine:
    """One engine; `runtime`: the OCI runtime to ask for, "" for its own choice; `socket`: of a Docker daemon."""

    def __init__(self, name: str, path: str, runtime: str = "", socket: str = "") -> None:
        self.name = name
        self.path = path
        self.runtime = runtime
        self.socket = socket

    def words(self, *words: str) -> list[str]:
        """A whole command line."""
        if self.name == "docker":
            return [self.path, *(["--host", f"unix://{self.socket}"] if self.socket else []), *words]
        # Events would go to a journal that nobody reads.
        return [
            self.path,
            "--log-level=error",
            "--events-backend=none",
            *(["--runtime", self.runtime] if self.runtime else []),
            *words,
        ]

    def ask(self, *words: str, patience: float = 60.0, given: bytes = b"") -> tuple[int, str, str]:
        """Run one command of it; returns (exit code, standard output, error output).

        Raises EngineError when it cannot be started or does not end in `patience` seconds.
        """
        import subprocess

        try:
            done = subprocess.run(
                self.words(*words),
                input=given,
                capture_output=True,
                timeout=patience,
                check=False,
                env=environment(),
                cwd="/",
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineError(f"{self.name}: {error}") from error
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def as_json(self) -> dict[str, Any]:
        """As it stands in the report of the self-test."""
        return {"name": self.name, "path": self.path, "runtime": self.runtime, "socket": self.socket}


def environment() -> dict[str, str]:
    """What an engine is started with: nothing of the service's own."""
    import pwd

    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        home = "/"
    found = {"PATH": _VARIABLES, "HOME": home, "LANG": "C.UTF-8"}
    runtime = f"/run/user/{os.geteuid()}"
    if os.geteuid() != 0 and os.path.isdir(runtime):
        found["XDG_RUNTIME_DIR"] = runtime
    return found


def find(name: str, socket: str = "") -> Engine:
    """The engine `name`, by its program's place alone. Raises EngineError."""
    for folder in PATH:
        path = f"{folder}/{name}"
        if os.access(path, os.X_OK):
            return Engine(name, path, _runtime() if name == "podman" else "", socket if name == "docker" else "")
    raise EngineError(f"{name} is not installed")


def known(report: dict[str, Any], name: str, socket: str = "") -> Engine:
    """What the self-test found, so that not every run looks for it anew; else as `find`."""
    told = report.get("engine")
    if isinstance(told, dict) and told.get("name") == name and os.access(str(told.get("path")), os.X_OK):
        return Engine(name, str(told["path"]), str(told.get("runtime") or ""), str(told.get("socket") or socket))
    return find(name, socket)


def order() -> tuple[str, ...]:
    """In which order to try: without root's rights Podman cannot bound anything on control groups of version 1."""
    return NAMES if os.geteuid() == 0 else NAMES[::-1]


def _runtime() -> str:
    # crun refuses control groups of version 1 beside a version 2 that has controllers; runc takes both.
    if cgroup_paths.find().version == 1:
        for folder in ("/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"):
            if os.access(f"{folder}/runc", os.X_OK):
                return f"{folder}/runc"
    return ""
