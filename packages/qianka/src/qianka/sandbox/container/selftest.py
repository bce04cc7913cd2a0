"""Saying whether a container engine contains code, by trying it: one container, about half a second.

Inside it a program tries what must not work and tells what did; two canaries try the bounds.
"""

from __future__ import annotations

import os
import socket
import uuid

from qianka.sandbox import advice, interpreter, runtime
from qianka.sandbox.container import command, image
from qianka.sandbox.container.engine import Engine, EngineError, find, order
from qianka.sandbox.container.reap import PREFIX, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MIB = 1 << 20
MEMORY, PROCESSES = 96 * MIB, 32
# CLONE_NEWUSER, AF_VSOCK; numbers of keyctl and io_uring_setup on x86_64 and aarch64
_INSIDE = (
    interpreter.QUESTION
    + """
import ctypes, errno, os, platform, socket, subprocess, time
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)
print('uid', os.getuid())
print('seccomp', status['Seccomp'].strip())
print('capabilities', status['CapEff'].strip(), status['CapBnd'].strip())
print('nonewprivs', status['NoNewPrivs'].strip())
got = []
try:
    socket.socket(40, socket.SOCK_STREAM); got.append('AF_VSOCK')
except OSError:
    pass
if libc.unshare(0x10000000) == 0: got.append('user namespaces')
numbers = {'x86_64': (250, 425), 'aarch64': (219, 425)}.get(platform.machine(), (None, None))
for name, number in zip(('keyctl', 'io_uring'), numbers):
    if number is not None and libc.syscall(number, 0, 0, 0, 0, 0) >= 0: got.append(name)
print('calls', ' '.join(got))
try:
    socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2); print('network open')
except OSError:
    print('network closed')
written = []
for place in ('/', '/usr', '/etc', '/work', '/run', '/var', '/proc/sys/kernel/core_pattern'):
    try:
        where = place if place.startswith('/proc') else place.rstrip('/') + '/canary'
        with open(where, 'w') as file: pass
        written.append(place)
    except OSError:
        pass
print('written', ' '.join(written))
made = 0
denied = 'no'
children = []
for _ in range(60):
    try:
        child = os.fork()
    except OSError:
        denied = 'yes'; break
    if child == 0:
        time.sleep(5); os._exit(0)
    children.append(child)
for child in children:
    os.kill(child, 9); os.waitpid(child, 0)
print('forks', denied, len(children))
sys.stdout.flush()
child = os.fork()
if child == 0:
    with open('/proc/self/oom_score_adj', 'w') as file: file.write('900')
    held = bytearray(b'x' * (300 << 20)); os._exit(0)
print('hog', os.waitpid(child, 0)[1])
"""
)


def probe(name: str, *, uid: int | None, python: str | None, stage: str | None, wanted: str | None, sock: str) -> Any:
    """(engine or None, what is missing) for the engine `name`, or for the better of both ("container").

    `uid`: whom runs will belong to; `python`: the student runtime or None; `wanted`: an operator's own image.
    """
    tried: list[tuple[Engine | None, list[dict[str, Any]]]] = []
    for one in order() if name == "container" else (name,):
        try:
            found = find(one, sock)
            image.ensure(found, wanted)
        except EngineError as error:
            code = "image" if "image" in str(error) or "import" in str(error) else "engine"
            tried.append((None, [advice.item(code, str(error))]))
            continue
        try:
            tried.append((found, _tried(found, uid, python, stage, wanted)))
        except (EngineError, command.Unmountable, OSError) as error:
            tried.append((found, [advice.item("engine", str(error))]))
        if advice.level(tried[-1][1]) == "full":
            break
    ranks = ("full", "degraded", "refuse")
    return min(tried, key=lambda found: ranks.index(advice.level(found[1])))


def _tried(
    engine: Engine, uid: int | None, venv: str | None, stage: str | None, wanted: str | None
) -> list[dict[str, Any]]:
    is_rootless = uid is None and engine.name == "podman"
    setup = command.Setup(f"{PREFIX}probe-{uuid.uuid4().hex[:8]}", "probe", "/dev/null")
    setup.image = wanted
    setup.user = (uid, uid) if uid is not None else (os.geteuid(), os.getegid())
    setup.keeps_user = is_rootless
    setup.memory, setup.processes = MEMORY, PROCESSES
    setup.is_limited = not is_rootless or os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    setup.tmp = setup.shm = 16 * MIB
    setup.out = ("tmpfs", 16 * MIB)
    # As runs use it: the interpreter of the runtime, or the machine's.
    python = "python3" if wanted else f"{venv}/bin/python" if venv else "/usr/bin/python3"
    setup.python = python
    if venv and not wanted:
        bases = runtime.interpreter_folders(venv)
        setup.binds = [(f"{stage}/base{n}" if stage else path, path, False) for n, path in enumerate(bases)]
        setup.binds.append((f"{stage}/runtime" if stage else venv, venv, False))
    words = command.run(engine, setup)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        words = [*words[: words.index("-c")], "-c", _INSIDE, port]
        skip = len(engine.words())
        try:
            code, told, why = engine.ask(*words[skip:], patience=120)
        finally:
            remove(engine, setup.name)
    facts = dict(line.partition(" ")[::2] for line in told.splitlines())
    if "hog" not in facts and "uid" not in facts:
        return [advice.item("engine", f"{engine.name} run: exit {code}: {why.strip()[-400:]}")]
    missing = _holes(facts, is_rootless=is_rootless)
    if not wanted:
        missing += _interpreter(told, python)
    missing += _bounds(facts)
    if uid is None:
        missing.append(advice.item("own_uid"))
    return missing


def _holes(facts: dict[str, str], *, is_rootless: bool) -> list[dict[str, Any]]:
    """What got through that must not."""
    missing = []
    if facts.get("seccomp") != "2" or facts.get("calls"):
        missing.append(advice.item("seccomp", f"Seccomp: {facts.get('seccomp')}; open: {facts.get('calls')}"))
    if facts.get("network") != "closed":
        missing.append(advice.item("network"))
    powers = []
    if facts.get("uid") == "0":
        powers.append("uid 0")
    if set(facts.get("capabilities", "?").replace(" ", "")) != {"0"}:
        powers.append(f"capabilities {facts.get('capabilities')}")
    if facts.get("nonewprivs") != "1":
        powers.append("new privileges are allowed")
    if facts.get("written") != "":
        powers.append(f"writable: {facts.get('written')}")
    if powers:
        missing.append(advice.item("privileges", "; ".join(powers)))
    return missing


def _interpreter(told: str, python: str) -> list[dict[str, Any]]:
    import subprocess

    try:
        differences = interpreter.prove(told, interpreter.answer(python))
    except (OSError, subprocess.SubprocessError) as error:
        differences = [str(error)]
    return [advice.item("interpreter", "; ".join(differences))] if differences else []


def _bounds(facts: dict[str, str]) -> list[dict[str, Any]]:
    why = []
    # Gone before it could say how the hog ended: it fell with it, so the bound holds.
    if facts.get("hog", "9") != "9":
        why.append(f"a container of {MEMORY // MIB} MiB did not stop an allocation of 300 MiB")
    if not facts.get("forks", "").startswith("yes"):
        why.append(f"a bound of {PROCESSES} processes did not stop 60 forks")
    return [advice.item("control_groups", "; ".join(why))] if why else []
