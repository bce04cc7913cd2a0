"""A dry run: everything that a submit looks at, and the exact text that would go to the engine; no job is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from qianka.domain.jobs import JobKind
from qianka.domain.resources import Resources
from qianka.engines.slurm import layout, script
from qianka.engines.slurm.site import Site
from qianka.errors import Text
from qianka.services.jobs import arrays, asks, own
from qianka.services.jobs.indexes import Indexes
from qianka.services.jobs.own import Admitted, JobRequest
from qianka.services.jobs.stages import complete
from qianka.services.platform import Caller, Platform
from qianka.store.repos import arrays as repo

JOB = "j-dry-run"
"""stands where the id of the job would"""
_HOUR = 3600.0


@dataclass(frozen=True)
class DryRun:
    """What a submit would do. `script`: the batch script, None on an engine that has none."""

    engine: str
    script: str | None
    job: dict[str, Any]
    sentences: list[Text]
    jobs: int
    """how many; of an array `script` and `job` are those of the first"""
    cpu_hours: float
    """at most, of all nodes together; what the budget is asked for"""
    gpu_hours: float


def dry_run(platform: Platform, caller: Caller, request: JobRequest) -> DryRun:
    """Raises whatever `submit` would. The code need not have been sent: what is to be in it is not looked at."""
    with platform.store.reading() as session:
        found = own.admit(session, platform, caller, replace(request, key=None), with_code=False)
    resources = found.request.resources
    if found.indexes is not None:
        first = arrays.variables(f"{repo.PREFIX}-dry-run", found.indexes, found.indexes.values[0])
        found.spec["environment"] = {**found.spec["environment"], **first}
    job = complete(platform, JOB, found.spec, JobKind.RUN, found.name, resources, request.wall, request.label)
    cpus = resources.all_cpus if found.held[0] is None else found.held[0]
    gpus = resources.all_gpus if found.held[1] is None else found.held[1]
    hours = found.count * request.wall / _HOUR
    text = None
    if platform.settings.engine_name == "slurm":
        site = asks.site_of(platform, caller)
        text = script.render(job, 1, site, _places(platform, site, job, request))
    sentences = [_size(resources), _start(found, text is not None), _cost(found, cpus * hours, gpus * hours)]
    if found.indexes is not None:
        sentences.insert(0, _array(found.indexes))
    if resources.gpus > resources.cpus:
        sentences.append(_few_cores(resources))
    return DryRun(platform.settings.engine_name, text, job, sentences, found.count, cpus * hours, gpus * hours)


def _places(platform: Platform, site: Site, job: dict[str, Any], request: JobRequest) -> script.Places:
    account, has_code = job.get("account"), request.script is not None
    if account:
        return layout.own_places(site, JOB, 1, str(account), has_code=has_code)
    return layout.service_places(str(platform.folders.jobs / JOB), JOB, 1, job.get("work"))


def _array(found: Indexes) -> Text:
    count, first, last = len(found.values), found.values[0], found.values[-1]
    each = ("，每个：", ", each with what follows") if count > 1 else ("", "")
    most = ("", "") if found.most is None else (f"，同时至多 {found.most} 个", f", {found.most} at once at most")
    return Text(
        f"数组：{count} 个任务（序号 {first} 到 {last}）{most[0]}{each[0]}",
        f"an array of {count} jobs (indexes {first} to {last}){most[1]}{each[1]}",
    )


def _size(wanted: Resources) -> Text:
    memory = f"{wanted.memory / (1 << 30):g} GiB"
    alone = (" 独占" if wanted.exclusive else "", ", whole machines" if wanted.exclusive else "")
    if wanted.nodes == 1:
        return Text(
            f"1 台机器{alone[0]}：{wanted.cpus:g} 核、{memory}、{wanted.gpus} 张卡",
            f"1 machine{alone[1]}: {_each(wanted, memory)}",
        )
    return Text(
        f"{wanted.nodes} 台机器{alone[0]}，每台 {wanted.cpus:g} 核、{memory}、{wanted.gpus} 张卡；"
        f"共 {wanted.all_gpus} 张卡",
        f"{wanted.nodes} machines{alone[1]}, each with {_each(wanted, memory)}; {wanted.all_gpus} cards in all",
    )


def _each(wanted: Resources, memory: str) -> str:
    cores, cards = ("" if count == 1 else "s" for count in (wanted.cpus, wanted.gpus))
    return f"{wanted.cpus:g} core{cores}, {memory}, {wanted.gpus} card{cards}"


def _start(found: Admitted, is_slurm: bool) -> Text:
    words = " ".join(found.spec["argv"])
    if is_slurm and found.spec["torchrun"]:
        processes = max(1, found.request.resources.gpus)
        return Text(
            f"torchrun 在每台机器上启动 {processes} 个进程：{words}",
            f"torchrun starts {processes} processes on each machine: {words}",
        )
    if is_slurm and found.spec.get("account") and found.request.resources.nodes == 1:
        return Text(f"在一个节点上运行：{words}", f"run on a node: {words}")
    if is_slurm and found.spec.get("account"):
        return Text(f"srun 在每台机器上启动一次：{words}", f"srun starts it once on each machine: {words}")
    if is_slurm:
        return Text(f"在节点的隔离环境里运行：{words}", f"run in the sandbox of a node: {words}")
    return Text(f"在本机的隔离环境里运行：{words}", f"run in the sandbox of this machine: {words}")


def _few_cores(wanted: Resources) -> Text:
    return Text(
        f"建议：{wanted.gpus} 张卡只有 {wanted.cpus:g} 个核，读数据会拖慢训练；加 --cpus {2 * wanted.gpus}",
        f"advice: {wanted.gpus} cards with {wanted.cpus:g} CPU in all: reading data will hold them up; "
        f"add --cpus {2 * wanted.gpus}",
    )


def _cost(found: Admitted, cpu: float, gpu: float) -> Text:
    payer = ("", "") if found.cohort is None else (f"，计入 {found.cohort.slug}", f", charged to {found.cohort.slug}")
    return Text(
        f"至多用 {gpu:.2f} 卡时、{cpu:.2f} 核时{payer[0]}；没有提交任何任务",
        f"at most {gpu:.2f} GPU-hours and {cpu:.2f} CPU-hours{payer[1]}; nothing was submitted",
    )
