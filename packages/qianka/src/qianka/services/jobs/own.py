"""A person's own job: what is asked for is checked, fitted into the budget and queued."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from qianka.domain.jobs import JobKind
from qianka.domain.resources import Label, Resources
from qianka.errors import BadInput, Forbidden, NotFound, Text
from qianka.services import access, audit, budgets, nodes
from qianka.services.jobs import arrays, asks, indexes
from qianka.services.jobs.indexes import Indexes
from qianka.services.jobs.stages import submit_stage
from qianka.services.platform import Caller, Platform
from qianka.store.repos import jobs as repo
from qianka.store.repos import people
from qianka.store.tables import Cohort, Job

LONGEST_WALL = 7 * 86400.0
SMALLEST_MEMORY = 16 << 20
_DIGEST = re.compile(r"[0-9a-f]{16,128}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_ARGUMENT_BYTES = 100_000


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """What a person asks to run: `argv`, or `script` (a file of the code folder) with `args`.

    `tree` is the digest of a checked code folder under trees/; whether the caller may use it is
    checked where the digest comes from. `key` makes a repeated request the same job. `wall` in seconds.
    """

    argv: tuple[str, ...] = ()
    script: str | None = None
    args: tuple[str, ...] = ()
    name: str = ""
    cohort: str | None = None
    tree: str | None = None
    resources: Resources = field(default_factory=Resources)
    label: Label = Label.NORMAL
    wall: float = 600.0
    environment: dict[str, str] = field(default_factory=dict)
    torchrun: bool | None = None
    """None: for a script on several nodes"""
    sbatch: tuple[str, ...] = ()
    """options of sbatch, as on a command line"""
    container: tuple[str, str] | None = None
    """(kind, image)"""
    array: str | None = None
    """the indexes of an array, one job each; None: one job"""
    key: str | None = None


@dataclass(frozen=True)
class Admitted:
    """A request that was looked at in full: what its job will be, and nothing is stored yet."""

    request: JobRequest
    cohort: Cohort | None
    name: str
    spec: dict[str, Any]
    held: tuple[float | None, int | None]
    indexes: Indexes | None = None
    """of an array: `spec` is then what its jobs have in common"""

    @property
    def count(self) -> int:
        """How many jobs it makes."""
        return 1 if self.indexes is None else len(self.indexes.values)


def submit(platform: Platform, caller: Caller, request: JobRequest) -> Job:
    """Queue a job of the caller; of an array all of its jobs, and the one of the first index is returned.

    Raises BadInput (what is asked makes no sense), Refused (no machine is that large, or the engine does
    not do that), Forbidden (not active in the cohort, or the label is not theirs), OverLimit (budget), NotFound.
    """
    with platform.store.transaction() as session:
        key = None if request.key is None else f"person:{caller.person_id}:{request.key}"
        existing = None if key is None else repo.by_key(session, key)
        if existing is not None:
            return existing
        found = admit(session, platform, caller, request)
        if found.indexes is not None:
            job = arrays.make(session, platform, caller, found, found.indexes, key)
        else:
            job = _make(session, platform, caller, found, key)
    platform.wake_worker()
    return job


def _make(session: Session, platform: Platform, caller: Caller, found: Admitted, key: str | None) -> Job:
    job = submit_stage(
        session,
        platform,
        key=key,
        person_id=caller.person_id or 0,
        cohort_id=found.cohort.id if found.cohort else None,
        kind=JobKind.RUN,
        name=found.name,
        spec=found.spec,
        resources=found.request.resources,
        wall_limit=float(found.request.wall),
        label=found.request.label,
    )
    job.held_cpus, job.held_gpus = found.held
    audit.record(session, platform, caller, "job.submit", f"job:{job.id}")
    return job


def admit(
    session: Session, platform: Platform, caller: Caller, request: JobRequest, *, with_code: bool = True
) -> Admitted:
    """Everything that is looked at before a job of the caller is made; raises as `submit` does.

    Without `with_code` a script need not have been sent yet.
    """
    if caller.person_id is None:
        raise Forbidden(Text("平台自身不能提交任务", "the platform itself submits no jobs of its own"))
    argv = _argv(request, with_code)
    _check(request, argv)
    listed = None if request.array is None else indexes.parse(request.array, platform.settings.queue_array_most)
    request = asks.settled(platform, caller, request)
    machines = nodes.known(platform)
    asks.check_fits(machines, request.resources)
    argv, torchrun = asks.launched(platform, caller, request, argv)
    cohort = _cohort(session, caller, request.cohort)
    _may_label(session, caller, cohort, request.label)
    held = asks.held(machines, request.resources)
    count = 1 if listed is None else len(listed.values)
    if cohort is not None:
        budgets.admit(session, platform, cohort, caller.person_id, request.resources, request.wall, held, count)
    name = request.name or (request.script or argv[0]).rsplit("/", 1)[-1]
    keys = asks.keys_of(request, cohort.slug if cohort else None, torchrun)
    keys["account"] = asks.account_of(platform, caller)
    return Admitted(request, cohort, name, {**_spec(platform, caller, request, argv), **keys}, held, listed)


def _argv(request: JobRequest, with_code: bool) -> list[str]:
    if request.script is None:
        return list(request.argv)
    parts = request.script.split("/")
    if (with_code and request.tree is None) or request.argv or request.script.startswith("/") or ".." in parts:
        raise _bad("script", "应是随任务提交的代码里的文件", "must be a file of the code that comes with the job")
    return ["python", f"/work/{request.script}", *request.args]


def _check(request: JobRequest, argv: list[str]) -> None:
    size = sum(len(a.encode("utf-8", "surrogatepass")) + 1 for a in argv)
    if not argv or not argv[0] or size > _ARGUMENT_BYTES or any("\0" in a for a in argv):
        raise _bad("argv", "命令为空、太长或含有 NUL", "the command is empty, too long, or holds a NUL")
    resources = request.resources
    if not (math.isfinite(resources.cpus) and 0.01 <= resources.cpus <= 4096):
        raise _bad("cpus", "应在 0.01 到 4096 之间", "must be between 0.01 and 4096")
    if resources.memory < SMALLEST_MEMORY:
        raise _bad("memory", "至少 16 MiB", "must be at least 16 MiB")
    if not 0 <= resources.gpus <= 4096:
        raise _bad("gpus", "应在 0 到 4096 之间", "must be between 0 and 4096")
    if not (math.isfinite(request.wall) and 0 < request.wall <= LONGEST_WALL):
        raise _bad("wall", "应大于 0 秒，不超过 7 天", "must be above 0 seconds and at most 7 days")
    for name, value in request.environment.items():
        if not _VARIABLE.fullmatch(name) or "\0" in value or len(value) > _ARGUMENT_BYTES:
            raise _bad("environment", f"{name!r} 不能作为环境变量", f"{name!r} cannot be an environment variable")
    if len(request.name) > 200 or any(ord(c) < 32 for c in request.name):
        raise _bad("name", "至多 200 个字符，不含控制字符", "at most 200 characters, none of them control characters")


def _cohort(session: Session, caller: Caller, slug: str | None) -> Cohort | None:
    """The cohort that pays; the caller's only one where none was named."""
    if slug is None:
        mine = [c for c, e in people.cohorts_of(session, caller.person_id or 0) if e.state == "active"]
        if len(mine) > 1:
            names = ", ".join(cohort.slug for cohort in mine)
            raise BadInput(
                Text("你在不止一个课程班里，请指明用哪个", "you are in more than one cohort: say which"),
                Text(f"--cohort 可用：{names}", f"--cohort, one of: {names}"),
                reason="cohort",
            )
        if not mine and not caller.is_admin:
            raise Forbidden(
                Text("你不在任何课程班里，没有可用的预算", "you are in no cohort, so there is no budget for a job"),
                Text("请教师把你加入课程班", "ask a teacher to add you to a cohort"),
                reason="no_cohort",
            )
        return mine[0] if mine else None
    cohort = access.cohort_for(session, caller, slug)
    access.require_active(session, caller, cohort.id)
    access.require_open(cohort)
    return cohort


