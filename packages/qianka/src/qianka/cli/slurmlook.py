"""What `qianka doctor` says of Slurm when `engine.name` is slurm: commands, controller, accounting, who submits."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from qianka import settings
from qianka.errors import Text
from qianka.settings import Settings

COMMANDS = ("sbatch", "squeue", "sacct", "scancel", "sinfo")
PATIENCE = 20.0
Found = tuple[str, str, Text, Text | None]


def look(found: Settings) -> list[Found]:
    """(name, level, text, fix) of each finding; nothing where jobs run on this machine."""
    if found.engine_name != "slurm":
        return []
    missing = [name for name in COMMANDS if shutil.which(name) is None]
    if missing:
        text = Text(f"缺 Slurm 命令：{'、'.join(missing)}", f"Slurm's commands are missing: {', '.join(missing)}")
        fix = Text(
            "在这台机器上装 Slurm 客户端（Debian：slurm-client）", "install Slurm's client here (Debian: slurm-client)"
        )
        return [("slurm", "bad", text, fix)]
    said = _controller(found)
    if said[1] == "bad":
        return [said]
    return [said, _accounting(found), *_submitter(found)]


def _controller(found: Settings) -> Found:
    answer = _ask(found, "sinfo", "-h", "-N", "-o", "%N")
    if answer is None:
        place = found.slurm_conf or "/etc/slurm/slurm.conf"
        text = Text(f"Slurm 控制器没有应答（{place}）", f"Slurm's controller does not answer ({place})")
        return (
            "slurm",
            "bad",
            text,
            Text("scontrol ping；检查 slurm.conf、munge", "scontrol ping; see to slurm.conf, munge"),
        )
    count = len(set(answer.split()))
    return "slurm", "ok", Text(f"Slurm 有 {count} 台机器", f"Slurm has {count} nodes"), None


def _accounting(found: Settings) -> Found:
    if _ask(found, "sacct", "-X", "-n", "-P", "-o", "JobID") is not None:
        return "slurm.accounting", "ok", Text("Slurm 记账可用", "Slurm's accounting answers"), None
    text = Text(
        "Slurm 记账不可用：学生自己的任务结束后算不出用量",
        "Slurm's accounting does not answer: what people's own jobs used cannot be told",
    )
    return (
        "slurm.accounting",
        "bad",
        text,
        Text("启用 slurmdbd（AccountingStorageType）", "enable slurmdbd (AccountingStorageType)"),
    )


def _submitter(found: Settings) -> list[Found]:
    findings: list[Found] = []
    if found.slurm_people == "login" and os.geteuid() != 0:
        text = Text(
            "不以 root 启动：学生自己的任务以服务用户的身份在沙箱里运行，不能多机",
            "not started by root: people's own jobs run as the service, in its sandbox, on one node each",
        )
        fix = Text(
            "以 root 启动 qianka up，由启动器代他们提交", "start qianka up as root: its launcher submits for them"
        )
        findings.append(("slurm.people", "warn", text, fix))
    if found.sandbox_minimum == "full" and found.sandbox_backend != "none":
        text = Text(
            "Slurm 节点上没有启动器，评分至多是“降级”隔离，而 sandbox.minimum 要求 full：评分任务不会运行",
            'there is no launcher on Slurm\'s nodes: gradings are "degraded" at best, sandbox.minimum asks for full: '
            "no grading will run",
        )
        findings.append(
            ("slurm.isolation", "bad", text, Text("设 sandbox.minimum = degraded", "set sandbox.minimum = degraded"))
        )
    place = Path(found.data_dir)
    text = Text(
        f"数据目录 {place} 和 Python 环境要在所有节点可见的共享文件系统上",
        f"the data directory {place} and the Python environment must lie on a file system that all nodes see",
    )
    return [*findings, ("slurm.shared", "ok", text, None)]


def _ask(found: Settings, *argv: str) -> str | None:
    values = {"SLURM_CONF": found.slurm_conf} if found.slurm_conf else {}
    try:
        return subprocess.run(
            argv,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
            env={**settings.with_environment({}), **values},
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
