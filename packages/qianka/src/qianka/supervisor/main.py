"""The supervisor: runs exactly one run of one job and leaves its result in the job directory."""

from __future__ import annotations

import os
import sys
import time

from qianka.jobdir import beat, records, spec
from qianka.jobdir.codec import FormatError
from qianka.jobdir.files import read_json
from qianka.jobdir.layout import STREAMS
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
    contained = job["isolation"]["backend"] == "bubblewrap"
    if not contained and (options.stage is not None or rights.lowered):
        # The program would get root's rights, at the wish of a service that has none.
        raise plans.Unfit("started by the launcher, a run needs a sandbox")
    if contained and options.bwrap is None:
        options.bwrap = _known_bubblewrap(options.directory)
    group, why = plans.make_group(job, options.directory, options.run, rights)
    try:
        if contained:
            from qianka.supervisor.contained import contained_plan

            plan = contained_plan(job, fence, options, rights, group is not None)
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
        watch = _start(job, fence, options, rights, plan, outcome)
        watch.until_end(wake)
        watch.finish()
    finally:
        if group is not None:
            with rights.root:
                group.remove()
    _conclude(job, watch, outcome)


def _start(
    job: dict[str, Any], fence: dict[str, Any], options: Options, rights: Rights, plan: plans.Plan, outcome: Outcome
) -> Watch:
    cards = real_cards(fence.get("cards") or [])
    plan.start.bounds = bounds.limits(job, grouped=plan.group is not None, cards=bool(cards))
    plan.start.cores = [int(core) for core in fence.get("cores") or []]
    if plan.group is not None:
        plan.start.groups = plan.group.enter_files()
    outcome.started = time.time()
    keep = min(int(job["limits"]["output"]), _MOST_KEPT)
    streams = [Stream(options.directory, options.run, name, keep) for name in STREAMS]
    with rights.root:
        process = children.start(plan.start)
    for descriptor in plan.opened:
        os.close(descriptor)
    watch = Watch(job, options.run, options.directory, plan, process, rights)
    watch.streams = {process.stdout: streams[0], process.stderr: streams[1]}
    watch.meter = Meter(plan.group, process.pid, job["resources"]["memory"])
    watch.mirror = Mirror(os.path.join(options.directory, "runs", str(options.run)), rights)
    watch.seen.contained = plan.status is not None
    if cards:
        from qianka.supervisor.cards import CardMeter

        watch.cards = CardMeter(cards)
    if plan.release is not None:
        watch.let_begin()
    beat.write_beat(options.directory, options.run, process.pid)
    return watch


def _conclude(job: dict[str, Any], watch: Watch, outcome: Outcome) -> None:
    seen: Seen = watch.seen
    stderr = list(watch.streams.values())[1]
    if seen.contained and not seen.told_exit:
        seen.complaint = watch.complaint()
    for stream in watch.streams.values():
        stream.close()
    seen.memory_limit = job["resources"]["memory"]
    seen.cpu_limit = job["limits"]["cpu"]
    seen.processes_limit = job["limits"]["processes"]
    seen.disk_limit = job["limits"]["disk"]
    outcome.wall = (watch.ended or time.monotonic()) - watch.began
    outcome.out = watch.plan.volume.take()
    outcome.end(*decide(seen))
    outcome.take(watch, stderr.total)
    if watch.plan.temporary is not None:
        parent = os.open(os.path.dirname(watch.plan.temporary), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        remove(parent, "tmp")
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


def _known_bubblewrap(directory: str) -> tuple[str, tuple[int, int, int]] | None:
    """What the platform's self-test found, so that not every run looks for it anew."""
    from qianka.sandbox.bubblewrap import parse_version

    data = os.path.dirname(os.path.dirname(directory))
    try:
        known = read_json(os.path.join(data, "run", "sandbox.json"))
    except (OSError, FormatError):
        return None
    path, version = known.get("bwrap"), parse_version(f"bubblewrap {known.get('bwrap_version')}")
    return (path, version) if isinstance(path, str) and version and os.access(path, os.X_OK) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
