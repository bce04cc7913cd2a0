"""`qianka demo`: a platform with a made-up class that hands in a lab and is graded."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Annotated

import typer

from qianka import settings
from qianka.cli import common, embedded, output, samples
from qianka.cli.common import Json
from qianka.cli.demo import classroom, people, report
from qianka.cli.demo.handins import Handins
from qianka.cli.embedded import Handle
from qianka.cli.lock import holder
from qianka.cli.output import t
from qianka.cli.samples import Sample
from qianka.errors import BadInput, SandboxRefused, Text

app = common.new_app("演示课程班", "a demo class")

PORT = 8750
LAB = "lab1-mnist"
DIFFERENT = 1
"""exit status when a sample was graded other than it states"""


@app.command(help=t("演示班提交实验 1，排队、评分、出榜", "a demo class hands in lab 1, is queued, graded and ranked"))
def demo(
    once: Annotated[bool, typer.Option("--once", help=t("出榜后结束", "end after the board"))] = False,
    isolation: Annotated[
        str | None, typer.Option("--isolation", help=t("none：不隔离", "none: without a sandbox"))
    ] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help=t("数据目录", "data directory"))] = None,
    port: Annotated[int, typer.Option("--port", help=t("端口；被占用时任选", "port; any other when taken"))] = PORT,
    course: Annotated[Path | None, typer.Option("--course", help=t("课程目录", "folder of the course"))] = None,
    json: Json = False,
) -> None:
    lab = _course(course) / "labs" / LAB
    folder = data_dir or _data_dir()
    began = time.monotonic()
    contained = isolation != "none"
    if contained:
        _need_sandbox(folder)
    runtime = _runtime(folder)
    ready = time.monotonic()
    platform = _start(folder, port, runtime, contained=contained)
    try:
        chosen, left = _choose(samples.load(lab), contained=contained)
        classroom.prepare(platform, lab, students=len(chosen))
        output.say(Text(f"网页：{platform.url}", f"web: {platform.url}"))
        handins = Handins(platform, LAB, chosen)
        outcomes = handins.run()
        report.show(platform, LAB, outcomes, left)
        failed = [one for one in outcomes if one.differences]
        facts = {
            "graded": len(outcomes),
            "not_run": len(left),
            "as_stated": len(outcomes) - len(failed),
            "first_live_line_s": round(handins.first_line or 0.0, 2),
            "first_verdict_s": round(handins.began - ready + (handins.first_verdict or 0.0), 2),
            "all_s": round(time.monotonic() - began, 1),
        }
        if not output.result(facts):
            output.say("  ".join(f"{key}={value}" for key, value in facts.items()))
        if not once:
            _serve(platform)
    finally:
        platform.stop()
    if failed:
        raise typer.Exit(DIFFERENT)


def _course(given: Path | None) -> Path:
    here = Path(__file__).resolve()
    for folder in [given] if given else [Path.cwd() / "course", *(parent / "course" for parent in here.parents)]:
        if folder and (folder / "labs" / LAB / "lab.toml").exists():
            return folder
    raise BadInput(
        Text("找不到课程目录（course/）", "the folder of the course (course/) was not found"),
        Text("在仓库里运行，或用 --course 指定", "run it in the repository, or name it with --course"),
    )


def _data_dir() -> Path:
    usual = settings.default_data_dir()
    return usual.with_name(usual.name + "-demo")


def _runtime(folder: Path) -> Path:
    """The student runtime: the one named in the settings, else the demo's own, built now if need be."""
    from qianka.adapters import runtime

    loaded = settings.load()
    found = loaded.settings
    if loaded.sources["runtime.dir"] != "default":
        return Path(found.runtime_dir)
    target = folder / "runtime"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    runtime.build(target, torch_index=found.mirror_torch_cpu, say=output.note)
    return target


def _need_sandbox(folder: Path) -> None:
    from qianka.sandbox import selftest

    found = selftest.probe("auto", str(folder))
    level = found["level"]
    for missing in found["missing"]:
        output.note(Text(f"缺：{missing['zh']}", f"missing: {missing['en']}"))
        output.note(Text(f"  办法：{missing['fix_zh']}", f"  fix: {missing['fix_en']}"))
    if level == "refuse":
        raise SandboxRefused(
            Text(
                "这台机器不能隔离学生代码，什么都没有运行", "this machine cannot contain student code; nothing was run"
            ),
            Text(
                "装好后再来：apt-get install bubblewrap；或只跑自带样例：make demo DEMO_ISOLATION=none",
                "mend it: apt-get install bubblewrap; or run the shipped samples alone: make demo DEMO_ISOLATION=none",
            ),
        )
    output.say(Text(f"隔离级别：{level}", f"isolation level: {level}"))


def _start(folder: Path, port: int, runtime: Path, *, contained: bool) -> Handle:
    taken = holder(folder)
    if taken:
        output.note(Text(f"演示好像已在运行：{taken.get('address')}", f"a demo seems to be up: {taken.get('address')}"))
    return embedded.start(
        folder,
        server_port=_free(port),
        runtime_dir=str(runtime),
        sandbox_backend="auto" if contained else "none",
        sandbox_minimum="degraded" if contained else "none",
    )


def _free(port: int) -> int:
    import socket

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            output.note(Text(f"端口 {port} 被占用，换一个", f"port {port} is taken, using another"))
            return 0
    return port


def _choose(found: list[Sample], *, contained: bool) -> tuple[list[Sample], list[Sample]]:
    """The samples to hand in, and those that are not run without a sandbox."""
    return (
        [sample for sample in found if contained or not sample.needs_isolation],
        [sample for sample in found if not contained and sample.needs_isolation],
    )


def _serve(platform: Handle) -> None:
    first = people.student_number(0).lower()
    output.say(
        Text(
            f"\n网页 {platform.url}\n教师：{classroom.TEACHER}    学生：{first} …    密码都是 {people.PASSWORD}\n"
            "按 Ctrl-C 停止；数据会保留",
            f"\nweb {platform.url}\nteacher: {classroom.TEACHER}    student: {first} …    password: {people.PASSWORD}\n"
            "Ctrl-C stops it; the data are kept",
        )
    )
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
