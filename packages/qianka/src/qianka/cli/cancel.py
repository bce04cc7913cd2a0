"""`qianka cancel`."""

from __future__ import annotations

from typing import Annotated

import typer

from qianka.cli import arrays, common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import Text

app = common.new_app("取消任务", "cancel a job")


@app.command(
    help=t("取消一个任务或整个数组；已结束的不变", "cancel a job or a whole array; what has ended stays as it is")
)
def cancel(job: Annotated[str, typer.Argument(metavar="ID")], json: Json = False) -> None:
    from qianka.client import arrays as calls

    with common.client() as client:
        if calls.is_array(job):
            array = calls.cancel(client, job)
            if not output.result(array):
                arrays.say(array)
            return
        found = client.cancel(job)
    if output.result(found):
        return
    if found.state == "RUNNING":
        output.say(Text(f"{job} 正在停止", f"{job} is being stopped"))
    else:
        output.say(f"{job} {found.state}")
