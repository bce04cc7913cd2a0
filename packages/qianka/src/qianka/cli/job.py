"""`qianka job`: one job, as it stands."""

from __future__ import annotations

from typing import Annotated

import typer

from qianka.cli import arrays, common, output
from qianka.cli.common import Json
from qianka.cli.output import t

app = common.new_app("一个任务", "one job")


@app.command(help=t("一个任务：状态、排队位置、用量", "one job: state, place in the queue, use"))
def job(job: Annotated[str, typer.Argument(metavar="ID")], json: Json = False) -> None:
    from qianka.client.arrays import get, is_array

    with common.client() as client:
        if is_array(job):
            array = get(client, job)
            if not output.result(array):
                arrays.show(array)
            return
        found = client.job(job)
    if output.result(found):
        return
    output.say(f"{found.id}  {found.name}  {found.state}")
    if found.array is not None:
        place = t("数组 {} 的序号 {}", "index {1} of array {0}")
        output.say("  " + place.format(found.array, found.array_index))
    if found.queue is not None:
        output.say("  " + found.queue.sentence)
    if found.reason_text:
        output.say("  " + found.reason_text)
    gib = 1 << 30
    asked = f"{found.cpus:g} CPU, {found.memory / gib:.2f} GiB, {found.gpus} GPU, {found.wall_limit:g} s"
    if found.nodes > 1:
        asked = t(f"{found.nodes} 台机器，每台 {asked}", f"{found.nodes} nodes, each {asked}")
    output.say(f"  {t('申请', 'asked for')}: {asked}")
    if found.wall is not None:
        peak = "-" if found.peak_memory is None else f"{found.peak_memory / (1 << 20):.0f} MiB"
        cpu = "-" if found.cpu is None else f"{found.cpu:.2f}"
        used = f"{t('用时', 'wall')} {found.wall:.2f} s, CPU {cpu} s, {t('内存峰值', 'peak memory')} {peak}"
        output.say(f"  {t('用了', 'used')}: {used}")
        output.say(f"  {t('退出码', 'exit code')}: {found.exit_code}  {t('隔离', 'isolation')}: {found.isolation}")
    for run in found.runs:
        output.say(f"  {t(f'第 {run.number} 次启动', f'run {run.number}')}  {run.node}  {run.state}")
