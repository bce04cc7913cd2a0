"""`qianka backup create | verify | restore`: on the machine of the data, while the platform is up or not."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from qianka import settings
from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.lock import holder
from qianka.cli.output import t
from qianka.cli.serverprocess import Bars, run
from qianka.clock import utc_offset
from qianka.errors import Conflict, NotFound, Text

app = common.new_app("备份与恢复", "backups", group=True)

_DAMAGED = 7
Config = Annotated[Path | None, typer.Option("--config", help=t("配置文件", "settings file"))]
DataDir = Annotated[Path | None, typer.Option("--data-dir", help=t("数据目录", "data directory"))]
Folder = Annotated[Path, typer.Argument(help=t("备份文件夹", "the folder of a backup"))]


@app.command(help=t("做一份备份；平台可以在运行", "make a backup; the platform may be up"))
def create(
    into: Annotated[
        Path, typer.Argument(help=t("放备份的目录，最好在另一块磁盘", "where to put it: best another disk"))
    ],
    data_dir: DataDir = None,
    config: Config = None,
    without_jobs: Annotated[
        bool, typer.Option("--without-jobs", help=t("不带任务的输出文件", "leave out what jobs left"))
    ] = False,
    json: Json = False,
) -> None:
    found, values = _settings(data_dir, config)
    root = Path(found.data_dir)
    if not root.is_dir():
        raise NotFound(
            Text(f"没有数据目录 {root}", f"there is no data directory {root}"),
            Text("用 --data-dir 指定", "name it with --data-dir"),
            reason="no_data_dir",
        )
    _make_for(into.absolute(), root)
    arguments = [str(into.absolute())] + (["--without-jobs"] if without_jobs else [])
    with Bars("备份", "backing up") as watched:
        made = run("qianka.server.backup", arguments, values, config=config, owner_of=root, watched=watched)
    if output.result(made):
        return
    output.say(made["folder"])
    size, linked = made["bytes"] / 1e6, made["linked"] / 1e6
    output.say(
        Text(
            f"  {made['files']} 个文件，{size:.1f} MB（其中 {linked:.1f} MB 与上一份共用），"
            f"{made['counts'].get('submission', 0)} 份提交",
            f"  {made['files']} files, {size:.1f} MB ({linked:.1f} MB of it shared with the one before), "
            f"{made['counts'].get('submission', 0)} hand-ins",
        )
    )
    _say_notes(made["notes"])
    output.say(
        Text(
            "  里面有密钥和口令散列：只给管理员看，并复制一份到别的机器",
            "  it holds keys and password hashes: for operators alone; keep a copy on another machine",
        )
    )


@app.command(
    help=t("检查一份备份：散列、数据库、引用、回执签名", "look at a backup: hashes, database, references, receipts")
)
def verify(backup: Folder, json: Json = False) -> None:
    with Bars("检查", "verifying") as watched:
        found = run("qianka.server.restore", ["verify", str(backup.absolute())], {}, watched=watched)
    if not output.result(found):
        made = datetime.fromisoformat(found["made_at"]).astimezone()
        when = f"{made:%Y-%m-%d %H:%M:%S} ({utc_offset(made)})"
        if found["ok"]:
            output.say(
                Text(
                    f"✓ 完好：{when}，{found['files']} 个文件，{found['receipts']} 份回执签名有效",
                    f"✓ sound: {when}, {found['files']} files, {found['receipts']} receipts verified",
                )
            )
        for problem in found["problems"]:
            output.say("✗ " + Text(*problem).say(output.language()))
        _say_notes(found["notes"])
    if not found["ok"]:
        raise typer.Exit(_DAMAGED)


@app.command(help=t("把备份恢复到空的数据目录", "restore a backup into an empty data directory"))
def restore(backup: Folder, data_dir: DataDir = None, config: Config = None, json: Json = False) -> None:
    found, values = _settings(data_dir, config)
    running = holder(Path(found.data_dir))
    if running:
        raise Conflict(
            Text(
                f"{found.data_dir} 上的平台正在运行（{running.get('address')}），没有动它",
                f"a platform is up on {found.data_dir} ({running.get('address')}); it was left as it is",
            ),
            Text("先停掉它，并把旧的数据目录移走", "stop it first and move the old data directory away"),
            reason="already_up",
        )
    with Bars("恢复", "restoring") as watched:
        arguments = ["restore", str(backup.absolute())]
        told = run("qianka.server.restore", arguments, values, config=config, watched=watched)
    if output.result(told):
        return
    output.say(
        Text(
            f"已恢复到 {told['data_dir']}：{told['submissions']} 份提交，{told['files']} 个文件",
            f"restored into {told['data_dir']}: {told['submissions']} hand-ins, {told['files']} files",
        )
    )
    if told["lost"]:
        output.say(
            Text(
                f"  备份时在运行的 {told['lost']} 个任务会重新运行，不计额度",
                f"  {told['lost']} jobs that ran at the time will be run again, charged to nobody",
            )
        )
    output.say(
        Text(
            "  接着：qianka runtime build（学生环境不在备份里），再 qianka up",
            "  next: qianka runtime build (the student runtime is not in a backup), then qianka up",
        )
    )


def _settings(data_dir: Path | None, config: Path | None) -> tuple[settings.Settings, dict[str, Any]]:
    """The settings, and those of them that a process must be told."""
    overrides = {"data.dir": None if data_dir is None else str(data_dir.absolute())}
    found = settings.load(config, overrides=overrides).settings
    return found, {"data.dir": found.data_dir, "runtime.dir": found.runtime_dir}


def _make_for(into: Path, data_dir: Path) -> None:
    """Make the place for backups, for whoever the platform runs as: they write it, not root."""
    if into.exists():
        return
    into.mkdir(parents=True, mode=0o700)
    stat = data_dir.stat()
    if os.geteuid() == 0 and stat.st_uid != 0:
        os.chown(into, stat.st_uid, stat.st_gid)


def _say_notes(notes: list[list[str]]) -> None:
    for note in notes:
        output.say("  " + Text(*note).say(output.language()))