def _may_label(session: Session, caller: Caller, cohort: Cohort | None, label: Label) -> None:
    if label is not Label.URGENT or caller.is_admin:
        return
    if cohort is None or not access.is_staff(session, caller, cohort.id):
        raise Forbidden(
            Text("urgent 只有教师和助教可用", "the label urgent is for teachers and assistants"),
            Text("用 normal，或请教师提交", "use normal, or ask a teacher to submit it"),
            reason="label",
        )


def _spec(platform: Platform, caller: Caller, request: JobRequest, argv: list[str]) -> dict[str, Any]:
    folders = platform.folders
    work = None
    if request.tree is not None:
        folder = folders.trees / request.tree
        if not _DIGEST.fullmatch(request.tree) or not folder.is_dir():
            raise NotFound(
                Text("找不到任务的代码", "the code of the job is not here"),
                Text("重新提交一次", "submit it once more"),
                reason="no_tree",
            )
        work = str(folder)
    runtime = asks.runtime_of(platform, caller)
    return {
        "argv": argv,
        "environment": {**asks.threads_of(request), **request.environment},
        "work": work,
        "volume": "folder",
        "runtime": None if runtime is None else str(runtime),
        # Processes on several nodes have to reach each other.
        "network": "host" if request.resources.nodes > 1 else "none",
    }


def _bad(name: str, zh: str, en: str) -> BadInput:
    return BadInput(
        Text(f"{name}：{zh}", f"{name}: {en}"), Text("改好后再提交", "mend it and submit again"), reason=name
    )
