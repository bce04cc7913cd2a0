"""What is free on a node, and which cores and cards a job would get there.

A job of one core or more gets whole cores of its own; a smaller one shares a core with others as long
as their shares add up to one. Cards are handed out whole, memory by the byte. An exclusive job gets an
empty node with all its cores and cards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from qianka.domain.jobs import Occupied
from qianka.domain.resources import Node, Placement, Resources

_WHOLE = 1000  # shares are counted in thousandths: ten times a tenth is one


def shares(cpus: float) -> int:
    """Thousandths of a core that a job takes of each core it is pinned to."""
    return _WHOLE if cpus >= 1 else max(1, math.ceil(round(cpus * _WHOLE, 6)))


def cores_needed(cpus: float) -> int:
    """On how many cores a job is pinned."""
    return max(1, math.ceil(cpus))


class Free:
    """What is free on one node; `take` and `give` change it."""

    def __init__(self, node: Node, occupied: Iterable[Occupied] = ()) -> None:
        self.node = node
        self.cores = dict.fromkeys(node.cores, _WHOLE)
        self.memory = node.memory
        self.cards = {card.index for card in node.cards}
        for job in occupied:
            self._change(job, -1)

    def copy(self) -> Free:
        """A second view that changes by itself."""
        twin = Free(self.node)
        twin.cores, twin.memory, twin.cards = dict(self.cores), self.memory, set(self.cards)
        return twin

    def lacks(self, wanted: Resources) -> str | None:
        """What there is too little of: `nodes`, `cards`, `memory`, `cores`; None when `wanted` fits."""
        if wanted.nodes > 1:
            return "nodes"
        if wanted.exclusive and not self.empty:
            return "cards" if set(self.cores.values()) == {_WHOLE} else "cores"
        if wanted.gpus > len(self.cards):
            return "cards"
        if wanted.memory > self.memory:
            return "memory"
        share, count = shares(wanted.cpus), cores_needed(wanted.cpus)
        free = 0
        for left in self.cores.values():
            free += left >= share
            if free >= count:
                return None
        return "cores"

    def take(self, wanted: Resources) -> Placement:
        """Hand out what `lacks` said is there; to an exclusive job all cores and cards."""
        share, count = shares(wanted.cpus), cores_needed(wanted.cpus)
        gpus = wanted.gpus
        if wanted.exclusive:
            share, count, gpus = _WHOLE, len(self.cores), len(self.cards)
        fitting = [core for core, left in self.cores.items() if left >= share]
        # The fullest core that still fits first: whole cores stay whole for those who need them.
        fitting.sort(key=lambda core: (self.cores[core], core))
        cores = tuple(sorted(fitting[:count]))
        for core in cores:
            self.cores[core] -= share
        self.memory -= wanted.memory
        indexes = sorted(self.cards)[:gpus]
        self.cards.difference_update(indexes)
        cards = tuple(card for card in self.node.cards if card.index in indexes)
        return Placement(node=self.node.name, cores=cores, cards=cards)

    @property
    def empty(self) -> bool:
        """Whether nothing runs on the node."""
        return all(left == _WHOLE for left in self.cores.values()) and len(self.cards) == len(self.node.cards)

    def give(self, job: Occupied) -> None:
        """Take back what a job held."""
        self._change(job, +1)

    def tightness(self) -> tuple[int, int, int]:
        """Sorts nodes so that the fullest comes first and big jobs keep finding room."""
        return len(self.cards), sum(self.cores.values()), self.memory

    def _change(self, job: Occupied, sign: int) -> None:
        share = shares(job.cpus)
        for core in job.cores:
            if core in self.cores:
                self.cores[core] += sign * share
        self.memory += sign * job.memory
        known = {card.index for card in self.node.cards}
        if sign < 0:
            self.cards.difference_update(job.cards)
        else:
            self.cards.update(known.intersection(job.cards))


def free_on(nodes: Iterable[Node], running: Iterable[Occupied]) -> dict[str, Free]:
    """What is free on each living node."""
    jobs: dict[str, list[Occupied]] = {}
    for job in running:
        jobs.setdefault(job.node, []).append(job)
    return {node.name: Free(node, jobs.get(node.name, ())) for node in nodes if node.alive}


def never_fits(nodes: Iterable[Node], wanted: Resources) -> str | None:
    """What even the largest empty node lacks; None when some node could run it. No nodes: None, who knows.

    A job of several nodes is no job of a placement: `nodes`.
    """
    lacking = [Free(node).lacks(wanted) for node in nodes]
    if not lacking or None in lacking:
        return None
    return min((code for code in lacking if code is not None), key=("cores", "memory", "cards", "nodes").index)


def fitting(nodes: Iterable[Node], wanted: Resources) -> int:
    """How many of `nodes`, empty, have what `wanted` asks of each of its nodes."""
    alone = replace(wanted, nodes=1)
    return sum(Free(node).lacks(alone) is None for node in nodes)
