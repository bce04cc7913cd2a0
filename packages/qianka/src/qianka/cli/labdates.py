"""`qianka lab dates|extend|extensions|revoke`: when a lab is due, for whom, and who is moved by a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from qianka.cli import common, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.moments import due_instant, instant, shown_time
from qianka.cli.output import t
from qianka.errors import BadInput, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qianka.client.api import Client
    from qianka.schemas.dates import Extension, Move, MyDates

LabArgument = Annotated[str, typer.Argument(help=t("实验", "the lab"))]
MaybeLab = Annotated[str | None, typer.Argument(help=t("实验；不写为所有实验", "the lab; none: all labs"))]
ReasonOption = Annotated[
    str,
    typer.Option(
        "--reason", help=t("理由（当事人看得到，并记入审计）", "why; whom it concerns sees it, and it is audited")
    ),
]
Apply = Annotated[bool, typer.Option("--apply", help=t("照预览写入", "do what the preview shows"))]
LoginOption = Annotated[str | None, typer.Option("--login", help=t("某个人", "a person"))]


def register(app: typer.Typer) -> None:
    """Add these commands to `qianka lab`."""
    add = app.command
    add("dates", help=t("截止时间：看自己的；教师可改", "when it is due: one's own; teachers change it"))(dates)
    add("extend", help=t("给一个人或一个班级延期（教师、助教）", "more time for a person or a section (staff)"))(extend)
    add("extensions", help=t("列出延期（教师、助教）", "list extensions (staff)"))(extensions)
    add("revoke", help=t("撤销一个延期（教师、助教）", "take an extension back (staff)"))(revoke)


def dates(
    lab: LabArgument,
    cohort: CohortOption = None,
    due: Annotated[
        str | None, typer.Option("--due", help=t("新截止；none 取消", "new due date; none lifts it"))
    ] = None,
    opens: Annotated[str | None, typer.Option("--opens", help=t("新开放时间；none 取消", "new opening; none"))] = None,
    lock: Annotated[
        str | None,
        typer.Option("--lock", help=t("此后什么都不收；none 取消", "nothing is taken later; none lifts it")),
    ] = None,
    login: Annotated[str | None, typer.Option("--login", help=t("看某个人的（教师）", "somebody's, for staff"))] = None,
    apply: Apply = False,
    json: Json = False,
) -> None:
    """Show the dates, or change them: first whose grades would move, then with --apply."""
    with common.client() as client:
        slug = common.one_cohort(client, cohort)
        if due is None and opens is None and lock is None:
            _show(client.dates.mine(slug, lab, login))
            return
        zone = _zone(client, slug)
        given = {"opens": (opens, instant), "due": (due, due_instant), "locks": (lock, due_instant)}
        fields = {
            name: None if text.strip().lower() == "none" else read(text, zone)
            for name, (text, read) in given.items()
            if text is not None
        }
        found = client.dates.change(slug, lab, **fields, preview=not apply)
    if output.result(found):
        return
    if apply:
        output.say(Text(f"截止：{shown_time(found.due_at, zone)}", f"due: {shown_time(found.due_at, zone)}"))
        if found.locks_at is not None:
            at = shown_time(found.locks_at, zone)
            output.say(Text(f"关闭：{at}", f"locked: {at}"))
    show_moves(found.moves, preview=not apply)


def extend(
    lab: MaybeLab = None,
    reason: ReasonOption = "",
    cohort: CohortOption = None,
    login: LoginOption = None,
    section: Annotated[str | None, typer.Option("--section", help=t("某个班级", "a section"))] = None,
    days: Annotated[int, typer.Option("--days", min=0, help=t("多几个日历日", "calendar days more"))] = 0,
    hours: Annotated[float, typer.Option("--hours", min=0, help=t("多几小时", "hours more"))] = 0.0,
    until: Annotated[
        str | None,
        typer.Option("--until", help=t("或到某个时间（课程班时区）", "or until a time in the cohort's zone")),
    ] = None,
    apply: Apply = False,
    json: Json = False,
) -> None:
    """Tell whose grades would move; with --apply give the extension."""
    with common.client() as client:
        slug = common.one_cohort(client, cohort)
        ends = due_instant(until, _zone(client, slug))
        found = client.dates.extend(
            slug,
            lab=lab,
            login=login,
            section=section,
            days=days,
            hours=hours,
            until=None if ends is None else ends.isoformat(),
            reason=_needed(reason),
            preview=not apply,
        )
    if output.result(found):
        return
    one = found.extension
    if apply:
        output.say(Text(f"已给延期 {one.id}：{_aim(one)} {one.more}", f"extension {one.id}: {_aim(one)} {one.more}"))
    show_moves(found.moves, preview=not apply)


def extensions(
    lab: MaybeLab = None,
    cohort: CohortOption = None,
    revoked: Annotated[bool, typer.Option("--revoked", help=t("连同已撤销的", "with those taken back"))] = False,
    json: Json = False,
) -> None:
    """Who has more time, how much, why, and who gave it."""
    with common.client() as client:
        slug = common.one_cohort(client, cohort)
        found = client.dates.extensions(slug, lab, revoked=revoked)
        zone = "UTC" if output.mode.json else _zone(client, slug)
    if output.result(found):
        return
    headings = [t("编号", "id"), t("给谁", "for"), t("实验", "lab"), t("多少", "more"), t("理由", "reason")]
    rows: list[list[Any]] = []
    for one in found:
        given = one.created_at.astimezone(ZoneInfo(zone))
        state = t("已撤销：", "revoked: ") + (one.revoke_reason or "") if one.revoked_at is not None else ""
        rows.append(
            [
                one.id,
                _whom(one),
                one.lab or t("所有", "all"),
                one.more,
                one.reason,
                f"{given:%m-%d %H:%M}",
                one.by,
                state,
            ]
        )
    output.table([*headings, t("时间", "given"), t("谁给的", "by"), ""], rows)


def revoke(
    extension: Annotated[str, typer.Argument(help=t("延期的编号", "id of the extension"))],
    reason: ReasonOption = "",
    cohort: CohortOption = None,
    apply: Apply = False,
    json: Json = False,
) -> None:
    """Tell whose grades would move; with --apply take it back."""
    with common.client() as client:
        found = client.dates.revoke(common.one_cohort(client, cohort), extension, _needed(reason), preview=not apply)
    if output.result(found):
        return
    if apply:
        output.say(Text(f"已撤销 {extension}", f"revoked: {extension}"))
    show_moves(found.moves, preview=not apply)


def show_moves(moves: Sequence[Move], *, preview: bool) -> None:
    """Whose grades move, and by how much."""
    if moves:
        headings = [t("账号", "login"), t("姓名", "name"), t("实验", "lab"), t("原来", "was"), t("变为", "is")]
        rows = [[m.login, m.name, m.lab, m.before, m.after, f"{m.moved:+g}", m.days_late, m.late_days] for m in moves]
        output.table([*headings, "±", t("迟交天数", "days late"), t("用宽限天", "late days")], rows)
    count = len(moves)
    if not moves:
        output.say(Text("没有成绩变动", "no grade moves"))
    if preview:
        output.say(
            Text(
                f"这是预览，{count} 个成绩会变，什么都没写；加 --apply 写入",
                f"a preview: {count} grades would move, nothing is written without --apply",
            )
        )


def _show(found: MyDates) -> None:
    if output.result(found):
        return
    output.say(Text(f"截止：{found.sentence}", f"due: {found.sentence}"))
    if found.opens_at is not None:
        at = shown_time(found.opens_at, found.zone)
        output.say(Text(f"开放：{at}", f"opens: {at}"))
    if found.locks_at is not None:
        at = shown_time(found.locks_at, found.zone)
        output.say(Text(f"关闭：{at}，此后不收", f"locked: {at}; nothing is taken later"))
    output.say(Text(f"迟交：{found.late_rule}", f"late: {found.late_rule}"))
    if found.late_days:
        left = found.late_days - found.late_days_used
        output.say(Text(f"宽限天数：共 {found.late_days}，剩 {left}", f"late days: {left} of {found.late_days} left"))


def _aim(one: Extension) -> str:
    return f"{_whom(one)} · {one.lab or t('所有实验', 'all labs')}"


def _whom(one: Extension) -> str:
    return one.login if one.login is not None else t(f"班级 {one.section}", f"section {one.section}")


def _needed(reason: str) -> str:
    if not reason.strip():
        raise BadInput(
            Text("要写理由", "a reason is needed"), Text("--reason '病假'", "--reason 'ill'"), reason="reason"
        )
    return reason


def _zone(client: Client, slug: str) -> str:
    return next((one.zone for one in client.cohorts() if one.slug == slug), "UTC")
