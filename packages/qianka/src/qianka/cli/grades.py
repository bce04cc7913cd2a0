"""`qianka grades`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import BadInput, Text

if TYPE_CHECKING:
    from qianka.schemas.boards import GradeLine

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
        if cohort is not None:
            _class(client.class_grades(cohort))
            return
        found = client.grades()
    if output.result(found):
        return
    headings = [t("课程班", "cohort"), t("实验", "lab"), t("结果", "result"), t("得分", "points")]
    rows = [[g.cohort, g.lab, g.verdict_text or g.verdict, points(g.points, g.max_points)] for g in found]
    output.table(headings, rows)


def _class(lines: list[GradeLine]) -> None:
    if output.result(lines):
        return
    labs = sorted({lab for line in lines for lab in line.grades})
    headings = [t("学号", "number"), t("姓名", "name"), t("班级", "section"), *labs, t("合计", "total")]
    rows = []
    for line in lines:
        cells = [line.grades.get(lab) for lab in labs]
        shown = [None if cell is None else cell.points for cell in cells]
        rows.append([line.student_number or line.login, line.name, line.section, *shown, line.total])
    output.table(headings, rows)


def points(value: float | None, of: float | None) -> str:
    """Points as people write them."""
    return "-" if value is None else f"{value:g}" if of is None else f"{value:g}/{of:g}"
