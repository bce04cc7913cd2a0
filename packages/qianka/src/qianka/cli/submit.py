"""`qianka submit`: a job of one's own; the same on every engine."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qianka.cli import arrays, common, following_job, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.output import t
from qianka.client import archive
from qianka.errors import BadInput, NotFound, Text

if TYPE_CHECKING:
    from qianka.schemas.jobs import Container, Job, NewJob

app = common.new_app("提交任务", "submit a job")

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 60.0}
"""a bare number is minutes, as for Slurm's --time"""


HELP_GPU = t(
    "显卡数；有 --nodes 时 --gpu、--cpus、--mem 都是每台机器的", "cards; --gpu, --cpus and --mem are those of each node"
)


@app.command(
    help=t("提交自己的任务：qianka submit train.py --epochs 3", "submit a job: qianka submit train.py --epochs 3"),
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def submit(
    command: Annotated[list[str], typer.Argument(metavar="SCRIPT [ARGS]…")],
    gpu: Annotated[int, typer.Option("--gpu", help=HELP_GPU)] = 0,
    mem: Annotated[str, typer.Option("--mem", help=t("内存，如 2G", "memory, such as 2G"))] = "1G",
    cpus: Annotated[float, typer.Option("--cpus", help=t("CPU 核数", "cores"))] = 1.0,
    nodes: Annotated[int, typer.Option("--nodes", help=t("机器数（Slurm）", "machines (Slurm)"))] = 1,
    exclusive: Annotated[bool, typer.Option("--exclusive", help=t("独占整台机器", "whole machines"))] = False,
    torchrun: Annotated[
        bool | None,
        typer.Option(
            "--torchrun/--no-torchrun",
            help=t("用 torchrun 启动，每卡一个进程；默认：多台机器时", "a process a card; default: on several nodes"),
        ),
    ] = None,
    image: Annotated[
        str, typer.Option("--image", help=t("容器：apptainer:/x.sif（Slurm）", "apptainer:/x.sif (Slurm)"))
    ] = "",
    sbatch: Annotated[
        list[str] | None,
        typer.Option("--sbatch", help=t("传给 sbatch 的选项，可重复", "options passed to sbatch; may be repeated")),
    ] = None,
    array: Annotated[
        str | None,
        typer.Option(
            "--array", "-a", help=t("任务数组：0-9、1,3、0-9:2、0-99%4", "one job an index: 0-9, 1,3, 0-9:2, 0-99%4")
        ),
    ] = None,
    label: Annotated[str, typer.Option("--label", help="urgent, normal, idle")] = "normal",
    time: Annotated[
        str, typer.Option("--time", help=t("时间上限：90s、10m、1h、1:30:00", "limit: 90s, 10m, 1h, 1:30:00"))
    ] = "10m",
    name: Annotated[str, typer.Option("--name", help=t("名称", "name"))] = "",
    code: Annotated[Path, typer.Option("--code", help=t("随任务发送的文件夹", "folder sent along"))] = Path("."),
    cohort: CohortOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=t("只显示会做什么，不提交", "show what would be done, submit nothing"))
    ] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help=t("跟随输出到结束", "follow until it ends"))] = False,
    json: Json = False,
) -> None:
    from qianka.schemas.jobs import NewJob

    job = NewJob(name=name, cohort=cohort, cpus=cpus, memory=memory(mem), gpus=gpu, label=_label(label))
    job = job.model_copy(update={"wall": seconds(time), "nodes": nodes, "exclusive": exclusive, "torchrun": torchrun})
    job = job.model_copy(update={"container": _container(image), "sbatch": sbatch or [], "array": array})
    if array is not None and follow:
        raise _cannot_follow()
    if dry_run:
        _show(job, code, command)
    else:
        _send(job, code, command, follow)


def _send(job: NewJob, code: Path, command: list[str], follow: bool) -> None:
    with common.client() as client, tempfile.TemporaryDirectory(prefix="qianka-") as folder:
        if command[0].endswith(".py"):
            file = Path(folder) / "code.zip"
            job = _with_script(job, code, command)
            archive.pack(code, file, 500_000_000)
            with output.progress("上传代码", "sending the code", file.stat().st_size) as bar:
                job.code = client.upload(file, progress=bar).id
        else:
            job.argv = command
        found = client.submit(job)
        if job.array is not None:
            _say_array(found)
            return
        if follow:
            following_job.follow(client, found.id)
            found = client.job(found.id)
    if output.result(found):
        return
    output.say(f"{found.id}  {found.state}" + (f"  {found.queue.sentence}" if found.queue is not None else ""))
    if not follow:
        output.say(Text(f"  跟随输出：qianka logs -f {found.id}", f"  follow it: qianka logs -f {found.id}"))


