"""Saying whether this machine contains code, by trying it: canaries, not assumptions. About a second.

Levels: full; degraded (runs go on, each result says what is missing); refuse (nothing is run);
none (backend "none" was chosen).
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import uuid

from qianka.sandbox import advice, bubblewrap, cgroup, cgroup_paths, find, interpreter, trial
from qianka.sandbox.bounds import PRLIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Version = tuple[int, int, int]

MIB = 1 << 20
_HOG = "import sys; sys.stdin.read(1); held = bytearray(b'x' * (200 << 20))"
_FORKS = """
import os, sys, time
sys.stdin.read(1)
for _ in range(60):
    if os.fork() == 0:
        time.sleep(1); os._exit(0)
"""
_INSIDE = (
    interpreter.QUESTION
    + """
import socket
print('seccomp', [line.split()[1] for line in open('/proc/self/status') if line.startswith('Seccomp:')][0])
try:
    socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2); print('network open')
except OSError:
    print('network closed')
"""
)


def probe(
    backend: str,
    data_dir: str | os.PathLike[str],
    *,
    uid: int | None = None,
    runtime: str | None = None,
    stage: str | None = None,
    bwrap: tuple[str, Version] | None = None,
    image: str | None = None,
    sock: str = "",
) -> dict[str, Any]:
    """Try everything; the result can be written as JSON.

    `backend`: bubblewrap, podman, docker, none, or auto: bubblewrap where it contains code, else a container.

    `uid`: whom runs will belong to (root only); `runtime`: the student runtime, whose interpreter is
    proven; `stage`: where a launcher has mounted it; `bwrap`: which one to use; `image`: an operator's own
    for containers; `sock`: of a Docker daemon. Returns {"level",
    "missing": [advice.item], "notes", "backend", "bwrap", "bwrap_version", "cgroup", "uid", "data"}.
    """
    report: dict[str, Any] = {"backend": backend, "bwrap": None, "bwrap_version": None, "cgroup": _layout()}
    report["uid"] = os.getuid()
    if backend == "auto":
        report = probe("bubblewrap", data_dir, uid=uid, runtime=runtime, stage=stage, bwrap=bwrap)
        if report["level"] != "refuse" or sys.platform != "linux":
            return report
        other = probe("container", data_dir, uid=uid, runtime=runtime, stage=stage, image=image, sock=sock)
        # Where neither serves, both ways out are told.
        if other["level"] == "refuse":
            return {**report, "missing": [*report["missing"], *other["missing"]]}
        return {**other, "notes": [*other["notes"], *(advice.noted(entry) for entry in report["missing"])]}
    report["data"] = os.fspath(data_dir)
    if backend == "none":
        return {**report, "level": "none", "missing": [advice.item("isolation")], "notes": []}
    missing: list[dict[str, Any]] = []
    root = os.geteuid() == 0
    if root and uid is None:
        uid = 61_000
    if sys.platform != "linux":
        missing.append(advice.item("linux"))
    elif backend != "bubblewrap":
        from qianka.sandbox.container.selftest import probe as probe_container

        engine, missing = probe_container(backend, uid=uid, python=runtime, stage=stage, wanted=image, sock=sock)
        report["engine"] = None if engine is None else engine.as_json()
        report["backend"] = backend if engine is None else engine.name
    else:
        found = bwrap or find.bubblewrap()
        if found is None:
            missing.append(advice.item("bubblewrap"))
        else:
            report["bwrap"], report["bwrap_version"] = found[0], ".".join(map(str, found[1]))
            missing += _contained(found, uid, runtime, stage)
        missing += _bounded()
        if not root:
            missing.append(advice.item("own_uid"))
    notes = _notes()
    return {**report, "level": advice.level(missing), "missing": missing, "notes": notes}


def _contained(found: tuple[str, Version], uid: int | None, runtime: str | None, stage: str | None) -> list[Any]:
    """What a sandbox lacks, seen from inside one."""
    path, version = found
    python = f"{runtime}/bin/python" if runtime else _system_python()
    listener = socket.create_server(("127.0.0.1", 0))
    with listener:
        port = str(listener.getsockname()[1])
        try:
            done = trial.run(found, [python, "-I", "-c", _INSIDE, port], uid=uid, runtime=runtime, stage=stage)
        except (OSError, subprocess.SubprocessError) as error:
            return [advice.item("namespaces", f"{path}: {error}")]
    if done.returncode != 0:
        return [advice.item("namespaces", done.stderr.strip())]
    missing = []
    facts = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    if facts.get("seccomp") != "2":
        missing.append(advice.item("seccomp", f"Seccomp: {facts.get('seccomp')}"))
    if facts.get("network") != "closed":
        missing.append(advice.item("network"))
    try:
        differences = interpreter.prove(done.stdout, interpreter.answer(python))
    except (OSError, subprocess.SubprocessError) as error:
        differences = [str(error)]
    if differences:
        missing.append(advice.item("interpreter", "; ".join(differences)))
    if version < bubblewrap.HAS_DISABLE_USERNS:
        missing.append(advice.item("old_bubblewrap", ".".join(map(str, version))))
    if version < bubblewrap.HAS_SIZE and stage is None:
        missing.append(advice.item("volume"))
    return missing


def _bounded() -> list[Any]:
    """Whether a full group loses its hog, and whether forks end at the bound."""
    try:
        group = cgroup.make(f"{cgroup.PREFIX}probe-{uuid.uuid4().hex[:8]}", memory=64 * MIB, processes=32, cpus=1.0)
    except cgroup.GroupError as error:
        missing = [advice.item("control_groups", str(error))]
        if not os.access(PRLIMIT, os.X_OK):
            missing.append(advice.item("process_limit"))
        return missing
    try:
        code = _inside_group(group, _HOG)
        if code != -9 or not group.out_of_memory_kills():
            return [advice.item("control_groups", "a group of 64 MiB did not stop an allocation of 200 MiB")]
        code = _inside_group(group, _FORKS)
        if code == 0 and not group.forks_denied():
            return [advice.item("control_groups", "a bound of 32 processes did not stop 60 forks")]
    except OSError as error:
        return [advice.item("control_groups", str(error))]
    finally:
        group.remove()
    return []


def _inside_group(group: cgroup.Group, program: str) -> int:
    """Run `program` in the group: it waits until it has been put there."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        for file in group.enter_files():
            with open(file, "w", encoding="ascii") as procs:
                procs.write(str(process.pid))
        process.communicate(b"+", timeout=30)
        code = process.returncode
    group.kill()
    return code


def _notes() -> list[Any]:
    notes = []
    if sys.platform == "linux":
        with open("/proc/sys/kernel/core_pattern", encoding="utf-8", errors="replace") as file:
            if file.read().startswith("|"):
                notes.append(advice.item("core_pattern"))
        layout = cgroup_paths.find()
        with open("/proc/swaps", encoding="utf-8", errors="replace") as file:
            swap = len(file.read().splitlines()) > 1
        counted = layout.version == 2 or os.path.exists(
            f"{layout.folders.get('memory', '')}/memory.memsw.limit_in_bytes"
        )
        if swap and not counted:
            notes.append(advice.item("swap"))
    return notes


def _layout() -> str:
    version = cgroup_paths.find().version if sys.platform == "linux" else 0
    return f"v{version}" if version else "none"


def _system_python() -> str:
    return "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else os.path.realpath(sys.executable)
