"""An engine in memory that simulates programs on a clock: no process, no sandbox, no waiting.

What a job does is told by a `Program`, found by the job's name (`engine.programs["train"] = ...`), else
`engine.default`. States, limits and fences behave as the local engine's do: the conformance suite runs on both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from qianka.clock import Clock
from qianka.domain.jobs import JobState
from qianka.domain.resources import Card, Node, Placement
from qianka.engines.base import Handle, Status
from qianka.errors import Text, Unavailable


@dataclass(frozen=True, kw_only=True)
class Program:
    """What a simulated job does."""

    seconds: float = 1.0
    """how long it takes; math.inf: until it is ended"""
    exit_code: int = 0
    signal: int | None = None
    memory: int = 16 << 20
    """its peak, bytes; above the job's memory it is killed"""
    stdout: str = ""
    stderr: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """what it leaves in out/, when the engine has a jobs folder"""
    writes: Callable[[Mapping[str, Any]], Mapping[str, bytes]] | None = None
    """like `files`, made from the text of job.json"""
    result: Mapping[str, Any] = field(default_factory=dict)
    """overrides in result.json"""


@dataclass
class _Run:
    job: dict[str, Any]
    placement: Placement | None
    started: Any
    result: dict[str, Any] | None = None
    lost: bool = False
    cancelled: bool = False


@dataclass
class _State:
    runs: dict[Handle, _Run] = field(default_factory=dict)
    fence: dict[str, int] = field(default_factory=dict)
    submitted: list[Handle] = field(default_factory=list)


def one_node(cores: int = 2, memory: int = 8 << 30, cards: int = 0, name: str = "fake") -> Node:
    """A machine with simulated cards."""
    made = tuple(
        Card(index=i, uuid=f"SIM-{name}-{i}", model="A100-80G", memory=80 << 30, simulated=True) for i in range(cards)
    )
    return Node(name=name, cores=tuple(range(cores)), memory=memory, cards=made)


