"""`qianka people`: the roster is shown first and applied as shown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import CohortOption, EncodingOption, Json
from qianka.cli.output import t
from qianka.client.credentials import write_private
from qianka.domain.spreadsheet import cell
from qianka.errors import BadInput, NotFound, Text

if TYPE_CHECKING:
    from qianka.schemas.people import ActivationCode, RosterPreview

app = common.new_app("名单与人员", "roster and people", group=True)

_MARKS = {"added": "+", "dropped": "−", "returned": "↩", "changed": "✎"}
CodesOption = Annotated[
    Path | None,
    typer.Option(
        "--codes", help=t("把一次性激活码写到这个文件（0600）", "write the one-time codes to this file (0600)")
    ),
]


@app.command(
    "import", help=t("导入名单：先预览，加 --apply 才写入", "import a roster: a preview, written with --apply")
)
def import_(
    file: Annotated[Path, typer.Argument(help=t("CSV、.xlsx 或教务系统的 .xls", "CSV, .xlsx or the registrar's .xls"))],
    cohort: CohortOption = None,
    apply: Annotated[bool, typer.Option("--apply", help=t("照预览写入", "do what the preview shows"))] = False,
    codes: CodesOption = None,
    encoding: EncodingOption = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help=t("append 只增加；replace 整班替换", "append: add only; replace: the whole class")),
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="= --mode append")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="= --mode replace")] = False,
    json: Json = False,
) -> None:
    mode = _mode(mode, append, replace)
    data = _read(file)
    if apply and codes is not None and codes.exists():
        raise BadInput(Text(f"{codes} 已存在", f"{codes} exists already"), Text("换一个文件名", "name another file"))
    with common.client() as client:
        slug = common.one_cohort(client, cohort)
        preview = client.preview_roster(slug, data, encoding, mode)
        if not apply:
            if not output.result(preview):
                _show(preview)
                output.say(
                    Text("这是预览，什么都没写；加 --apply 写入", "a preview: nothing is written without --apply")
                )
            return
        _show(preview)
        done = client.apply_roster(slug, data, encoding, mode, preview.digest)
    if codes is not None:
        _write_codes(codes, done.codes)
    shown = done.model_dump(mode="json")
    if codes is not None:
        shown["codes"] = str(codes)
    if output.result(shown):
        return
    output.say(Text(f"已写入：{done.summary}", f"written: {done.summary}"))
    _tell_codes(done.codes, codes)


@app.command("list", help=t("班里的人（教师、助教）", "people of a cohort (staff)"))
def list_(cohort: CohortOption = None, json: Json = False) -> None:
    with common.client() as client:
        found = client.people(common.one_cohort(client, cohort))
    if output.result(found):
        return
    headings = [
        t("登录名", "login"),
        t("姓名", "name"),
        t("学号", "number"),
        t("角色", "role"),
        t("班级", "section"),
        t("状态", "state"),
    ]
    rows = [
        [p.login, p.name, p.student_number, common.role_text(p.role), p.section, common.state_text(p.state)]
        for p in found
    ]
    output.table(headings, rows)


@app.command(help=t("手动加一个人", "add somebody by hand"))
def add(
    login: Annotated[str, typer.Argument(help=t("登录名", "login"))],
    name: Annotated[str, typer.Option("--name", help=t("姓名", "name"))] = "",
    role: Annotated[str, typer.Option("--role", help="student, assistant, teacher")] = "student",
    number: Annotated[str | None, typer.Option("--number", help=t("学号", "student number"))] = None,
    section: Annotated[str, typer.Option("--section", help=t("班级", "section"))] = "",
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        added = client.add_person(
            common.one_cohort(client, cohort),
            login=login,
            name=name or login,
            role=role,
            student_number=number,
            section=section,
        )
    if output.result(added):
        return
    shown_role = common.role_text(added.person.role)
    output.say(Text(f"已加入：{added.person.login}（{shown_role}）", f"added: {added.person.login} ({shown_role})"))
    if added.code is not None:
        output.say(
            Text(f"  一次性激活码（只显示这一次）：{added.code}", f"  one-time code (shown this once): {added.code}")
        )


@app.command(help=t("给忘记密码的人一个新激活码", "a new one-time code for a lost password"))
def code(login: Annotated[str, typer.Argument(help=t("登录名", "login"))], json: Json = False) -> None:
    with common.client() as client:
        made = client.new_code(login)
    if not output.result(made):
        output.say(made.code)


def _show(preview: RosterPreview) -> None:
    said = output.note if output.mode.json else output.say
    names = "、".join(preview.sample_names)
    said(
        Text(
            f"编码 {preview.encoding}，{preview.rows} 行，如：{names}",
            f"{preview.encoding}, {preview.rows} rows, such as: {names}",
        )
    )
    rows = [
        [
            _MARKS[c.what],
            c.student_number,
            c.name,
            c.section,
            "; ".join(f"{k}: {a} → {b}" for k, (a, b) in c.fields.items()),
        ]
        for c in preview.changes
    ]
    if rows:
        output.table(["", t("学号", "number"), t("姓名", "name"), t("班级", "section"), t("变化", "changes")], rows)
    for problem in preview.problems:
        said("! " + problem.message)
    for words in preview.notes:
        said("· " + words)
    said(preview.summary)
    if preview.needs_mode:
        said(
            Text(f"? {preview.needs_mode}（--append 或 --replace）", f"? {preview.needs_mode} (--append or --replace)")
        )


def _tell_codes(codes: Sequence[ActivationCode], file: Path | None) -> None:
    if not codes:
        return
    if file is not None:
        output.say(
            Text(
                f"  {len(codes)} 个激活码在 {file}，发给本人后删除",
                f"  {len(codes)} codes are in {file}: hand them out, then delete it",
            )
        )
        return
    output.say(Text("一次性激活码（只显示这一次）：", "one-time codes (shown this once):"))
    output.table(
        [t("登录名", "login"), t("姓名", "name"), t("激活码", "code")], [[c.login, c.name, c.code] for c in codes]
    )


def _write_codes(file: Path, codes: Sequence[ActivationCode]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(["登录名", "姓名", "学号", "激活码"])
    writer.writerows([*map(cell, (c.login, c.name, c.student_number or "")), c.code] for c in codes)
    write_private(file, "\ufeff" + text.getvalue())


def _mode(mode: str | None, append: bool, replace: bool) -> str | None:
    chosen = {*([mode] if mode else []), *(["append"] if append else []), *(["replace"] if replace else [])}
    if len(chosen) > 1 or not chosen <= {"append", "replace"}:
        raise BadInput(Text("--mode 是 append 或 replace", "--mode is append or replace"))
    return chosen.pop() if chosen else None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise NotFound(Text(f"读不了 {file}：{error.strerror}", f"cannot read {file}: {error.strerror}")) from error
