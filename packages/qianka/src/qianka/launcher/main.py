"""The launcher's process: listens on DATA/run/launcher.sock and answers one JSON line with one.

Started by root, before the service gives up root's rights:

    python -I -S …/launcher/__main__.py DATA_DIR --service-uid N [--service-gid N]
        [--uid-base N] [--uid-count N] [--allow PATH]… [--runtime PATH] [--slurm CONF] [--slurm-group NAME]
        [--backend NAME] [--image NAME]
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import sys
import time

from qianka.jobdir.beat import alive, read_beat
from qianka.jobdir.codec import FormatError, dumps, loads
from qianka.launcher import forked, system
from qianka.launcher.launcher import Launcher
from qianka.launcher.person import Slurm
from qianka.launcher.register import Register
from qianka.launcher.sources import NotAllowed, Sources
from qianka.launcher.stage import Stage, mount_point
from qianka.launcher.uids import UidPool
from qianka.sandbox import advice, bubblewrap, cgroup, find, selftest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST = 4096
"""bytes of a request"""
_CLIENTS = 64
_PATIENCE = 5.0
"""seconds that a client may take over its line"""


class UsageError(Exception):
    """The command line makes no sense."""


def main(words: list[str]) -> int:
    """Serve until SIGTERM; returns the exit status (2: usage, 4: cannot contain code, 77: not root)."""
    try:
        options = parse(words)
    except (UsageError, ValueError) as error:
        log(f"usage: {error}")
        return 2
    if os.geteuid() != 0:
        log("only root can launch runs under other uids; without root the service starts them itself")
        return 77
    os.setgroups([])
    sources = Sources(options["data"], options["allow"])
    level = tried(options, sources)
    if level["level"] == "refuse":
        log("this machine cannot contain code: " + ", ".join(item["code"] for item in level["missing"]))
        return 4
    cgroup.sweep()
    _reap(options, level)
    launcher = Launcher(
        options["data"],
        (options["service_uid"], options["service_gid"]),
        UidPool(options["uid_base"], options["uid_count"]),
        sources,
        mount_point(),
        level,
        Register(),
    )
    if options["slurm"] is not None:
        pool = range(options["uid_base"], options["uid_base"] + options["uid_count"])
        launcher.slurm = Slurm(options["slurm"], sources, launcher.service, pool, options["slurm_group"])
    forked.prepare()
    adopted = launcher.adopt()
    listening = listen(os.path.join(options["data"], "run", "launcher.sock"), launcher.service)
    log(f"ready, level {level['level']}, {adopted} runs adopted")
    Loop(launcher, listening).run()
    return 0


def tried(options: dict[str, Any], sources: Sources) -> dict[str, Any]:
    """The self-test, in a fork that sees the runtime as runs will see it: on a stage of its own."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            system.own_mounts()
            stage = mount_point()
            job = {"work": None, "runtime": options["runtime"], "mounts": [], "limits": {"disk": 0, "inodes": 0}}
            found = find.bubblewrap() if options["backend"] in ("auto", "bubblewrap") else None
            found = found or ("/usr/bin/bwrap", (0, 0, 0))
            staged = Stage(stage, sources).build(job, None, (options["uid_base"],), found[0])
            report = selftest.probe(
                options["backend"],
                options["data"],
                uid=options["uid_base"],
                runtime=options["runtime"],
                stage=stage,
                bwrap=(staged, found[1]) if found[1] >= bubblewrap.OLDEST else None,
                image=options["image"],
            )
            # Outside this fork it lies where it was found.
            report["bwrap"] = found[0] if report["backend"] == "bubblewrap" else None
            os.write(writer, dumps(report).encode())
        except (OSError, NotAllowed, ValueError) as error:
            log(f"the self-test failed: {error}")
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(pid, 0)
    nothing = {"level": "refuse", "missing": [advice.item("namespaces", "the self-test failed")], "bwrap": None}
    report = loads(text) if text else nothing
    return dict(report)


