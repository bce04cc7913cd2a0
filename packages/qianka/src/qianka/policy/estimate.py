"""When a waiting job will start: a range, from what usually happens to what the limits allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from qianka.domain.jobs import Occupied, Waiting
from qianka.domain.resources import Node
from qianka.policy import place
from qianka.policy.place import Free

LOOK_AHEAD = 500
"""jobs in front that are simulated; beyond them an estimate would be a guess"""


@dataclass(frozen=True)
class Estimate:
    """Seconds until a job starts."""

    low: float
    high: float


def estimate(
    now: datetime,
    nodes: Sequence[Node],
    running: Sequence[Occupied],
    ordered: Sequence[Waiting],
    job: str,
    typical: Mapping[str, float],
) -> Estimate | None:
    """The wait of `job`, one of `ordered` (the queue in its order).

    `typical` gives the usual seconds by job id, of running and waiting ones; where it says nothing, the
    wall limit stands. None: it never fits, or too many are in front.
    """
    upto = next((i for i, w in enumerate(ordered) if w.job == job), None)
    if upto is None or upto >= LOOK_AHEAD:
        return None
    queue = ordered[: upto + 1]
    high = _simulate(now, nodes, running, queue, {})
    low = _simulate(now, nodes, running, queue, typical)
    if low is None or high is None:
        return None
    return Estimate(low=min(low, high), high=high)


def _simulate(
    now: datetime,
    nodes: Sequence[Node],
    running: Sequence[Occupied],
    queue: Sequence[Waiting],
    lasting: Mapping[str, float],
) -> float | None:
    """Seconds until the last of `queue` starts when each lasts as `lasting` says, else its limit."""
    free = place.free_on(nodes, running)
    ends = [(max(now, job.started_at + _length(job, lasting)), job) for job in running if job.node in free]
    ends.sort(key=lambda pair: pair[0], reverse=True)
    at = now
    for waiting in queue:
        while (room := _room(free, waiting)) is None:
            if not ends:
                break
            at, ended = ends.pop()
            free[ended.node].give(ended)
        if room is None:
            if waiting is queue[-1]:
                return None
            continue
        placement = room.take(waiting.resources)
        held = Occupied(
            job=waiting.job,
            person=waiting.person,
            node=placement.node,
            cores=placement.cores,
            cards=tuple(card.index for card in placement.cards),
            memory=waiting.resources.memory,
            started_at=at,
            wall_limit=waiting.wall_limit,
            cpus=waiting.resources.cpus,
        )
        ends.append((at + _length(held, lasting), held))
        ends.sort(key=lambda pair: pair[0], reverse=True)
    return (at - now).total_seconds()


def _length(job: Occupied, lasting: Mapping[str, float]) -> timedelta:
    return timedelta(seconds=min(job.wall_limit, lasting.get(job.job, job.wall_limit)))


def _room(free: Mapping[str, Free], waiting: Waiting) -> Free | None:
    roomy = [view for view in free.values() if view.lacks(waiting.resources) is None]
    return min(roomy, key=Free.tightness) if roomy else None
