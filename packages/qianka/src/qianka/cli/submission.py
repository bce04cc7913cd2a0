"""`qianka submission`: one hand-in, and where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import Text

if TYPE_CHECKING:
    from qianka.schemas.provenance import Provenance, ProvenanceJob

app = common.new_app("提交：来历", "hand-ins: where they came from", group=True)


@app.command(
    help=t(
        "一份提交的来历：哪些任务、种子、曲线产生了它，哪些文件查不到来历",
        "the jobs, seeds and curves that made a hand-in, beside what cannot be traced",
    )
)
def provenance(
    submission: Annotated[str, typer.Argument(help=t("提交编号", "id of the hand-in"))], json: Json = False
) -> None:
    from qianka.client.provenance import provenance_of

    with common.client() as client:
        found = provenance_of(client.transport, submission)
    if not output.result(found):
        _tell(found)


def _tell(found: Provenance) -> None:
    output.say(found.sentence)
    if found.jobs:
        columns = [
            t("任务", "job"),
            t("名称", "name"),
            t("状态", "state"),
            t("用时", "use"),
            t("种子", "seed"),
            t("最终指标", "last figures"),
            t("依据", "evidence"),
        ]
        output.table(columns, [_row(job) for job in found.jobs])
    if found.untraced:
        output.say(Text("查不到来历的文件：", "files that cannot be traced:"))
        output.table(
            [t("文件", "file"), t("字节", "bytes"), t("类别", "kind")],
            [[file.path, str(file.size), file.kind] for file in found.untraced],
        )
    for flag in found.flags:
        output.note(
            Text(
                f"相同的文件出现在另一名学生的任务里：{flag.path}，{flag.login} {flag.name}，任务 {flag.job}",
                f"same file made by job of another student: {flag.path}, {flag.login} {flag.name}, job {flag.job}",
            )
        )


def _row(job: ProvenanceJob) -> list[str]:
    used = f"{job.gpu_seconds / 3600:.2f} GPU-h" if job.gpu_seconds else f"{job.cpu_seconds / 3600:.2f} CPU-h"
    figures = ", ".join(f"{name} {value:.4g}" for name, value in list(job.figures.items())[:3] if value is not None)
    evidence = [f"out: {len(job.left)}"] if job.left else []
    evidence += [f"code: {len(job.ran)}{'' if job.counts else ' (part)'}"] if job.ran else []
    return [job.id, job.name, job.state, used, job.seed or "", figures, ", ".join(evidence)]
