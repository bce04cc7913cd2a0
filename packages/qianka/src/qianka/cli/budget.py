"""`qianka budget`."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.clock import utc_offset

app = common.new_app("本周额度和用量", "this week's budget and use")


@app.command(help=t("本周额度和用量（小时）", "this week's budget and use, in hours"))
def budget(json: Json = False) -> None:
    with common.client() as client:
        found = client.budgets()
    if output.result(found):
        return
    headings = [
        t("课程班", "cohort"),
        t("资源", "resource"),
        t("额度", "limit"),
        t("已用", "used"),
        t("占用中", "held"),
        t("重置时间", "renewed at"),
    ]
    rows = []
    for one in found:
        ends = one.week_ends_at.astimezone(ZoneInfo(one.zone))
        until = f"{ends:%m-%d %H:%M} ({utc_offset(ends)})"
        for name, limit, used, held in (
            ("CPU", one.cpu_limit, one.cpu_used, one.cpu_held),
            ("GPU", one.gpu_limit, one.gpu_used, one.gpu_held),
        ):
            shown = t("不限", "none") if limit is None else f"{limit:g}"
            rows.append([one.cohort, name, shown, f"{used:.3f}", f"{held:.3f}", until])
    output.table(headings, rows)
