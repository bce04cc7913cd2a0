"""`qianka doctor`: what this machine can do, what is missing, and the fix of each."""

from __future__ import annotations

import json as json_module
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from qianka.cli import common, embedded, identity, output, serverprocess, slurmlook
from qianka.cli.common import Json
from qianka.cli.lock import holder
from qianka.cli.output import t
from qianka.clock import utc_offset
from qianka.errors import QiankaError, Text
from qianka.settings import Settings

app = common.new_app("检查本机", "look at this machine")

_MARKS = {"ok": "✓", "warn": "!", "bad": "✗"}
GB = 1_000_000_000


class Finding(NamedTuple):
    """One thing that was looked at: ok, warn or bad, and what to do."""

    name: str
    level: str
    text: Text
    fix: Text | None = None


@app.command(help=t("本机能做什么、缺什么、怎么补", "what this machine can do, what is missing, how to mend it"))
def doctor(
    isolation: Annotated[str, typer.Option("--isolation", help=t("要检查的隔离方式", "what to check"))] = "",
    apparmor: Annotated[
        bool,
        typer.Option(
            "--apparmor", help=t("只打印 Ubuntu 24.04 需要的 AppArmor 配置", "only print the AppArmor profile")
        ),
    ] = False,
    json: Json = False,
) -> None:
    if apparmor:
        output.write(_apparmor())
        return
    found = common.load_settings()
    checks: list[Callable[[], list[Finding]]] = [
        _python,
        lambda: _sandbox(found, isolation or found.sandbox_backend),
        _cgroups,
        lambda: _disk(found),
        lambda: _port(found),
        lambda: _database(found),
        _runtime,
        _clock,
        lambda: _user(found),
        lambda: [Finding(*one) for one in slurmlook.look(found)],
    ]
    findings = [finding for check in checks for finding in check()]
    bad = any(finding.level == "bad" for finding in findings)
    language = output.language()
    shown = [
        {
            "name": one.name,
            "level": one.level,
            "message": one.text.say(language),
            "fix": None if one.fix is None else one.fix.say(language),
        }
        for one in findings
    ]
    if not output.result({"ok": not bad, "findings": shown}):
        for one in findings:
            output.say(f"{_MARKS[one.level]} {one.text.say(language)}")
            if one.fix is not None:
                output.say("\n".join("    " + line for line in one.fix.say(language).splitlines()))
    if bad:
        raise typer.Exit(4)


def _apparmor() -> str:
    from qianka.sandbox.apparmor import PROFILE

    return PROFILE


def _python() -> list[Finding]:
    version = platform.python_version()
    text = Text(f"Python {version}（{sys.executable}）", f"Python {version} ({sys.executable})")
    return [Finding("python", "ok", text)]


def _sandbox(found: Settings, backend: str) -> list[Finding]:
    from qianka.sandbox import selftest

    place = Path(found.data_dir)
    scratch = place if place.is_dir() else Path.cwd()
    runtime = embedded.find_runtime()
    # As root the runtime lies where runs reach it only through the launcher, which tries that itself.
    is_tried = os.geteuid() != 0 and embedded.is_runtime(runtime)
    report = selftest.probe(
        backend,
        scratch,
        runtime=str(runtime) if is_tried else None,
        image=found.sandbox_image or None,
        sock=found.sandbox_docker_socket,
    )
    level = str(report["level"])
    grade = {"full": "ok", "degraded": "warn", "none": "warn"}.get(level, "bad")
    names = {"full": "完整", "degraded": "降级", "none": "无", "refuse": "不可用，学生代码不会运行"}
    by = str(report["backend"])
    first = Text(f"隔离级别：{names.get(level, level)}（{by}）", f"isolation: {level} ({by})")
    findings = [Finding("sandbox", grade, first)]
    if report.get("engine"):
        findings.append(_engine(report))
    for item in report["missing"]:
        text = Text(f"缺：{item['zh']}", f"missing: {item['en']}")
        fix = Text(str(item.get("fix_zh") or ""), str(item.get("fix_en") or ""))
        findings.append(Finding(f"sandbox.{item['code']}", grade, text, fix if fix.zh or fix.en else None))
    return findings


def _engine(report: dict[str, Any]) -> Finding:
    """Which container engine, and why not bubblewrap."""
    engine = report["engine"]
    with_runtime = f", {engine['runtime']}" if engine["runtime"] else ""
    why = [item for item in report["notes"] if item["code"] in ("bubblewrap", "namespaces", "seccomp", "interpreter")]
    zh = f"容器引擎 {engine['path']}{with_runtime}" + "".join(f"；bubblewrap 不可用：{item['zh']}" for item in why)
    en = f"container engine {engine['path']}{with_runtime}" + "".join(f"; no bubblewrap: {item['en']}" for item in why)
    fix = Text(why[0]["fix_zh"], why[0]["fix_en"]) if why else None
    return Finding("sandbox.engine", "ok", Text(zh, en), fix)


