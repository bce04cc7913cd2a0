"""What a job asks of the engine that would run it: several nodes, a container, options of sbatch.

One machine has none of these; a cluster has what its site.toml passes. Asked for where it is not to be
had, a job is refused at its submit and not when it would start.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qianka.domain.resources import Node, Resources
from qianka.engines.slurm import containers, flags, sitefile
from qianka.engines.slurm.site import Site
from qianka.errors import BadInput, ConfigError, PlatformFault, Refused, Text
from qianka.policy.place import fitting, never_fits
from qianka.sandbox.environment import THREADS
from qianka.services.platform import Caller, Platform

if TYPE_CHECKING:
    from qianka.services.jobs.own import JobRequest

MOST_NODES = 4096


def site_of(platform: Platform, caller: Caller) -> Site:
    """The site's ways; raises PlatformFault when site.toml is wrong (to an administrator ConfigError: where)."""
    try:
        return sitefile.load(platform.settings.slurm_site)
    except ConfigError as error:
        if caller.is_admin:
            raise
        raise PlatformFault(
            Text(
                "平台的 Slurm 站点文件有错，任务没有提交",
                "the platform's site file of Slurm has a mistake; nothing was submitted",
            ),
            Text("请告诉管理员：site.toml 要改", "tell the operator: site.toml is to be mended"),
            reason="site",
        ) from error


def settled(platform: Platform, caller: Caller, request: JobRequest) -> JobRequest:
    """`request` as this platform's engine takes it: options of sbatch by their long names, an exclusive
    job with whole cores. Raises BadInput and Refused."""
    resources = request.resources
    if not 1 <= resources.nodes <= MOST_NODES:
        raise BadInput(
            Text(f"nodes：应在 1 到 {MOST_NODES} 之间", f"nodes: must be between 1 and {MOST_NODES}"),
            Text("改好后再提交", "mend it and submit again"),
            reason="nodes",
        )
    if resources.exclusive:
        resources = replace(resources, cpus=float(math.ceil(resources.cpus)))
    if platform.settings.engine_name != "slurm":
        _of_one_machine(request)
        return replace(request, resources=resources)
    site = site_of(platform, caller)
    if account_of(platform, caller) is None:
        _of_the_service(request)
    options = flags.parsed(request.sbatch, site)
    if request.container is not None:
        containers.check(containers.Container(*request.container), site)
    return replace(request, resources=resources, sbatch=options)


def _of_one_machine(request: JobRequest) -> None:
    if request.resources.nodes > 1:
        gpus = request.resources.all_gpus
        raise Refused(
            Text(
                f"这个平台只有一台机器，跑不了 {request.resources.nodes} 台机器的任务",
                f"this platform is one machine: a job of {request.resources.nodes} nodes cannot run on it",
            ),
            Text(
                f"去掉 --nodes；本机多卡用 --gpu {max(gpus, 2)} --torchrun；要多机请管理员接上 Slurm",
                f"leave --nodes out; for several cards of this machine use --gpu {max(gpus, 2)} --torchrun; "
                "for several machines ask the operator to connect Slurm",
            ),
            reason="one_machine",
        )
    if request.sbatch:
        raise Refused(
            Text("这个平台不用 Slurm，--sbatch 没有意义", "this platform runs no Slurm, so --sbatch means nothing"),
            Text("去掉 --sbatch 再提交", "leave --sbatch out and submit again"),
            reason="no_slurm",
        )
    if request.container is not None:
        raise Refused(
            Text("这个平台不用容器镜像运行任务", "this platform runs no jobs in container images"),
            Text(
                "去掉 --image：任务在平台的隔离环境和学生运行环境里运行",
                "leave --image out: jobs run in the platform's sandbox, in the student runtime",
            ),
            reason="no_containers",
        )


def _of_the_service(request: JobRequest) -> None:
    """In the platform's sandbox one supervisor holds the whole job: one node, no container beside."""
    several = request.resources.nodes > 1
    if not several and request.container is None:
        return
    what = ("多机任务", "a job of several nodes") if several else ("容器里的任务", "a job in a container image")
    raise Refused(
        Text(
            f"{what[0]}要以你自己的系统账户运行，而这个平台以服务账户运行所有任务",
            f"{what[1]} runs under your own system account; this platform runs all jobs under its own",
        ),
        Text(
            f"去掉 {'--nodes' if several else '--image'}，或请管理员设 slurm.people = login",
            f"leave {'--nodes' if several else '--image'} out, or ask the operator for slurm.people = login",
        ),
        reason="service_account",
    )


def runtime_of(platform: Platform, caller: Caller) -> Path | None:
    """The student runtime that the caller's own jobs will find; None where there is none, or where it lies in
    the data directory, which a person's own account on Slurm may not enter."""
    runtime = platform.folders.runtime
    if not (runtime / "bin" / "python").exists():
        return None
    closed = account_of(platform, caller) is not None and runtime.is_relative_to(platform.folders.root)
    return None if closed else runtime


