"""`qianka cohort`."""

from __future__ import annotations

from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import Text

app = common.new_app("课程班", "cohorts", group=True)


@app.command(help=t("新建课程班（管理员）", "make a cohort (administrators)"))
def create(
    slug: Annotated[str, typer.Argument(help=t("代号，如 ai-2026", "name, such as ai-2026"))],
    title: Annotated[str, typer.Option("--title", help=t("名称", "title"))] = "",
    zone: Annotated[str, typer.Option("--zone", help=t("IANA 时区", "IANA time zone"))] = "Asia/Shanghai",
    term: Annotated[str, typer.Option("--term", help=t("学期", "term"))] = "",
    week_start: Annotated[
        str, typer.Option("--week-start", help=t("额度周的起点：星期 时:分", "start of the budget week: weekday HH:MM"))
    ] = "1 00:00",
    cpu_hours: Annotated[
        float | None, typer.Option("--cpu-hours", min=0, help=t("每人每周 CPU 小时", "CPU-hours a person and week"))
    ] = None,
    gpu_hours: Annotated[
        float | None, typer.Option("--gpu-hours", min=0, help=t("每人每周 GPU 小时", "GPU-hours a person and week"))
    ] = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        made = client.create_cohort(
            slug=slug,
            title=title or slug,
            zone=zone,
            term=term,
            week_start=week_start,
            cpu_hours=cpu_hours,
            gpu_hours=gpu_hours,
        )
    if not output.result(made):
        output.say(Text(f"已建课程班 {made.slug}：{made.title}", f"made the cohort {made.slug}: {made.title}"))


@app.command(
    "late-days",
    help=t(
        "每人在整门课里可用的宽限天数（教师）；先预览，加 --apply 写入",
        "late days of each person in the whole cohort (teachers); a preview without --apply",
    ),
)
def late_days(
    days: Annotated[int, typer.Argument(min=0, max=366, help=t("天数", "days"))],
    cohort: common.CohortOption = None,
    apply: Annotated[bool, typer.Option("--apply", help=t("照预览写入", "do what the preview shows"))] = False,
    json: Json = False,
) -> None:
    from qianka.cli import labdates

    with common.client() as client:
        found = client.dates.late_days(common.one_cohort(client, cohort), days, preview=not apply)
    if not output.result(found):
        labdates.show_moves(found.moves, preview=not apply)


@app.command("list", help=t("你所在的课程班", "the cohorts you are in"))
def list_(json: Json = False) -> None:
    with common.client() as client:
        found = client.cohorts()
    if not output.result(found):
        headings = [t("代号", "name"), t("名称", "title"), t("角色", "role"), t("时区", "zone")]
        output.table(headings, [[c.slug, c.title, common.role_text(c.role), c.zone] for c in found])
