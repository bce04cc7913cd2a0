"""Which waiting jobs start now and where; a reason code for each that does not.

Jobs are looked at in order. The first that finds no room gets a reservation at the earliest instant
at which its room will be free by the wall limits of what runs; later ones may start only where they
do not delay it (EASY backfill), so neither do small jobs starve a big one nor does it idle the node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from qianka.domain.jobs import Occupied, Waiting
from qianka.domain.resources import Node, Placement, Resources
from qianka.policy import place
from qianka.policy.order import by_age, order
from qianka.policy.place import Free
from qianka.policy.usage import cost

_Kind = Resources

REASONS = ("waiting_cards", "waiting_memory", "waiting_cores", "waiting_turn", "waiting_array", "no_node", "impossible")


@dataclass
class Plan:
    """What to start now, in this order, and why the others wait."""

    placements: dict[str, Placement] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass
class _Reservation:
    node: str
    at: datetime
    beside: Free
    """what will be free then, beside the job that holds the reservation"""


def plan(
    now: datetime,
    nodes: Sequence[Node],
    running: Sequence[Occupied],
    pending: Iterable[Waiting],
    used: Mapping[int, float] | None = None,
) -> Plan:
    """Decide for all of `pending`. `used`: decayed use a person; None: no fair share, by age alone."""
    free = place.free_on(nodes, running)
    held = list(running)
    at_once = Counter(job.array for job in running if job.array is not None)
    result = Plan()
    reservation: _Reservation | None = None
    fits: dict[_Kind, str | None] = {}
    blocked: dict[tuple[_Kind, float], str] = {}
    for job in queue(running, pending, used):
        if not free:
            result.reasons[job.job] = "no_node"
            continue
        kind = job.resources
        if kind not in fits:
            fits[kind] = place.never_fits(nodes, job.resources)
        if fits[kind]:
            result.reasons[job.job] = "impossible"
            continue
        if job.array is not None and job.array_most is not None and at_once[job.array] >= job.array_most:
            # It reserves nothing: room alone would not let it start.
            result.reasons[job.job] = "waiting_array"
            continue
        alike = (kind, job.wall_limit)
        # What is free only shrinks here, so what found no room finds none later on either.
        room = blocked.get(alike) or _room(now, free, job, reservation)
        if isinstance(room, str):
            result.reasons[job.job] = blocked[alike] = room
            reservation = reservation or _reserve(now, free, held, job)
            continue
        placement = room.take(job.resources)
        if reservation and reservation.node == placement.node and _outlasts(now, job, reservation):
            reservation.beside.take(job.resources)
        result.placements[job.job] = placement
        if job.array is not None:
            at_once[job.array] += 1
        held.append(_occupied(now, job, placement))
    return result


def queue(running: Iterable[Occupied], pending: Iterable[Waiting], used: Mapping[int, float] | None) -> list[Waiting]:
    """`pending` in the order in which they are looked at; what runs counts as used to its limit."""
    if used is None:
        return by_age(pending)
    reserved = dict(used)
    for job in running:
        reserved[job.person] = reserved.get(job.person, 0.0) + cost(job.cpus, len(job.cards), job.wall_limit)
    return order(pending, reserved)


def _room(now: datetime, free: dict[str, Free], job: Waiting, reservation: _Reservation | None) -> Free | str:
    """The fullest node with room for `job` now, or why there is none."""
    lacking: list[str] = []
    roomy: list[Free] = []
    for name, view in free.items():
        lack = view.lacks(job.resources)
        if lack is None and reservation and reservation.node == name and _outlasts(now, job, reservation):
            lack = "turn" if reservation.beside.lacks(job.resources) else None
        if lack is None:
            roomy.append(view)
        else:
            lacking.append(lack)
    if roomy:
        return min(roomy, key=Free.tightness)
    # The reason is that of the node which came closest.
    return "waiting_" + min(lacking, key=("turn", "cores", "memory", "cards").index)


def _outlasts(now: datetime, job: Waiting, reservation: _Reservation) -> bool:
    return now + timedelta(seconds=job.wall_limit) > reservation.at


def _reserve(now: datetime, free: dict[str, Free], held: list[Occupied], job: Waiting) -> _Reservation | None:
    """The earliest instant at which `job` has room on some node."""
    best: _Reservation | None = None
    for name, view in free.items():
        later = view.copy()
        for other in sorted((o for o in held if o.node == name), key=_end):
            later.give(other)
            if later.lacks(job.resources) is None:
                at = max(now, _end(other))
                if best is None or at < best.at:
                    later.take(job.resources)
                    best = _Reservation(name, at, later)
                break
    return best


def _end(job: Occupied) -> datetime:
    return job.started_at + timedelta(seconds=job.wall_limit)


def _occupied(now: datetime, job: Waiting, placement: Placement) -> Occupied:
    return Occupied(
        job=job.job,
        person=job.person,
        node=placement.node,
        cores=placement.cores,
        cards=tuple(card.index for card in placement.cards),
        memory=job.resources.memory,
        started_at=now,
        wall_limit=job.wall_limit,
        cpus=job.resources.cpus,
        array=job.array,
    )
