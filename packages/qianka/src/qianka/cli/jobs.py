"""`qianka jobs`: a list."""

from __future__ import annotations

from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.output import t

app = common.new_app("任务列表", "list jobs")


@app.command(help=t("自己的任务，新的在前", "your jobs, newest first"))
def jobs(
    everybody: Annotated[
        bool, typer.Option("--all", "-a", help=t("所有人的（教师、管理员）", "everybody's, for staff"))
    ] = False,
    cohort: CohortOption = None,
    state: Annotated[str | None, typer.Option("--state", help="PENDING,RUNNING,…")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="run, grade, reference")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=500)] = 20,
    json: Json = False,
) -> None:
    with common.client() as client:
        page = client.jobs(limit=limit, everybody=everybody, cohort=cohort, state=state, kind=kind)
    if output.result(page):
        return
    headings = [t("任务", "job"), t("名称", "name"), t("状态", "state"), t("原因", "reason"), t("用时", "seconds")]
    rows = [[j.id, j.name, j.state, j.reason_text, None if j.wall is None else f"{j.wall:.1f}"] for j in page.items]
    output.table(headings, rows)
