"""The supervisor: runs exactly one run of one job and leaves its result in the job directory."""

from __future__ import annotations

import os
import sys
import time

from qianka.jobdir import beat, records, spec
from qianka.jobdir.codec import FormatError
from qianka.jobdir.files import read_json
from qianka.jobdir.layout import PEER_STREAMS, STREAMS
from qianka.jobdir.out import remove
from qianka.jobdir.stream import Stream
from qianka.sandbox import bounds
from qianka.sandbox.devices import NoSuchCard, real_cards
from qianka.supervisor import child as children
from qianka.supervisor import plan as plans
from qianka.supervisor.meter import Meter
from qianka.supervisor.options import Options, UsageError
from qianka.supervisor.result import Outcome, result_of
from qianka.supervisor.rights import Rights
from qianka.supervisor.verdict import Seen, decide, reason
from qianka.supervisor.volume import Mirror
from qianka.supervisor.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DONE, USAGE, TAKEN = 0, 2, 3
"""exit statuses: a result was written; the command line is wrong; another supervisor has this run"""
_MOST_KEPT = 32 << 20
"""bytes of a stream: half of it is held in memory while the run goes on"""
_FAULTS = (OSError, FormatError, NoSuchCard, plans.Unfit, children.SpawnError)


def main(words: list[str]) -> int:
    """Supervise; returns the exit status."""
    try:
        options = Options(words)
    except (UsageError, ValueError) as error:
        os.write(2, f"supervisor: {error}\n".encode())
        return USAGE
    _leave_the_starter()
    wake = _listen()
    try:
        rights = Rights(options.directory, options.owner)
    except OSError as error:
        os.write(2, f"supervisor: no job directory: {error}\n".encode("utf-8", "backslashreplace"))
        return USAGE
    if not records.claim(options.directory, options.run):
        return TAKEN
    beat.write_beat(options.directory, options.run)
    fence: dict[str, Any] = {}
    outcome = Outcome(options.run)
    try:
        fence = records.read_fence(options.directory) or {}
        if options.slurm:
            from qianka.supervisor.allotment import of_slurm

            fence = of_slurm(fence)
        job = spec.filled(records.read_job(options.directory))
        outcome.know(job, fence)
        if fence.get("run", options.run) != options.run:
            outcome.end("CANCELLED", reason("stale", text=f"run {fence['run']} has taken over"))
        elif records.cancel_asked(options.directory):
            outcome.end("CANCELLED", reason("cancelled"))
        else:
            _supervise(job, fence, options, rights, wake, outcome)
    except _FAULTS as error:
        code = "spawn" if isinstance(error, children.SpawnError) else "sandbox"
        outcome.end("NODE_FAIL", reason(code, text=str(error)))
    records.put_result(options.directory, options.run, result_of(outcome))
    return DONE


def _supervise(
    job: dict[str, Any], fence: dict[str, Any], options: Options, rights: Rights, wake: int, outcome: Outcome
) -> None:
    if options.fault is not None:
        raise plans.Unfit(options.fault)
    backend, known = _backend(job, options)
    contained = backend == "bubblewrap"
    if backend == "none" and (options.stage is not None or rights.lowered):
        # The program would get root's rights, at the wish of a service that has none.
        raise plans.Unfit("started by the launcher, a run needs a sandbox")
    if contained and options.bwrap is None:
        options.bwrap = _known_bubblewrap(options.directory)
    if job["peer"] is not None:
        from qianka.supervisor.paired import supervise_pair

        supervise_pair(job, fence, options, rights, wake, outcome, known)
        return
    plan = prepare(job, fence, options, rights, outcome, known)
    try:
        watch = start(job, fence, options, rights, plan, outcome)
        watch.until_end(wake)
        watch.finish()
    finally:
        let_go(plan, rights)
    conclude(job, watch, outcome)


def prepare(
    job: dict[str, Any],
    fence: dict[str, Any],
    options: Options,
    rights: Rights,
    outcome: Outcome,
    known: dict[str, Any],
) -> plans.Plan:
    """Group and plan of a run, or of one side of it. Raises Unfit below the level that the job asks for."""
    backend = job["isolation"]["backend"]
    # A container engine makes the group itself.
    is_ours = backend in ("bubblewrap", "none")
    is_peer = options.out is not None
    group, why = plans.make_group(job, options.directory, options.run, rights, is_peer) if is_ours else (None, "")
    try:
        if backend == "bubblewrap":
            from qianka.supervisor.contained import contained_plan

            plan = contained_plan(job, fence, options, rights, group is not None)
        elif not is_ours:
            from qianka.supervisor.in_container import container_plan

            plan = container_plan(job, fence, options, rights, known)
        else:
            from qianka.supervisor.plain import plain_plan

            plan = plain_plan(job, fence, options, rights)
        plan.group = group
        outcome.level, outcome.missing = plan.level, plan.missing
        if spec.below(plan.level, job["isolation"]["minimum"]):
            raise plans.Unfit(
                f"level {plan.level}, the job asks for {job['isolation']['minimum']}; missing: "
                f"{', '.join(plan.missing)}" + (f" ({why})" if why else "")
            )
    except _FAULTS:
        if group is not None:
            with rights.root:
                group.remove()
        raise
    return plan


