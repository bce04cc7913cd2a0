"""Machines and use as bodies of the API."""

from __future__ import annotations

from typing import Any

from qianka.errors import Language, Text
from qianka.schemas.usage import Machines, Node, NodeCard, NodeJob, Part, Top, TopLine, UsageSample
from qianka.server.health import Finding
from qianka.services import machines, top
from qianka.services.jobs import JobUsage

_KEYS = {"database": "database", "worker": "worker", "disk": "disk"}


def usage(found: JobUsage) -> list[UsageSample]:
    """The samples of a job, each with its place in its run."""
    return [
        UsageSample(
            run=one.run,
            at=one.at,
            seconds=round(max(0.0, (one.at - found.started.get(one.run, one.at)).total_seconds()), 1),
            cpu_percent=one.cpu_percent,
            memory=one.memory,
            card_percent=one.card_percent,
            card_memory=one.card_memory,
        )
        for one in found.samples
    ]


def top_of(found: top.Top) -> Top:
    """The week's best."""
    return Top(
        cohort=found.cohort.slug,
        week_starts_at=found.week.start,
        week_ends_at=found.week.end,
        zone=found.cohort.zone,
        lines=[
            TopLine(
                rank=line.rank,
                name=line.name,
                mine=line.is_mine,
                gpu_hours=round(line.gpu_hours, 3),
                cpu_hours=round(line.cpu_hours, 3),
                gpu_busy=_rounded(line.gpu_busy),
                cpu_busy=_rounded(line.cpu_busy),
            )
            for line in found.lines
        ],
    )


def machines_of(found: machines.Machines, parts: dict[str, Any], wrong: list[Finding], language: Language) -> Machines:
    """All machines, with the parts of the platform."""
    return Machines(
        parts=parts_of(parts, wrong, language),
        nodes=[node(one) for one in found.machines],
        waiting=found.waiting,
        waiting_since=found.since,
    )


def node(found: machines.Machine) -> Node:
    """One machine."""
    load, running = found.load, found.running
    holders = {card["index"]: place for place, one in enumerate(running) for card in one.row.cards}
    cards = []
    for card in found.node.cards:
        percent, used = (None, None) if load is None else load.cards.get(card.uuid, (None, None))
        cards.append(
            NodeCard(
                index=card.index,
                uuid=card.uuid,
                model=card.model,
                memory=card.memory,
                simulated=card.simulated,
                job=holders.get(card.index),
                percent=percent,
                memory_used=used,
            )
        )
    return Node(
        name=found.node.name,
        alive=found.node.alive,
        cores=len(found.node.cores),
        cores_taken=len({core for one in running for core in one.row.cores}),
        memory=found.node.memory,
        memory_taken=sum(one.row.memory for one in running),
        cpu_percent=None if load is None else _rounded(load.cpu_percent),
        memory_used=None if load is None else load.memory_used,
        seen_at=None if load is None else load.at,
        cards=cards,
        jobs=[_job(one) for one in running],
    )


def parts_of(parts: dict[str, Any], wrong: list[Finding], language: Language) -> list[Part]:
    """Database, worker, sandbox and disk: in order, or what is wrong and what to do."""
    faults = {_part_of(finding.code): finding for finding in reversed(wrong)}
    free = parts["disk"]["free"] / 1e9
    level = parts["sandbox"].get("level")
    well = {
        "database": Text("有应答", "answers"),
        "worker": Text("在运行，评分正常", "runs: hand-ins are graded"),
        "sandbox": Text("完整隔离", "full isolation") if level else Text("还没有查过", "not looked at yet"),
        "disk": Text(f"剩余 {free:.0f} GB", f"{free:.0f} GB free"),
    }
    told = []
    for key, text in well.items():
        fault = faults.get(key)
        said = text if fault is None else fault.text
        fix = None if fault is None or fault.fix is None else fault.fix.say(language)
        told.append(Part(key=key, ok=fault is None, text=said.say(language), fix=fix))
    return told


def _part_of(code: str) -> str:
    return "sandbox" if code.startswith("isolation_") else _KEYS.get(code, code)


def _job(one: machines.Running) -> NodeJob:
    row, sample = one.row, one.sample
    fresh = sample if sample is not None and sample.run == row.run else None
    return NodeJob(
        id=row.id if one.is_known else None,
        name=row.name if one.is_known else None,
        person=row.person if one.is_known else None,
        cohort=one.cohort,
        kind=row.kind,
        state=row.state,
        cores=list(row.cores),
        cards=[card["index"] for card in row.cards],
        memory_limit=row.memory,
        started_at=row.started_at,
        wall_limit=row.wall_limit,
        cpu_percent=None if fresh is None else _rounded(fresh.cpu_percent),
        memory=None if fresh is None else fresh.memory,
        card_percent=None if fresh is None else _rounded(fresh.card_percent),
        card_memory=None if fresh is None else fresh.card_memory,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
