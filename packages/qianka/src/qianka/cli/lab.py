"""`qianka lab`: new, import, check, publish, list, get."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qianka.cli import common, labdates, labimport, labregrade, labtrial, output, scaffold
from qianka.cli.check import IsolationOption
from qianka.cli.common import CohortOption, Json
from qianka.cli.moments import due_instant as due_instant
from qianka.cli.moments import instant as instant
from qianka.cli.moments import shown_time as shown_time
from qianka.cli.output import t
from qianka.client import archive
from qianka.errors import Conflict, NotFound, Text

if TYPE_CHECKING:
    from qianka.schemas.labs import Lab

app = common.new_app("实验", "labs", group=True)

app.command("import", help=labimport.HELP)(labimport.import_)
labdates.register(app)
app.add_typer(labregrade.app, name="regrade")


@app.command(help=t("新建实验文件夹，能直接通过 lab check", "a new lab folder that passes lab check as it is"))
def new(
    name: Annotated[str, typer.Argument(help=t("文件夹名", "name of the folder"))],
    json: Json = False,
) -> None:
    folder = Path(name)
    if folder.exists() and any(folder.iterdir()):
        raise Conflict(Text(f"{folder} 已存在且不为空", f"{folder} exists and is not empty"))
    files = scaffold.write(folder)
    if not output.result({"folder": folder, "files": files}):
        for file in files:
            output.say(f"  {file}")
        output.say(Text(f"下一步：qianka lab check {name}", f"next: qianka lab check {name}"))


@app.command(
    help=t(
        "检查实验文件夹，并试跑每个样例，与 expect.toml 比对",
        "check lab folders and run every sample against its expect.toml",
    )
)
def check(
    folders: Annotated[list[Path], typer.Argument(help=t("实验文件夹", "lab folders"))],
    sample: Annotated[list[str] | None, typer.Option("--sample", help=t("只跑这个样例", "only this sample"))] = None,
    isolation: IsolationOption = "auto",
    json: Json = False,
) -> None:
    for folder in folders:
        _require_lab(folder)
    reports = [labtrial.run(folder, sample or [], isolation) for folder in folders]
    shown = {"ok": all(report.ok for report in reports), "labs": [report.as_json() for report in reports]}
    if not output.result(shown):
        for report in reports:
            labtrial.show(report)
    if not shown["ok"]:
        raise typer.Exit(1)


@app.command(help=t("发布到课程班（教师）", "publish in a cohort (teachers)"))
def publish(
    folder: Annotated[Path, typer.Argument(help=t("实验文件夹", "the lab's folder"))],
    cohort: CohortOption = None,
    due: Annotated[
        str | None,
        typer.Option(
            "--due",
            help=t(
                '截止，如 "2026-12-20 23:59"（课程班时区）；只写日期为当天 23:59',
                'due, such as "2026-12-20 23:59" in the cohort\'s zone; a date alone: its last minute',
            ),
        ),
    ] = None,
    opens: Annotated[str | None, typer.Option("--opens", help=t("开放时间", "when it opens"))] = None,
    slug: Annotated[
        str | None, typer.Option("--name", help=t("代号；默认文件夹名", "name; the folder's by default"))
    ] = None,
    json: Json = False,
) -> None:
    with common.client() as client, tempfile.TemporaryDirectory(prefix="qianka-") as scratch:
        where = common.one_cohort(client, cohort)
        zone = next((one.zone for one in client.cohorts() if one.slug == where), "UTC")
        file = Path(scratch) / "lab.zip"
        _require_lab(folder)
        archive.pack(folder, file)
        made = client.publish_lab(
            where, file, slug=slug or folder.absolute().name, due=due_instant(due, zone), opens=instant(opens, zone)
        )
    if output.result(made):
        return
    output.say(
        Text(
            f"已发布：{made.title}（{made.cohort}/{made.slug}）",
            f"published: {made.title_en or made.title} ({made.cohort}/{made.slug})",
        )
    )
    output.say(Text(f"  截止：{shown_time(made.due_at, made.zone)}", f"  due: {shown_time(made.due_at, made.zone)}"))
    if made.regrade is not None:
        output.say("  ! " + made.regrade)
    for problem in made.warnings:
        output.say(f"  ! {problem.file}:{problem.line}: {problem.key}: {problem.message}")


@app.command("list", help=t("课程班里的实验", "the labs of a cohort"))
def list_(cohort: CohortOption = None, json: Json = False) -> None:
    with common.client() as client:
        found = client.labs(common.one_cohort(client, cohort))
    if not output.result(found):
        headings = [t("实验", "lab"), t("名称", "title"), t("截止", "due"), t("必交文件", "required")]
        output.table(headings, [_row(one) for one in found])


@app.command(help=t("取回讲义、起始代码和公开数据", "fetch handout, starter and public data"))
def get(
    lab: Annotated[str, typer.Argument(help=t("实验", "the lab"))],
    folder: Annotated[
        Path | None, typer.Argument(help=t("放到哪里；默认同名文件夹", "where to; by default its name"))
    ] = None,
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    import zipfile

    target = folder or Path(lab)
    if target.exists() and any(target.iterdir()):
        raise Conflict(Text(f"{target} 已存在且不为空", f"{target} exists and is not empty"))
    with common.client() as client, tempfile.TemporaryDirectory(prefix="qianka-") as scratch:
        file = Path(scratch) / "public.zip"
        client.public_lab(common.one_cohort(client, cohort), lab, file)
        with zipfile.ZipFile(file) as packed:
            packed.extractall(target)
            names = packed.namelist()
    if not output.result({"folder": target, "files": names}):
        output.say(Text(f"{len(names)} 个文件在 {target}", f"{len(names)} files are in {target}"))


def _row(lab: Lab) -> list[Any]:
    title = lab.title if output.language() == "zh" else lab.title_en or lab.title
    due = lab.due_at if lab.mine is None else lab.mine.due_at
    return [lab.slug, title, shown_time(due, lab.zone), " ".join(lab.required)]


def _require_lab(folder: Path) -> None:
    if not (folder / "lab.toml").is_file():
        raise NotFound(
            Text(f"{folder} 不是实验文件夹：里面没有 lab.toml", f"{folder} is no lab folder: it holds no lab.toml"),
            Text("新建一个：qianka lab new 名字", "make one: qianka lab new NAME"),
            reason="no_lab_file",
        )
