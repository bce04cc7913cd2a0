"""`qianka jobs`: a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from qianka.cli import arrays, common, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.output import t

if TYPE_CHECKING:
    from qianka.schemas.jobs import Job

app = common.new_app("任务列表", "list jobs")


@app.command(help=t("自己的任务，新的在前", "your jobs, newest first"))
def jobs(
    everybody: Annotated[
        bool,
        typer.Option("--all", "-a", help=t("所有人的；教师、助教要加 --cohort", "everybody's; staff name a --cohort")),
    ] = False,
    cohort: CohortOption = None,
    state: Annotated[str | None, typer.Option("--state", help="PENDING,RUNNING,…")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="run, grade, reference")] = None,
    expand: Annotated[
        bool, typer.Option("--expand", help=t("数组里的任务各占一行", "a line for each job of an array"))
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=500)] = 20,
    json: Json = False,
) -> None:
    with common.client() as client:
        page = client.jobs(limit=limit, everybody=everybody, cohort=cohort, state=state, kind=kind, fold=not expand)
    if output.result(page):
        return
    if not page.items:
        output.say(t("没有任务", "no jobs"))
        return
    headings = [t("任务", "job"), t("种类", "kind"), t("名称", "name"), t("状态", "state"), t("原因", "reason")]
    output.table([*headings, t("用时（秒）", "seconds")], [_row(one) for one in page.items])


def _row(job: Job) -> list[Any]:
    if job.array is not None and job.array_states is not None:
        return [job.array, job.kind, job.name, arrays.counts(job.array_states), None, None]
    why = job.reason_text
    if why is None and job.state == "FAILED":
        why = t(f"退出码 {job.exit_code}", f"exit code {job.exit_code}")
    return [job.id, job.kind, job.name, job.state, why, None if job.wall is None else f"{job.wall:.1f}"]
