"""`qianka worker`: dispatcher, grader and reaper, by themselves."""

from __future__ import annotations

import os
import signal
import threading
from typing import Annotated

import typer

from qianka import logs
from qianka.cli import common
from qianka.cli.output import t

app = common.new_app("单独运行调度与评分", "run dispatcher and grader by themselves")


@app.command(
    help=t("单独运行调度与评分；一个数据目录只有一个在工作", "run dispatcher and grader; one of them works at a time")
)
def worker(child: Annotated[bool, typer.Option("--child", hidden=True)] = False) -> None:
    from qianka.worker.main import run

    logs.set_up()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if child:
        threading.Thread(target=_end_with_parent, args=(stop,), daemon=True).start()
    run(common.load_settings(), stop)


def _end_with_parent(stop: threading.Event) -> None:
    while os.read(0, 1024):
        pass
    stop.set()
