"""`qianka board`."""

from __future__ import annotations

from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.output import t

app = common.new_app("排行榜", "the board of a lab")


@app.command(help=t("一个实验的排行榜；名字是化名，* 是自己", "the board of a lab; names are aliases, * is you"))
def board(
    lab: Annotated[str, typer.Argument(help=t("实验", "the lab"))],
    cohort: CohortOption = None,
    top: Annotated[int, typer.Option("--top", min=1, max=1000, help=t("显示前几名", "how many lines"))] = 20,
    json: Json = False,
) -> None:
    with common.client() as client:
        found = client.board(common.one_cohort(client, cohort), lab, top)
    if output.result(found):
        return
    output.say(f"{found.title}  {found.metric}")
    if not found.entries:
        output.say(t("还没有成绩", "nothing yet"))
        return
    headings = [t("名次", "rank"), t("名字", "name"), t("成绩", "score"), t("得分", "points")]
    rows = [[e.rank, ("* " if e.mine else "  ") + e.name, e.score, e.points] for e in found.entries]
    output.table(headings, rows)