def parse(words: list[str]) -> dict[str, Any]:
    """The command line. Raises UsageError, ValueError."""
    options: dict[str, Any] = {"uid_base": 61_000, "uid_count": 1000, "allow": [], "runtime": None, "slurm": None}
    options |= {"backend": "bubblewrap", "image": None, "slurm_group": ""}
    numbers = {"--service-uid": "service_uid", "--service-gid": "service_gid"}
    numbers |= {"--uid-base": "uid_base", "--uid-count": "uid_count"}
    rest = list(words)
    plain = []
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            plain.append(word)
        elif not rest:
            raise UsageError(f"{word} wants a value")
        elif word in numbers:
            options[numbers[word]] = int(rest.pop(0))
        elif word in ("--backend", "--image"):
            options[word[2:]] = rest.pop(0)
        elif word == "--allow":
            options["allow"].append(os.path.abspath(rest.pop(0)))
        elif word in ("--slurm", "--slurm-group"):
            options[word[2:].replace("-", "_")] = rest.pop(0)
        elif word == "--runtime":
            options["runtime"] = os.path.abspath(rest.pop(0))
        else:
            raise UsageError(f"{word} is not known")
    if len(plain) != 1 or "service_uid" not in options:
        raise UsageError("launcher DATA_DIR --service-uid N")
    if options["backend"] not in ("auto", "bubblewrap", "podman"):
        # Docker's daemon does not see the mounts that keep the data directory closed.
        raise UsageError(f"a launcher contains runs by bubblewrap or Podman, not by {options['backend']}")
    options.setdefault("service_gid", options["service_uid"])
    options["data"] = os.path.abspath(plain[0])
    return options


def _reap(options: dict[str, Any], level: dict[str, Any]) -> None:
    """Containers that a killed supervisor left are removed."""
    jobs = os.path.join(options["data"], "jobs")
    if level.get("engine") and os.path.isdir(jobs):
        from qianka.sandbox.container import engine, reap

        found = engine.known(level, level["backend"])
        reap.reap(found, jobs, lambda directory, run: alive(read_beat(directory, run)))


def listen(path: str, owner: tuple[int, int]) -> socket.socket:
    """The socket, made with its owner's rights: the folder is theirs, and they could have put a link there."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    os.setegid(owner[1])
    os.seteuid(owner[0])
    mask = os.umask(0o177)
    try:
        if os.path.lexists(path):
            os.unlink(path)
        sock.bind(path)
    finally:
        os.umask(mask)
        os.seteuid(0)
        os.setegid(0)
    sock.listen(64)
    return sock


def log(text: str) -> None:
    """One line to whoever started the launcher."""
    os.write(2, f"launcher: {text}\n".encode("utf-8", "backslashreplace"))


class Loop:
    """Clients, and supervisors that end."""

    def __init__(self, launcher: Launcher, listening: socket.socket) -> None:
        self.launcher = launcher
        self.listening = listening
        self.clients: dict[int, tuple[socket.socket, bytes, float]] = {}
        self.stopped = False
        self._poller = select.poll()
        self._wake, writer = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._poller.register(self.listening.fileno(), select.POLLIN)
        self._poller.register(self._wake, select.POLLIN)

    def run(self) -> None:
        """Until asked to stop; the runs go on without us."""
        while not self.stopped:
            for descriptor, _ in self._poller.poll(1000 if self.clients else None):
                if descriptor == self._wake:
                    os.read(self._wake, 4096)
                    self._reap()
                elif descriptor == self.listening.fileno():
                    self._accept()
                else:
                    self._read(descriptor)
            now = time.monotonic()
            slow = [d for d, (_, begun, since) in self.clients.items() if begun and now - since > _PATIENCE]
            for descriptor in slow:
                self._drop(descriptor)

    def _stop(self) -> None:
        self.stopped = True

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.launcher.ended(pid)

    def _accept(self) -> None:
        try:
            client, _ = self.listening.accept()
        except OSError as error:
            log(f"cannot take a client: {error}")
            return
        client.setblocking(False)
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        uid = struct.unpack("3i", credentials)[1]
        if uid not in (0, self.launcher.service[0]) or len(self.clients) >= _CLIENTS:
            log(f"uid {uid} is turned away")
            client.close()
            return
        self.clients[client.fileno()] = (client, b"", time.monotonic())
        self._poller.register(client.fileno(), select.POLLIN)

    def _read(self, descriptor: int) -> None:
        client, before, since = self.clients[descriptor]
        try:
            data = client.recv(_LONGEST)
        except OSError:
            data = b""
        line = before + data
        if not data or len(line) > _LONGEST:
            self._drop(descriptor)
            return
        *lines, rest = line.split(b"\n")
        self.clients[descriptor] = (client, rest, since if before and not lines else time.monotonic())
        for request in lines:
            try:
                client.sendall((dumps(self._answer(request)) + "\n").encode())
            except OSError:
                self._drop(descriptor)
                return

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            request = loads(line.decode())
        except (FormatError, UnicodeDecodeError) as error:
            return {"ok": False, "error": f"not a request: {error}"}
        if not isinstance(request, dict):
            return {"ok": False, "error": "a request is an object"}
        answer = self.launcher.answer(request)
        if not answer["ok"]:
            log(f"{request.get('do')} {request.get('job')}: {answer['error']}")
        return answer

    def _drop(self, descriptor: int) -> None:
        client, _, _ = self.clients.pop(descriptor)
        self._poller.unregister(descriptor)
        client.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
