"""Running one small program in the sandbox, for the self-test: no supervisor, no control group."""

from __future__ import annotations

import contextlib
import os
import subprocess

from qianka.sandbox import bubblewrap
from qianka.sandbox.runtime import interpreter_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    Version = tuple[int, int, int]

_HERE = os.path.dirname(os.path.abspath(__file__))


def run(
    found: tuple[str, Version],
    argv: list[str],
    *,
    uid: int | None,
    runtime: str | None = None,
    stage: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `argv` as `uid` (None: as ourselves). Raises OSError, subprocess.SubprocessError."""
    path, version = found
    setup = bubblewrap.Setup(version)
    setup.environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    setup.binds = _binds(runtime, argv[0], stage)
    with contextlib.ExitStack() as stack:

        def opened(name: str) -> int:
            descriptor = os.open(f"{_HERE}/{name}", os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, descriptor)
            return descriptor

        seccomp = opened(f"filters/{os.uname().machine}.bpf")
        etc = {name: opened(f"etc/{name}") for name in bubblewrap.ETC}
        status = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        stack.callback(os.close, status)
        given = os.memfd_create("options", os.MFD_CLOEXEC)
        stack.callback(os.close, given)
        os.write(given, bubblewrap.pack(bubblewrap.options(setup, seccomp=seccomp, status=status, etc=etc)))
        os.lseek(given, 0, os.SEEK_SET)
        return subprocess.run(
            [path, "--args", str(given), "--", *argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
            env={"PATH": "/usr/bin:/bin"},
            pass_fds=(seccomp, status, given, *etc.values()),
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
        )


def _binds(venv: str | None, program: str, stage: str | None) -> list[tuple[str, str, bool]]:
    if venv is None:
        prefix = os.path.dirname(os.path.dirname(program))
        return [] if program.startswith("/usr/") else [(prefix, prefix, False)]
    folders = interpreter_folders(venv)
    binds = [(f"{stage}/base{n}" if stage else folder, folder, False) for n, folder in enumerate(folders)]
    binds.append((f"{stage}/runtime" if stage else venv, venv, False))
    return binds
