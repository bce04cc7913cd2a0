"""Why a job waits or ended, said in both languages; the one table of reason codes of jobs."""

from __future__ import annotations

from typing import Any

from qianka.errors import Text

REASONS: dict[str, Text] = {
    # why it waits
    "waiting_cores": Text("等待空闲的 CPU 核", "waiting for free cores"),
    "waiting_memory": Text("等待空闲的内存", "waiting for free memory"),
    "waiting_cards": Text("等待空闲的显卡", "waiting for a free card"),
    "waiting_turn": Text("等前面的大任务先开始", "waiting for a bigger job in front to start"),
    "waiting_retry": Text("平台故障，稍后自动重试", "a platform fault; it will be tried again by itself"),
    "no_node": Text("没有在线的机器", "no machine is up"),
    "impossible": Text(
        "没有一台机器有这么多资源；请取消后减少资源再提交",
        "no machine is that large; cancel it and ask for less",
    ),
    # why it ended
    "timeout_wall": Text("超过时间上限", "the time limit was reached"),
    "timeout_cpu": Text("超过 CPU 时间上限", "the limit of CPU time was reached"),
    "out_of_memory": Text("内存超过上限", "the memory limit was reached"),
    "output_limit": Text("打印内容超过上限", "too much was printed"),
    "disk_full": Text("写出的文件超过上限", "more was written than the limit allows"),
    "process_limit": Text("进程数超过上限", "too many processes"),
    "cancelled": Text("已取消", "cancelled"),
    "sandbox": Text("隔离环境没能建立（平台故障）", "the sandbox could not be set up (a platform fault)"),
    "spawn": Text("程序没能启动", "the program could not be started"),
    "lost": Text("运行中断，没有结果（平台故障）", "the run was cut off without a result (a platform fault)"),
    "stale": Text("已被新的一次运行取代", "a newer run took its place"),
}


def reason_text(reason: dict[str, Any] | None) -> Text | None:
    """The sentence of a job's `reason`; None for none, the code itself for one not in the table."""
    if not reason or not reason.get("code"):
        return None
    code = str(reason["code"])
    return REASONS.get(code, Text(code, code))
