"""`qianka grades`; `grades history` and `grades replay`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from qianka.cli import common, following, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.output import t
from qianka.errors import BadInput, Text

if TYPE_CHECKING:
    from qianka.schemas.boards import Grade, GradeLine

app = common.new_app("成绩", "grades")

_WHY = {
    "graded": Text("评分", "graded"),
    "rerun": Text("单份重评", "graded again"),
    "dates": Text("改了日期", "dates changed"),
    "extension": Text("延期", "extension"),
    "late_days": Text("改了宽限天数", "late days changed"),
    "regrade": Text("重评", "regrade"),
}


@app.callback(
    invoke_without_command=True,
    help=t("自己的成绩；教师加 --cohort 看全班", "your grades; with --cohort, staff see the class"),
)
def grades(
    context: typer.Context,
    cohort: Annotated[str | None, typer.Option("--cohort", "-c", help=t("全班的成绩", "grades of a class"))] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help=t("导出到 CSV 文件", "export to a CSV file"))] = None,
    xlsx: Annotated[
        Path | None,
        typer.Option("--xlsx", help=t("导出到 XLSX，含每个成绩的来由", "a workbook, with how each came about")),
    ] = None,
    json: Json = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    with common.client() as client:
        if (file := csv or xlsx) is not None:
            if cohort is None:
                raise BadInput(Text("--csv、--xlsx 要和 --cohort 一起用", "--csv and --xlsx go with --cohort"))
            file.write_bytes(client.grades_csv(cohort) if csv else client.grades_xlsx(cohort))
            if not output.result({"file": file}):
                output.say(Text(f"已导出到 {file}", f"written to {file}"))
            return
        if cohort is not None:
            _class(client.class_grades(cohort))
            return
        found = client.grades()
    if output.result(found):
        return
    headings = [t("课程班", "cohort"), t("实验", "lab"), t("结果", "result"), t("得分", "points"), t("来由", "because")]
    rows = [[g.cohort, g.lab, g.verdict_text or g.verdict, points(g.points, g.max_points), because(g)] for g in found]
    output.table(headings, rows)


@app.command(help=t("一个成绩怎样变成现在这样", "how a grade came to be what it is"))
def history(
    lab: Annotated[str, typer.Argument(help=t("实验", "the lab"))],
    cohort: CohortOption = None,
    login: Annotated[str | None, typer.Option("--login", help=t("某个人的（教师）", "somebody's, for staff"))] = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        slug = common.one_cohort(client, cohort)
        found = client.dates.history(slug, lab, login)
        zone = "UTC" if output.mode.json else next((c.zone for c in client.cohorts() if c.slug == slug), "UTC")
    if output.result(found):
        return
    headings = [t("时间", "at"), t("原因", "why"), t("原来", "was"), t("变为", "is"), t("扣分", "penalty")]
    rows = []
    for one in found:
        why = _WHY.get(one.why, Text(one.why, one.why)).say(output.language())
        at = f"{one.at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"
        rows.append([at, why, one.before, one.after, one.penalty or None, one.by or t("平台", "platform"), one.reason])
    output.table([*headings, t("谁", "by"), t("理由", "reason")], rows)


@app.command(
    help=t(
        "按原来的版本和参考值再评一次，看结果是否相同；不计分（教师、助教）",
        "grade once more by the same version and reference figures; it never counts (staff)",
    )
)
def replay(
    attempt: Annotated[str, typer.Argument(help=t("评分的编号", "id of the grading"))],
    json: Json = False,
) -> None:
    with common.client() as client:
        made = client.regrades.replay(attempt)
        following.follow(client, made.replay.id, following.Teller())
        found = client.regrades.replayed(made.replay.id)
    if output.result(found):
        return
    if found.same is None:
        output.say(Text("平台没能重放，原成绩不变", "the platform could not replay it; the grade stays"))
    elif found.same:
        output.say(Text("结论和得分都相同", "the same verdict and points"))
    else:
        output.say(Text("结果不同：", "it came out differently:"))
    for change in found.changes:
        pair = [change.was, change.now] if change.before is None and change.after is None else []
        shown = pair or [points(change.before, None), points(change.after, None)]
        output.say(f"  {change.title}: {shown[0]} → {shown[1]}")
    for text in found.environment:
        output.say("  · " + text)


def because(grade: Grade) -> str | None:
    """Why the points are not simply those graded: being late, and what staff decided."""
    told = [_late(grade)]
    if grade.override is not None:
        told.append(t(f"教师改为 {grade.override:g}：", f"set to {grade.override:g}: ") + (grade.override_reason or ""))
    if grade.bonus is not None:
        told.append(t(f"加分 {grade.bonus:+g}：", f"bonus {grade.bonus:+g}: ") + (grade.bonus_reason or ""))
    if grade.comment:
        told.append(t("评语：", "comment: ") + grade.comment)
    return "\n".join(one for one in told if one) or None


def _late(grade: Grade) -> str | None:
    """What being late cost."""
    if not grade.days_late:
        return None
    days = t(f"迟 {grade.days_late} 天", f"{grade.days_late} d late")
    used = t(f"，用宽限 {grade.late_days} 天", f", {grade.late_days} late days") if grade.late_days else ""
    return days + used + (f", −{grade.penalty:g}" if grade.penalty else "")


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
