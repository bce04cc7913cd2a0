"""Why a job waits or ended, said in both languages; the one table of reason codes of jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from qianka.clock import utc_offset
from qianka.errors import Text

REASONS: dict[str, Text] = {
    # why it waits
    "waiting_cores": Text("等待空闲的 CPU 核", "waiting for free cores"),
    "waiting_memory": Text("等待空闲的内存", "waiting for free memory"),
    "waiting_cards": Text("等待空闲的显卡", "waiting for a free card"),
    "waiting_turn": Text("等前面的大任务先开始", "waiting for a bigger job in front to start"),
    "waiting_array": Text(
        "同一数组里同时运行的任务已到上限（%N）", "as many jobs of its array run as may at once (%N)"
    ),
    "waiting_retry": Text("平台故障，稍后自动重试", "a platform fault; it will be tried again by itself"),
    "no_node": Text("没有在线的机器", "no machine is up"),
    "engine_silent": Text("Slurm 没有应答，恢复后自动提交", "Slurm does not answer; it is submitted once it does"),
    "slurm_new": Text("刚提交给 Slurm", "submitted to Slurm just now"),
    "slurm_resources": Text("等待空闲的资源", "waiting for free resources"),
    "slurm_priority": Text("等优先级更高的任务先开始", "waiting for jobs of higher priority to start"),
    "slurm_budget": Text("Slurm 账户的机时额度不够", "the Slurm account's share of hours does not cover it"),
    "slurm_limit": Text("达到 Slurm 账户或 QOS 的上限", "a limit of the Slurm account or QOS is reached"),
    "slurm_dependency": Text("等它依赖的任务", "waiting for the job it depends on"),
    "slurm_begin": Text("还没到开始时间", "its begin time has not come"),
    "slurm_held": Text("被挂起，等管理员放行", "held; somebody has to release it"),
    "slurm_partition": Text("分区关闭或达到分区上限", "the partition is closed, or its limits are in the way"),
    "slurm_nodes": Text("需要的机器不在线或被预留", "nodes that it needs are down or reserved"),
    "slurm_licences": Text("等待许可证", "waiting for licences"),
    "slurm_reservation": Text("等待预留时段", "waiting for its reservation"),
    "slurm_constraints": Text("没有满足约束的机器", "no node meets its constraints"),
    "slurm_waits": Text("在 Slurm 里排队", "waiting in Slurm"),
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
    "cancelled_outside": Text(
        "有人直接在 Slurm 上取消了它（scancel）", "somebody cancelled it at Slurm itself (scancel)"
    ),
    "preempted": Text("被优先级更高的任务抢占", "preempted by a job of higher priority"),
    "slurm_refused": Text("Slurm 不收这个任务", "Slurm did not take it"),
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
    text = REASONS.get(code, Text(code, code))
    said = str(reason.get("text") or "")
    if not said or not code.startswith(("slurm_", "cancelled_outside")):
        return text
    # Slurm's own word as well: it is what its manual and its operators speak of.
    return Text(f"{text.zh}（Slurm：{said}）", f"{text.en} (Slurm: {said})")


def unknown_text(answered_at: datetime | None) -> Text:
    """Said of a job whose engine does not answer: nobody knows where it stands, since when."""
    if answered_at is None:
        return Text("引擎没有应答；任务的状态未知", "the engine does not answer: where the job stands is not known")
    here = answered_at.astimezone()
    when = f"{here:%Y-%m-%d %H:%M:%S} ({utc_offset(here)})"
    return Text(
        f"引擎没有应答；状态未知，最后一次应答是 {when}。任务没有丢，恢复后接着算",
        f"the engine does not answer: where the job stands is not known; it last answered at {when}. Nothing is lost: "
        "it goes on when the engine is back",
    )
