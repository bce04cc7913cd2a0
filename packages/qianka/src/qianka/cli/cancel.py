"""`qianka cancel`."""

from __future__ import annotations

from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import Text

app = common.new_app("取消任务", "cancel a job")


@app.command(help=t("取消一个任务；已结束的不变", "cancel a job; one that has ended stays as it is"))
def cancel(job: Annotated[str, typer.Argument(metavar="ID")], json: Json = False) -> None:
    with common.client() as client:
        found = client.cancel(job)
    if output.result(found):
        return
    if found.state == "RUNNING":
        output.say(Text(f"{job} 正在停止", f"{job} is being stopped"))
    else:
        output.say(f"{job} {found.state}")
