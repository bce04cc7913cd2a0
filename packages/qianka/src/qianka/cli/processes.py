"""The parts of a running platform as child processes: started in order, restarted when they end, stopped in reverse."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from qianka.errors import PlatformFault, SandboxRefused, Text

QUICK = 5.0
"""seconds; a part that ends sooner is started again more slowly each time"""
LONGEST_WAIT = 30.0
GRACE = 15.0
"""seconds a part has to end when it is asked to"""
HOPELESS = 3
PATIENCE = 60.0
"""seconds that a part may take to be ready"""


class Ended(NamedTuple):
    """A part ended by itself."""

    part: Part
    status: int


class Said(NamedTuple):
    """A part wrote a JSON line to its standard output."""

    part: Part
    facts: dict[str, Any]


class Again(NamedTuple):
    """The wait before a restart is over."""

    part: Part


class Stop(NamedTuple):
    """Somebody wants an end."""

    signal: int


@dataclass(eq=False)
class Part:
    """One process. Its standard input is ours: when we die it ends, and so does the part."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()
    popen: Mapping[str, Any] = field(default_factory=dict)
    ready: Callable[[], bool] | None = None
    """whether those that come after it may start"""
    after: Part | None = None
    """the part that must be ready first"""
    follows: Part | None = None
    """the part that must have said that it is ready before this one starts"""
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    was_ready: bool = False

    def start(self, events: queue.SimpleQueue[Any]) -> None:
        """Start, and have two threads report what it says and its end."""
        self.started = time.monotonic()
        process = subprocess.Popen(
            list(self.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(self.environment),
            pass_fds=self.pass_fds,
            start_new_session=True,  # Ctrl-C is for us alone: we stop the parts in order
            **self.popen,
        )
        self.process = process
        threading.Thread(target=self._listen, args=(process, events), daemon=True).start()

    def stop(self) -> None:
        """Ask for an end, wait, insist."""
        process = self.process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _listen(self, process: subprocess.Popen[bytes], events: queue.SimpleQueue[Any]) -> None:
        if process.stdout is not None:
            for line in process.stdout:
                try:
                    facts = json.loads(line)
                except ValueError:
                    sys.stderr.buffer.write(line)
                    continue
                if isinstance(facts, dict):
                    events.put(Said(self, facts))
        events.put(Ended(self, process.wait()))


class Parts:
    """Keeps all parts going until it is told to stop."""

    def __init__(self, parts: Sequence[Part], said: Callable[[Part, dict[str, Any]], None]) -> None:
        self.parts = list(parts)
        self.said = said
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.ending = False

    def stop(self, number: int = signal.SIGTERM, _: Any = None) -> None:
        """End; may be called from a signal handler or another thread."""
        self.events.put(Stop(number))

    def run(self) -> None:
        """Until told to stop. Raises PlatformFault when a part never comes up."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.stop)
        try:
            for part in self.parts:
                if part.after is not None:
                    self._await(part.after)
                if part.follows is None:
                    part.start(self.events)
            while True:
                event = self.events.get()
                if isinstance(event, Stop):
                    return
                if isinstance(event, Said):
                    event.part.was_ready = True
                    self.said(event.part, event.facts)
                    for part in self.parts:
                        if part.follows is event.part and part.process is None:
                            part.start(self.events)
                elif isinstance(event, Ended):
                    self._revive(event)
                elif isinstance(event, Again):
                    event.part.start(self.events)
        finally:
            for part in reversed(self.parts):
                part.stop()

    def _await(self, part: Part) -> None:
        """Wait until the part is ready. Raises SandboxRefused or PlatformFault when it ended instead."""
        until = time.monotonic() + PATIENCE
        while part.ready is not None and not part.ready():
            status = None if part.process is None else part.process.poll()
            if status == SandboxRefused.exit_code:
                raise _cannot_contain()
            if status is not None or time.monotonic() > until:
                raise _does_not_start(part, status)
            if any(isinstance(event, Stop) for event in self._peek()):
                return
            time.sleep(0.02)

    def _peek(self) -> list[Any]:
        """The events that wait; they keep waiting."""
        waiting = []
        while not self.events.empty():
            waiting.append(self.events.get())
        for event in waiting:
            self.events.put(event)
        return waiting

    def _revive(self, event: Ended) -> None:
        part = event.part
        quick = time.monotonic() - part.started < QUICK
        part.failures = part.failures + 1 if quick else 0
        if not part.was_ready and part.failures >= HOPELESS:
            raise _does_not_start(part, event.status)
        # At once the first time: whoever waits for an answer should not notice.
        wait = min(LONGEST_WAIT, 0.25 * 2.0**part.failures) if quick and part.failures > 1 else 0.0
        timer = threading.Timer(wait, self.events.put, (Again(part),))
        timer.daemon = True
        timer.start()


def _does_not_start(part: Part, status: int | None) -> PlatformFault:
    return PlatformFault(
        Text(f"{part.name} 启动不了（退出码 {status}）", f"{part.name} does not start ({status})"),
        Text("原因见上面的日志；qianka doctor 检查本机", "the log above says why; qianka doctor looks around"),
        reason="does_not_start",
    )


def _cannot_contain() -> SandboxRefused:
    return SandboxRefused(
        Text("这台机器隔离不了学生代码，没有启动", "this machine cannot contain student code; nothing was started"),
        Text(
            "运行 qianka doctor 看缺什么、怎么补；只跑自己的代码可加 --isolation none",
            "qianka doctor says what is missing and how to mend it; for your own code alone: --isolation none",
        ),
    )
