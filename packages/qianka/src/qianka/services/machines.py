"""The machines as staff sees them: who runs what, and how busy each node and card is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from qianka.domain.people import STAFF
from qianka.domain.resources import Node
from qianka.errors import Forbidden, NotFound, Text
from qianka.services import nodes
from qianka.services.nodes import Load
from qianka.services.platform import Caller, Platform
from qianka.store.repos import people
from qianka.store.repos import usage as repo
from qianka.store.tables import UsageSample

_STAFF = tuple(role.value for role in STAFF)


@dataclass(frozen=True)
class Running:
    """A job that holds a part of a node; `cohort` is None where the caller may not know whose it is."""

    row: Any
    is_known: bool
    cohort: str | None
    sample: UsageSample | None


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One node with what runs on it; `load` None: not seen from the worker's machine."""

    node: Node
    running: list[Running]
    load: Load | None


@dataclass(frozen=True)
class Machines:
    """All nodes, and how many jobs wait since when."""

    machines: list[Machine]
    waiting: int
    since: datetime | None


def look(platform: Platform, caller: Caller) -> Machines:
    """All machines. Raises Forbidden for whoever is staff of no cohort.

    Of jobs outside of the caller's own cohorts it tells what they hold, not whose they are.
    """
    with platform.store.reading() as session:
        mine = [] if caller.person_id is None else people.cohorts_of(session, caller.person_id)
        led = {row.id: row.slug for row, place in mine if place.state == "active" and place.role in _STAFF}
        if not (led or caller.is_admin):
            raise Forbidden(
                Text("机器的情况只给教师和助教看", "the machines are shown to teachers and assistants"),
                Text("自己任务的用量在任务页上", "what your own jobs use stands on their pages"),
                reason="staff_only",
            )
        slugs = {row.id: row.slug for row in people.all_cohorts(session)} if caller.is_admin else led
        rows = repo.running(session)
        samples = repo.newest(session, [row.id for row in rows])
        waiting, since = repo.waiting(session)
    running = [_running(row, caller, slugs, samples) for row in rows]
    return Machines(_by_node(platform, running), waiting, since)


def look_at(platform: Platform, caller: Caller, name: str) -> Machine:
    """One machine; raises NotFound, and Forbidden as `look` does."""
    for machine in look(platform, caller).machines:
        if machine.node.name == name:
            return machine
    raise NotFound(
        Text(f"没有名为 {name} 的机器", f"there is no node named {name}"),
        Text("在“机器”页上看有哪些", "see the page of the nodes for those there are"),
        reason="no_node",
    )


def _running(row: Any, caller: Caller, slugs: Mapping[int, str], samples: Mapping[str, UsageSample]) -> Running:
    cohort = slugs.get(row.cohort_id) if row.cohort_id is not None else None
    known = caller.is_admin or cohort is not None or row.person_id == caller.person_id
    return Running(row, known, cohort, samples.get(row.id))


def _by_node(platform: Platform, running: list[Running]) -> list[Machine]:
    load = nodes.known_load(platform)
    told = nodes.known(platform)
    names = {node.name for node in told}
    # A node of which the engine no longer tells may still have something to end.
    gone = sorted({one.row.node for one in running} - names)
    every = [*told, *(Node(name=name, cores=(), memory=0, alive=False) for name in gone)]
    return [
        Machine(
            node=node,
            running=[one for one in running if one.row.node == node.name],
            load=load if load is not None and load.node == node.name else None,
        )
        for node in every
    ]