def _cgroups() -> list[Finding]:
    if (Path("/sys/fs/cgroup") / "cgroup.controllers").exists():
        version = "v2"
    elif Path("/sys/fs/cgroup/memory").is_dir():
        version = "v1"
    else:
        text = Text("没有控制组：内存上限靠轮询", "no control groups: memory limits by polling")
        return [Finding("cgroup", "warn", text)]
    return [Finding("cgroup", "ok", Text(f"控制组 {version}", f"control groups {version}"))]


def _disk(found: Settings) -> list[Finding]:
    place = Path(found.data_dir)
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    text = Text(f"{place} 剩 {free / GB:.1f} GB", f"{free / GB:.1f} GB free at {place}")
    if free < 2 * GB:
        return [Finding("disk", "bad", text, Text("至少要 2 GB", "at least 2 GB are needed"))]
    return [Finding("disk", "warn" if free < 10 * GB else "ok", text)]


def _database(found: Settings) -> list[Finding]:
    if not found.database_url:
        return [
            Finding("database", "ok", Text("数据库：数据目录里的 SQLite", "database: SQLite in the data directory"))
        ]
    values = {"data.dir": found.data_dir, "database.url": found.database_url}
    try:
        facts = serverprocess.run("qianka.server.database", [], values, owner_of=Path(found.data_dir))
    except QiankaError as error:
        return [Finding("database", "bad", error.message, error.hint)]
    what = f"PostgreSQL {facts['version']}" if facts["kind"] == "postgresql" else f"SQLite {facts['version']}"
    text = Text(f"数据库：{what}，{facts['address']}", f"database: {what}, {facts['address']}")
    if facts["collation"] not in ("C", "POSIX", "C.UTF-8", "C.utf8"):
        fix = Text(
            f"排序规则是 {facts['collation']}：系统升级后可能要重建索引；新建库时用 --locale=C",
            f"its collation is {facts['collation']}: an upgrade of the system may call for a reindex; "
            "create databases with --locale=C",
        )
        return [Finding("database", "ok", text, fix)]
    return [Finding("database", "ok", text)]


def _port(found: Settings) -> list[Finding]:
    running = holder(Path(found.data_dir))
    if running:
        where = running.get("address")
        return [Finding("port", "ok", Text(f"平台正在运行：{where}", f"the platform is up: {where}"))]
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((found.server_host, found.server_port))
        except OSError as error:
            port = found.server_port
            text = Text(f"端口 {port} 用不了：{error.strerror}", f"port {port} cannot be used: {error.strerror}")
            return [Finding("port", "warn", text, Text("qianka up --port 换一个", "take another: qianka up --port"))]
    return [Finding("port", "ok", Text(f"端口 {found.server_port} 空闲", f"port {found.server_port} is free"))]


def _runtime() -> list[Finding]:
    place = embedded.find_runtime()
    if not embedded.is_runtime(place):
        text = Text(f"还没有学生运行环境（{place}）", f"no student runtime yet ({place})")
        return [Finding("runtime", "warn", text, Text("运行 qianka runtime build", "run qianka runtime build"))]
    facts: dict[str, Any] = json_module.loads((place / "runtime.json").read_text("utf-8"))
    torch = facts.get("torch")
    return [
        Finding("runtime", "ok", Text(f"学生环境 {place}，torch {torch}", f"student runtime {place}, torch {torch}"))
    ]


def _clock() -> list[Finding]:
    now = datetime.now().astimezone()
    shown = f"{now:%Y-%m-%d %H:%M:%S} ({utc_offset(now)})"
    text = Text(f"时间 {shown}", f"the time is {shown}")
    if time.time() < 1_735_689_600:  # 2025: receipts of the past prove nothing
        return [Finding("clock", "bad", text, Text("时间不对，先校准（NTP）", "that is wrong: set it (NTP)"))]
    synchronised = _ask("timedatectl", "show", "-p", "NTPSynchronized", "--value")
    if synchronised == "no":
        return [
            Finding(
                "clock",
                "warn",
                text,
                Text("时钟没有同步：timedatectl set-ntp true", "not synchronised: timedatectl set-ntp true"),
            )
        ]
    return [Finding("clock", "ok", text)]


def _user(found: Settings) -> list[Finding]:
    if os.geteuid() != 0:
        return [Finding("user", "ok", Text("以普通用户运行", "running as an ordinary user"))]
    why = identity.look(found.service_user)
    if why.why is None:
        name = found.service_user
        return [Finding("user", "ok", Text(f"服务将以用户 {name} 运行", f"the service will run as {name}"))]
    text = Text(f"服务将以 root 运行：{why.why.zh}", f"the service will run as root: {why.why.en}")
    return [Finding("user", "warn", text, why.fix)]


def _ask(*argv: str) -> str | None:
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