class FakeEngine:
    """Engine, Waits, Logs and Cleans in memory; public, for tests and the demo."""

    name = "fake"

    def __init__(
        self, clock: Clock, *, nodes: list[Node] | None = None, jobs: Path | None = None, queues: bool = False
    ) -> None:
        self.clock = clock
        self.queues = queues
        self.jobs = jobs
        self.default = Program()
        self.programs: dict[str, Program] = {}
        self.down = False
        """while true the engine does not answer"""
        self.deaf = False
        """while true a submit is taken and forgotten, as when the machine dies that moment"""
        self.waiting: dict[str, dict[str, Any]] = {}
        """by job, why it waits in the engine's own queue; it begins when that is taken away"""
        self._nodes = nodes if nodes is not None else [one_node()]
        self._state = _State()
        self.cleaned: list[str] = []
        self.woken = 0

    def restarted(self) -> FakeEngine:
        """The same engine as another process sees it after a restart."""
        twin = FakeEngine(self.clock, nodes=self._nodes, jobs=self.jobs, queues=self.queues)
        twin.default, twin.programs, twin._state = self.default, self.programs, self._state
        twin.waiting = self.waiting
        return twin

    @property
    def submitted(self) -> list[Handle]:
        """Every run that was really begun, in order."""
        return list(self._state.submitted)

    def submit(self, job: Mapping[str, Any], run: int, placement: Placement | None) -> Handle:
        self._answer()
        handle = Handle(str(job["job"]), run)
        if self.deaf or handle in self._state.runs:
            return handle
        self._state.fence[handle.job] = max(run, self._state.fence.get(handle.job, 0))
        self._state.runs[handle] = _Run(dict(job), placement, self.clock.now())
        self._state.submitted.append(handle)
        return handle

    def poll(self, handles: Iterable[Handle]) -> dict[Handle, Status]:
        self._answer()
        return {handle: self._status(handle) for handle in handles}

    def cancel(self, handle: Handle) -> None:
        self._answer()
        run = self._state.runs.get(handle)
        if run is None:
            run = self._state.runs[handle] = _Run({"job": handle.job}, None, self.clock.now())
        if run.result is None and not self._over(run):
            run.cancelled = True
            self._end(handle, run, JobState.CANCELLED, reason="cancelled")

    def nodes(self) -> list[Node]:
        self._answer()
        return list(self._nodes)

    def wait(self, timeout: float) -> None:
        """Jump to the next end of a run, at most `timeout` on."""
        ends = [self._ends_at(r) for r in self._state.runs.values() if r.result is None and not r.lost]
        now = self.clock.now()
        left = min([timeout, *((end - now).total_seconds() for end in ends if end is not None)])
        self.clock.sleep(max(0.0, left))

    def wake(self) -> None:
        self.woken += 1

    def log(self, handle: Handle, stream: str, offset: int) -> tuple[str, int]:
        run = self._state.runs.get(handle)
        program = self._program(run.job) if run else Program()
        data = (program.stdout if stream == "stdout" else program.stderr).encode()[offset:]
        return data.decode("utf-8", "replace"), offset + len(data)

    def clean(self, job: str) -> None:
        self.cleaned.append(job)
        for handle in [h for h in self._state.runs if h.job == job]:
            del self._state.runs[handle]

    def lose(self, handle: Handle) -> None:
        """Kill the supervisor of a run, as a power cut does: no result will ever come."""
        self._state.runs[handle].lost = True

    def finish(self, handle: Handle, state: JobState = JobState.COMPLETED, **result: Any) -> None:
        """End a run now, whatever its program says."""
        run = self._state.runs[handle]
        self._end(handle, run, state, **result)

    def _answer(self) -> None:
        if self.down:
            raise Unavailable(Text("引擎没有应答", "the engine does not answer"))

    def _program(self, job: Mapping[str, Any]) -> Program:
        return self.programs.get(str(job.get("name", "")), self.default)

    def _length(self, run: _Run) -> float:
        """How long a run takes: its program, or its wall limit where that is shorter."""
        limit = run.job.get("limits", {}).get("wall", math.inf)
        return float(min(self._program(run.job).seconds, limit))

    def _ends_at(self, run: _Run) -> Any:
        length = self._length(run)
        return None if math.isinf(length) else run.started + timedelta(seconds=length)

    def _over(self, run: _Run) -> bool:
        end = self._ends_at(run)
        return end is not None and bool(end <= self.clock.now())

    def _status(self, handle: Handle) -> Status:
        run = self._state.runs.get(handle)
        if run is None:
            return Status(state=JobState.PENDING)
        if handle.job in self.waiting and run.result is None:
            run.started = self.clock.now()
            return Status(state=JobState.PENDING, reason=dict(self.waiting[handle.job]))
        if run.result is None and not run.lost and self._over(run):
            self._end(handle, run, *self._outcome(run))
        if run.result is not None:
            return Status(state=JobState(run.result["state"]), result=run.result)
        if run.lost:
            return Status(state=JobState.NODE_FAIL, detail="the supervisor is gone")
        return Status(state=JobState.RUNNING, since=run.started)

    def _outcome(self, run: _Run) -> tuple[JobState, str | None]:
        program = self._program(run.job)
        if program.memory > run.job.get("resources", {}).get("memory", math.inf):
            return JobState.OUT_OF_MEMORY, "out_of_memory"
        if program.seconds > run.job.get("limits", {}).get("wall", math.inf):
            return JobState.TIMEOUT, "timeout_wall"
        done = program.exit_code == 0 and program.signal is None
        return (JobState.COMPLETED if done else JobState.FAILED), None

    def _end(self, handle: Handle, run: _Run, state: JobState, reason: str | None = None, **changes: Any) -> None:
        program, now = self._program(run.job), self.clock.now()
        end = self._ends_at(run)
        ended = now if end is None or state is JobState.CANCELLED else min(end, now)
        wall = (ended - run.started).total_seconds()
        resources = run.job.get("resources", {})
        if state in (JobState.COMPLETED, JobState.FAILED):
            self._write(handle, run, program)
        run.result = {
            "format": 1,
            "job": handle.job,
            "run": handle.run,
            "state": state.value,
            "exit_code": program.exit_code if state in (JobState.COMPLETED, JobState.FAILED) else None,
            "signal": program.signal,
            "reason": {"code": reason, "limit": None, "measured": None, "text": None} if reason else None,
            "started_at": run.started.isoformat(),
            "ended_at": ended.isoformat(),
            "wall": wall,
            "cpu": wall * resources.get("cpus", 1.0),
            "peak_memory": program.memory,
            "peak_card_memory": None,
            "gpu_seconds": wall * resources.get("gpus", 0),
            "cpu_seconds": wall * resources.get("cpus", 1.0),
            "node": run.placement.node if run.placement else self._nodes[0].name,
            "isolation": "full",
            "missing": [],
            "measured": {"wall": "simulated", "cpu": "simulated", "memory": "simulated"},
            "output": {"stdout": len(program.stdout.encode()), "stderr": len(program.stderr.encode())},
            "out": {"files": len(program.files), "bytes": 0, "refused": []},
            "cores": list(run.placement.cores) if run.placement else [],
            "threads": 1,
            "left_after": 0,
            "pids_denied": 0,
            "disturbed": 1.0,
            **program.result,
            **changes,
        }

    def _write(self, handle: Handle, run: _Run, program: Program) -> None:
        """Leave the program's files and logs where the real supervisor would."""
        if self.jobs is None:
            return
        files = {**program.files, **(program.writes(run.job) if program.writes else {})}
        for name, content in files.items():
            path = self.jobs / handle.job / "out" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        folder = self.jobs / handle.job / "runs" / str(handle.run)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stdout.log").write_text(program.stdout, "utf-8")
        (folder / "stderr.log").write_text(program.stderr, "utf-8")