def let_go(plan: plans.Plan, rights: Rights) -> None:
    """Nothing is left of a run, whatever happened."""
    if plan.group is not None:
        with rights.root:
            plan.group.remove()
    if plan.remains is not None:
        plan.remains()


def start(
    job: dict[str, Any], fence: dict[str, Any], options: Options, rights: Rights, plan: plans.Plan, outcome: Outcome
) -> Watch:
    """Start what was planned. Raises SpawnError."""
    cards = real_cards(fence.get("cards") or [])
    plan.start.bounds = bounds.limits(job, grouped=plan.group is not None, cards=bool(cards))
    plan.start.cores = [int(core) for core in fence.get("cores") or []]
    if plan.group is not None:
        plan.start.groups = plan.group.enter_files()
    outcome.started = time.time()
    keep = min(int(job["limits"]["output"]), _MOST_KEPT)
    is_peer = options.out is not None
    streams = [Stream(options.directory, options.run, name, keep) for name in (PEER_STREAMS if is_peer else STREAMS)]
    with rights.root:
        process = children.start(plan.start)
    for descriptor in plan.opened:
        os.close(descriptor)
    watch = (plan.watch or Watch)(job, options.run, options.directory, plan, process, rights)
    watch.streams = {process.stdout: streams[0], process.stderr: streams[1]}
    watch.meter = Meter(plan.group, process.pid, job["resources"]["memory"])
    watch.seen.contained = plan.status is not None
    if cards:
        from qianka.supervisor.cards import CardMeter

        watch.cards = CardMeter(cards)
    watch.let_begin()
    outcome.level, outcome.missing = plan.level, plan.missing
    if not is_peer:
        watch.mirror = Mirror(os.path.join(options.directory, "runs", str(options.run)), rights)
        beat.write_beat(options.directory, options.run, process.pid)
    return watch


def conclude(job: dict[str, Any], watch: Watch, outcome: Outcome) -> None:
    """State, figures and what was left, once nothing of the run lives any more."""
    complete(job, watch)
    outcome.wall = (watch.ended or time.monotonic()) - watch.began
    outcome.out = watch.plan.volume.take()
    outcome.end(*decide(watch.seen))
    outcome.take(watch, list(watch.streams.values())[1].total)


def complete(job: dict[str, Any], watch: Watch) -> None:
    """Close the streams of a run that is over, and complete what was seen of it by the limits it had."""
    seen: Seen = watch.seen
    if seen.contained and not seen.told_exit:
        seen.complaint = watch.complaint()
    for stream in watch.streams.values():
        stream.close()
    seen.memory_limit = job["resources"]["memory"]
    seen.cpu_limit = job["limits"]["cpu"]
    seen.processes_limit = job["limits"]["processes"]
    seen.disk_limit = job["limits"]["disk"]
    if watch.plan.temporary is not None:
        folder, name = os.path.split(watch.plan.temporary)
        parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        remove(parent, name)
        os.close(parent)


def _leave_the_starter() -> None:
    """A session of our own, no descriptors but our three: who started us may end without us noticing."""
    if os.getpgrp() != os.getpid():
        os.setsid()
    for name in os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:
                continue  # the descriptor of this very listing


def _listen() -> int:
    """A descriptor that becomes readable when we are asked to stop."""
    from qianka.supervisor.signals import _signal

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    _signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGTERM, lambda *_: None)
    for number in (_signal.SIGINT, _signal.SIGHUP):
        _signal.signal(number, _signal.SIG_IGN)
    return reader


def _backend(job: dict[str, Any], options: Options) -> tuple[str, dict[str, Any]]:
    """Which backend the run gets, and what the self-test knows of it; written into the job for what follows."""
    backend = str(job["isolation"]["backend"])
    known: dict[str, Any] = {}
    if backend not in ("bubblewrap", "none"):
        known = options.known or _report(options.directory)
        if backend == "auto":
            backend = str(known.get("backend") or "bubblewrap")
            job["isolation"]["backend"] = backend
    return backend, known


def _report(directory: str) -> dict[str, Any]:
    """What the platform's self-test has written; empty without it."""
    data = os.path.dirname(os.path.dirname(directory))
    try:
        return dict(read_json(os.path.join(data, "run", "sandbox.json")))
    except (OSError, FormatError, TypeError, ValueError):
        return {}


def _known_bubblewrap(directory: str) -> tuple[str, tuple[int, int, int]] | None:
    """What the platform's self-test found, so that not every run looks for it anew."""
    from qianka.sandbox.bubblewrap import parse_version

    known = _report(directory)
    path, version = known.get("bwrap"), parse_version(f"bubblewrap {known.get('bwrap_version')}")
    return (path, version) if isinstance(path, str) and version and os.access(path, os.X_OK) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
