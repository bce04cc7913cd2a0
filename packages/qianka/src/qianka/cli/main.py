"""`qianka`: finds the command and loads only its module.

The list of commands is a table, so that `qianka --help` loads neither Typer nor an HTTP client.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from qianka.errors import QiankaError, Text


class Command(NamedTuple):
    """A command: the module of `qianka.cli` that holds its `app`, and one line of help."""

    module: str
    help: Text


class Group(NamedTuple):
    """Commands shown together."""

    title: Text
    commands: dict[str, Command]


def _c(module: str, zh: str, en: str) -> Command:
    return Command(module, Text(zh, en))


GROUPS = (
    Group(
        Text("学生", "students"),
        {
            "login": _c("login", "登录一个平台（第一次用激活码）", "sign in (the first time with a one-time code)"),
            "check": _c("check", "提交前在本机检查", "check a hand-in on this machine first"),
            "turnin": _c(
                "turnin", "提交实验，保存回执，跟随评分", "hand in a lab, keep the receipt, follow the grading"
            ),
            "grades": _c("grades", "成绩", "grades"),
            "board": _c("board", "排行榜：查看、提交预测、选定", "boards: look, enter predictions, choose"),
            "group": _c("group", "小组：组队、邀请", "groups: form one, invite"),
            "submission": _c("submission", "一份提交的来历", "where a hand-in came from"),
            "budget": _c("budget", "本周额度和用量", "this week's budget and use"),
            "receipt": _c("receipt", "验证回执（不用联网）", "verify a receipt, offline"),
        },
    ),
    Group(
        Text("任务", "jobs"),
        {
            "submit": _c("submit", "提交自己的任务", "submit a job of one's own"),
            "jobs": _c("jobs", "任务列表", "list jobs"),
            "job": _c("job", "一个任务：状态、排队位置、用量", "one job: state, place in the queue, use"),
            "logs": _c("logs", "任务输出（-f 跟随）", "output of a job (-f follows)"),
            "cancel": _c("cancel", "取消任务", "cancel a job"),
        },
    ),
    Group(
        Text("教师", "teachers"),
        {
            "cohort": _c("cohort", "课程班：新建、列表", "cohorts: create, list"),
            "people": _c("people", "名单：导入、列表、添加", "people: import a roster, list, add"),
            "lab": _c("lab", "实验：新建、检查、发布、取回", "labs: new, check, publish, get"),
        },
    ),
    Group(
        Text("管理员", "operators"),
        {
            "up": _c("up", "启动平台", "start the platform"),
            "worker": _c("worker", "单独运行调度与评分", "run dispatcher and grader by themselves"),
            "demo": _c("demo.command", "演示课程班，自动提交并评分", "a demo cohort hands in and is graded"),
            "doctor": _c(
                "doctor", "检查本机：隔离级别、磁盘、端口", "what this machine can do: isolation, disk, ports"
            ),
            "runtime": _c("runtime", "建立学生运行环境", "build the student runtime"),
            "data": _c("data", "数据集", "data sets"),
            "backup": _c("backup", "备份：做、检查、恢复", "backups: create, verify, restore"),
            "config": _c("config", "每项设置的值和来源", "each setting and where it came from"),
            "version": _c("version", "版本", "version"),
        },
    ),
)
COMMANDS: dict[str, Command] = {name: command for group in GROUPS for name, command in group.commands.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; its exit status (docs/reference/exit-codes.md)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return _help()
    name = {"--version": "version", "-V": "version"}.get(arguments[0], arguments[0])
    command = COMMANDS.get(name)
    if command is None:
        return _unknown(name)
    try:
        return _run(command.module, name, arguments[1:])
    except QiankaError as error:
        from qianka.cli import output

        output.refusal(error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _run(module: str, name: str, arguments: list[str]) -> int:
    from importlib import import_module

    found = import_module(f"qianka.cli.{module}")
    try:
        found.app(args=arguments, prog_name=f"qianka {name}")
    except SystemExit as end:  # how Typer ends, well or not
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _help() -> int:
    from qianka.cli import output

    language = output.language()
    lines = [output.t("用法：qianka 命令 [选项]", "usage: qianka COMMAND [OPTIONS]"), ""]
    for group in GROUPS:
        lines.append(group.title.say(language))
        lines.extend(f"  {name:<9} {command.help.say(language)}" for name, command in group.commands.items())
    lines += [
        "",
        output.t(
            "qianka 命令 --help 看一个命令；--json 输出 JSON；语言由 QIANKA_LANGUAGE 或 LANG 决定",
            "qianka COMMAND --help tells of one; --json gives JSON; QIANKA_LANGUAGE or LANG chooses the language",
        ),
    ]
    output.say("\n".join(lines))
    return 0


def _unknown(name: str) -> int:
    import difflib

    from qianka.cli import output

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    output.note(Text(f"没有命令 {name}", f"there is no command {name}"))
    if near:
        output.note(Text(f"是不是 qianka {near[0]}？", f"did you mean qianka {near[0]}?"))
    output.note(Text("qianka --help 列出全部", "qianka --help lists them all"))
    return 2


if __name__ == "__main__":
    sys.exit(main())
