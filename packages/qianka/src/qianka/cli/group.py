"""`qianka group`: form a group, or have staff form them from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import CohortOption, EncodingOption, Json
from qianka.cli.lab import due_instant, shown_time
from qianka.cli.output import t
from qianka.errors import NotFound, Text

if TYPE_CHECKING:
    from qianka.client.api import Client
    from qianka.client.boards import Groups
    from qianka.schemas.groups import Group

app = common.new_app("小组：组队、邀请、导入", "groups: form one, invite, import", group=True)

GroupId = Annotated[int, typer.Argument(help=t("小组编号", "number of the group"))]
For = Annotated[
    str,
    typer.Option("--for", help=t("只用于这个实验或排行榜", "for this lab or board alone; else for the whole cohort")),
]


@app.command("list", help=t("自己的小组和邀请；教师看全部", "your groups and invitations; all of them for staff"))
def list_(cohort: CohortOption = None, json: Json = False) -> None:
    with common.client() as client:
        found = _groups(client).of_cohort(common.one_cohort(client, cohort))
    if not output.result(found):
        _table(found)


@app.command(help=t("新建小组（学生）", "make a group with you in it"))
def create(
    name: Annotated[str, typer.Argument(help=t("组名", "its name"))],
    scope: For = "",
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        made = _groups(client).create(common.one_cohort(client, cohort), name, scope)
    if not output.result(made):
        output.say(Text(f"已建小组 {made.name}，编号 {made.id}", f"made group {made.name}, number {made.id}"))


@app.command(help=t("邀请同学", "ask a classmate"))
def invite(
    group: GroupId, login: Annotated[str, typer.Argument(help=t("登录名", "login"))], json: Json = False
) -> None:
    with common.client() as client:
        found = _groups(client).invite(group, login)
    if not output.result(found):
        _table([found])


@app.command(help=t("接受邀请", "join a group that asked you"))
def accept(group: GroupId, json: Json = False) -> None:
    with common.client() as client:
        found = _groups(client).accept(group)
    if not output.result(found):
        _table([found])


@app.command(help=t("退出小组或拒绝邀请", "leave a group, or decline"))
def leave(group: GroupId, json: Json = False) -> None:
    with common.client() as client:
        _groups(client).leave(group)
    if not output.result({"left": group}):
        output.say(Text("已退出", "left"))


@app.command(
    "import", help=t("从 CSV 分组（教师）：小组、学号", "make groups of a CSV (staff): group, login or number")
)
def import_(
    file: Annotated[Path, typer.Argument(help=t("CSV 文件", "CSV file"))],
    scope: For = "",
    cohort: CohortOption = None,
    encoding: EncodingOption = None,
    json: Json = False,
) -> None:
    if not file.is_file():
        raise NotFound(Text(f"没有文件 {file}", f"there is no file {file}"))
    with common.client() as client:
        where = common.one_cohort(client, cohort)
        found = _groups(client).import_csv(where, file.read_bytes(), scope, encoding)
    if not output.result(found):
        _table(found)


@app.command(help=t("组队规则；带 --size 则设定（教师）", "how groups are formed; with --size: set it (staff)"))
def rules(
    size: Annotated[int | None, typer.Option("--size", min=1, max=20, help=t("人数上限", "members at most"))] = None,
    lock: Annotated[
        str | None, typer.Option("--lock", help=t("组队截止", "until when students may change them"))
    ] = None,
    staff_only: Annotated[
        bool, typer.Option("--staff-only", help=t("只由教师分组", "only staff makes groups"))
    ] = False,
    scope: For = "",
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        where = common.one_cohort(client, cohort)
        zone = next((one.zone for one in client.cohorts() if one.slug == where), "UTC")
        if size is not None:
            locks = due_instant(lock, zone)
            at = None if locks is None else locks.isoformat()
            _groups(client).set_rules(where, scope=scope, size=size, by_students=not staff_only, locks_at=at)
        found = _groups(client).rules(where)
    if not output.result(found):
        headings = [t("用于", "for"), t("人数", "size"), t("谁组队", "by"), t("截止", "locks")]
        students, staff = t("学生", "students"), t("教师", "staff")
        rows = [
            [one.scope or "*", one.size, students if one.by_students else staff, shown_time(one.locks_at, zone)]
            for one in found
        ]
        output.table(headings, rows)


def _groups(client: Client) -> Groups:
    from qianka.client.boards import Groups

    return Groups(client.transport)


def _table(groups: list[Group]) -> None:
    headings = [t("编号", "number"), t("组名", "name"), t("用于", "for"), t("成员", "members"), t("已邀请", "asked")]
    rows = [
        [one.id, one.name, one.scope or "*", *(" ".join(p.login for p in some) for some in (one.members, one.invited))]
        for one in groups
    ]
    output.table(headings, rows)
