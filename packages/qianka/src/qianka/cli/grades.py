"""`qianka grades`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import BadInput, Text

app = common.new_app("成绩", "grades")


@app.command(help=t("自己的成绩；教师加 --cohort 看全班", "your grades; with --cohort, staff see the class"))
def grades(
    cohort: Annotated[str | None, typer.Option("--cohort", "-c", help=t("全班的成绩", "grades of a class"))] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help=t("导出到 CSV 文件", "export to a CSV file"))] = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        if csv is not None:
            if cohort is None:
                raise BadInput(Text("--csv 要和 --cohort 一起用", "--csv goes with --cohort"))
            csv.write_bytes(client.grades_csv(cohort))
            if not output.result({"file": csv}):
                output.say(Text(f"已导出到 {csv}", f"written to {csv}"))
            return
        found = client.grades(cohort)
    if output.result(found):
        return
    if cohort is None:
        headings = [t("课程班", "cohort"), t("实验", "lab"), t("结果", "result"), t("得分", "points")]
        output.table(
            headings, [[g.cohort, g.lab, g.verdict_text or g.verdict, points(g.points, g.max_points)] for g in found]
        )
        return
    headings = [
        t("学号", "number"),
        t("姓名", "name"),
        t("班级", "section"),
        t("实验", "lab"),
        t("结果", "result"),
        t("得分", "points"),
    ]
    rows = [
        [
            g.student_number or g.login,
            g.name,
            g.section,
            g.lab,
            g.verdict_text or g.verdict,
            points(g.points, g.max_points),
        ]
        for g in found
    ]
    output.table(headings, rows)


def points(value: float | None, of: float | None) -> str:
    """Points as people write them."""
    return "-" if value is None else f"{value:g}" if of is None else f"{value:g}/{of:g}"