def _say_array(first: Job) -> None:
    if output.result(first):
        return
    states, array = first.array_states or {}, str(first.array)
    total = sum(states.values())
    output.say(f"{array}  {t(f'{total} 个任务', f'{total} jobs')}: {arrays.counts(states)}")
    output.say(
        Text(
            f"  看数组：qianka job {array}；看一个的输出：qianka logs {array} --index {first.array_index}",
            f"  look at it: qianka job {array}; at what one prints: qianka logs {array} --index {first.array_index}",
        )
    )


def _cannot_follow() -> BadInput:
    return BadInput(
        Text("--follow 一次只能跟随一个任务", "--follow follows one job, and an array has several"),
        Text("去掉 -f，提交后用 qianka logs -f 数组号 --index 3", "leave -f out; then: qianka logs -f ARRAY --index 3"),
        reason="follow_array",
    )


def _show(job: NewJob, code: Path, command: list[str]) -> None:
    """The script on standard output, so that it can be kept; what is said of it beside."""
    from qianka.client.dryrun import dry_run

    if command[0].endswith(".py"):
        job = _with_script(job, code, command)
    else:
        job.argv = command
    with common.client() as client:
        found = dry_run(client, job)
    if output.result(found):
        return
    if found.script is None:
        for sentence in found.sentences:
            output.say(sentence)
        return
    output.write(output.harmless(found.script))
    for sentence in found.sentences:
        output.note(sentence)


def _with_script(job: NewJob, code: Path, command: list[str]) -> NewJob:
    script = command[0].replace("\\", "/")
    if not (code / script).is_file():
        raise NotFound(
            Text(f"{code} 里没有 {script}", f"there is no {script} in {code}"),
            Text(
                "脚本路径相对于 --code 指定的文件夹（默认当前文件夹）", "the path is relative to --code (default: here)"
            ),
        )
    name = job.name or Path(script).name
    return job.model_copy(update={"name": name, "script": script.removeprefix("./"), "args": command[1:]})


def memory(text: str) -> int:
    """Bytes of `32G`, `512M`, `1.5GiB`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise BadInput(
            Text(f"--mem {text}：看不懂", f"--mem {text}: not understood"), Text("如 2G、512M", "such as 2G, 512M")
        )
    return int(float(found[1]) * _UNITS[found[2].upper()])


def seconds(text: str) -> float:
    """Seconds of `90s`, `10m`, `1h`, `1:30:00`, `1-12:00:00`; a bare number is minutes."""
    text = text.strip()
    clock = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d{1,2})(?::(\d{1,2}))?", text)
    if clock is not None:
        days, first, second, third = (int(part) if part is not None else None for part in clock.groups())
        if third is None and days is None:  # Slurm: minutes:seconds
            return float((first or 0) * 60 + (second or 0))
        return float((days or 0) * 86400 + (first or 0) * 3600 + (second or 0) * 60 + (third or 0))
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text, re.IGNORECASE)
    if found is None:
        raise BadInput(
            Text(f"--time {text}：看不懂", f"--time {text}: not understood"),
            Text("如 90s、10m、1h", "such as 90s, 10m, 1h"),
        )
    return float(found[1]) * _SECONDS[found[2].lower()]


def _container(image: str) -> Container | None:
    """`KIND:IMAGE`; a file ending in .sif is Apptainer's."""
    from qianka.schemas.jobs import Container

    if not image:
        return None
    kind, _, name = image.partition(":")
    if image.endswith(".sif") and kind != "apptainer":
        kind, name = "apptainer", image
    if kind not in ("apptainer", "docker", "podman") or not name:
        raise BadInput(
            Text(f"--image {image}：要写明种类", f"--image {image}: say of which kind"),
            Text("如 apptainer:/nfs/images/x.sif、docker:名字:标签", "apptainer:/nfs/images/x.sif, docker:NAME:TAG"),
        )
    return Container(kind=kind, image=name)


def _label(label: str) -> str:
    if label not in ("urgent", "normal", "idle"):
        raise BadInput(
            Text(f"没有标签 {label}", f"there is no label {label}"),
            Text("urgent、normal 或 idle", "urgent, normal or idle"),
        )
    return label