def launched(platform: Platform, caller: Caller, request: JobRequest, argv: list[str]) -> tuple[list[str], bool]:
    """(argv, whether the engine starts it by torchrun on every node).

    Several nodes: by default a script is started by torchrun, where there is a torch. One node: only when
    asked, and then the command itself is torchrun's, so that it is the same on every engine.
    """
    is_python = argv[0] == "python" and len(argv) > 1
    wanted = request.torchrun
    if wanted and not is_python:
        raise BadInput(
            Text("torchrun 只能启动 Python 脚本", "torchrun starts Python scripts only"),
            Text("写上脚本，如 qianka submit --torchrun train.py", "name one: qianka submit --torchrun train.py"),
            reason="torchrun",
        )
    if request.resources.nodes > 1:
        automatic = request.script is not None and _has_torch(platform, caller, request)
        return argv, automatic if wanted is None else wanted
    if not wanted:
        return argv, False
    processes = f"--nproc-per-node={max(1, request.resources.gpus)}"
    # Inside of the sandbox the host's own name need not resolve.
    launcher = ["-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", processes]
    return ["python", *launcher, *argv[1:]], False


def threads_of(request: JobRequest) -> dict[str, str]:
    """Variables that share the cores among the processes of torchrun on one node: each would take all of them."""
    if not request.torchrun or request.resources.nodes > 1:
        return {}
    each = int(request.resources.cpus) // max(1, request.resources.gpus)
    return dict.fromkeys(THREADS, str(max(1, each)))


def _has_torch(platform: Platform, caller: Caller, request: JobRequest) -> bool:
    """Whether the job will find a torch: a container is taken to have one, as is a site's own runtime."""
    site = sitefile.load(platform.settings.slurm_site)
    inside = request.container is not None or site.containers.default is not None
    return inside or bool(site.runtime) or runtime_of(platform, caller) is not None


def account_of(platform: Platform, caller: Caller) -> str | None:
    """The Unix account that the caller's own jobs run as on Slurm; None: the platform's, in the sandbox."""
    settings = platform.settings
    return caller.login if settings.engine_name == "slurm" and settings.slurm_people == "login" else None


def keys_of(request: JobRequest, cohort: str | None, torchrun: bool) -> dict[str, Any]:
    """The keys of job.json that an engine with several nodes reads."""
    container = None if request.container is None else dict(zip(("kind", "image"), request.container, strict=True))
    return {"cohort": cohort, "torchrun": torchrun, "container": container, "sbatch": list(request.sbatch)}


def held(machines: list[Node], resources: Resources) -> tuple[float | None, int | None]:
    """(cores, cards) that a run may be charged for where that is more than asked: whole nodes, of the
    largest there are. Nothing known of the machines: None, what was asked stands."""
    if not resources.exclusive or not machines:
        return None, None
    cores = max(resources.cpus, *(float(len(node.cores)) for node in machines))
    cards = max(resources.gpus, *(len(node.cards) for node in machines))
    return cores * resources.nodes, cards * resources.nodes


def check_fits(machines: list[Node], resources: Resources) -> None:
    """Raises Refused, naming the largest machine, when there never are that many machines of that size."""
    if resources.nodes == 1 and never_fits(machines, resources) is None:
        return
    if resources.nodes > 1 and (not machines or fitting(machines, resources) >= resources.nodes):
        return
    _refuse(machines, resources)


def _refuse(machines: list[Node], resources: Resources) -> None:
    largest = max(machines, key=lambda n: (len(n.cards), len(n.cores), n.memory))
    has = (len(largest.cores), largest.memory / (1 << 30), len(largest.cards))
    many = fitting(machines, resources)
    each = (
        f"{resources.cpus:g} 核、{resources.memory / (1 << 30):.1f} GiB、{resources.gpus} 张卡",
        f"{resources.cpus:g} cores, {resources.memory / (1 << 30):.1f} GiB and {resources.gpus} cards",
    )
    if many:
        raise Refused(
            Text(
                f"要 {resources.nodes} 台各有 {each[0]} 的机器，只有 {many} 台",
                f"{resources.nodes} machines with {each[1]} each were asked for, there are {many}",
            ),
            Text(f"--nodes 至多 {many}", f"--nodes: {many} at most"),
            reason="impossible",
            nodes=many,
        )
    raise Refused(
        Text(f"没有一台机器有这么多资源：要 {each[0]}", f"no machine is that large: {each[1]} were asked for"),
        Text(
            f"最大的一台有 {has[0]} 核、{has[1]:.1f} GiB、{has[2]} 张卡；请减少后再提交",
            f"the largest has {has[0]} cores, {has[1]:.1f} GiB and {has[2]} cards: ask for less",
        ),
        reason="impossible",
        cores=has[0],
        memory=largest.memory,
        cards=has[2],
    )
