"""`qianka logs`: what a job printed."""

from __future__ import annotations

from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t

app = common.new_app("任务输出", "output of a job")


@app.command(help=t("任务的输出；-f 跟随到结束", "what a job printed; -f follows until it ends"))
def logs(
    job: Annotated[str, typer.Argument(metavar="ID")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help=t("跟随", "follow"))] = False,
    index: Annotated[int | None, typer.Option("--index", min=0, help=t("数组里的序号", "index in an array"))] = None,
    stderr: Annotated[bool, typer.Option("--stderr", "-e", help=t("标准错误", "standard error instead"))] = False,
    peer: Annotated[
        bool,
        typer.Option(
            "--peer", help=t("测试阶段里学生代码一侧的输出（教师）", "of a tests stage: the student's side (staff)")
        ),
    ] = False,
    json: Json = False,
) -> None:
    if index is not None:
        job = f"{job}_{index}"
    stream = ("peer." if peer else "") + ("stderr" if stderr else "stdout")
    with common.client() as client:
        pieces = client.log_text(job, stream, live_=follow)
        if json:
            output.result({"job": job, "stream": stream, "text": "".join(pieces)})
            return
        for piece in pieces:
            output.show_log(piece)
