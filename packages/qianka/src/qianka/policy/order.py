"""In which order waiting jobs are looked at: label, work already begun, recent use, age."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping

from qianka.domain.jobs import Waiting
from qianka.policy.usage import cost


def order(waiting: Iterable[Waiting], used: Mapping[int, float]) -> list[Waiting]:
    """`waiting` in the order of the queue; `used` is decayed use a person, reserved time included.

    Each job taken counts as used at once, so people with equal use go round-robin however many
    jobs one of them queued. An empty `used` with one person a job gives plain age.
    """
    classes: dict[tuple[int, bool], dict[int, list[Waiting]]] = defaultdict(lambda: defaultdict(list))
    for job in waiting:
        classes[job.label.order, not job.continues][job.person].append(job)
    planned = dict(used)
    ordered: list[Waiting] = []
    for _, people in sorted(classes.items()):
        ordered.extend(_round_robin(people, planned))
    return ordered


def by_age(waiting: Iterable[Waiting]) -> list[Waiting]:
    """The order where fair share is switched off: label, work already begun, age."""
    return sorted(waiting, key=lambda j: (j.label.order, not j.continues, j.queued_at, j.job))


def _round_robin(people: Mapping[int, list[Waiting]], planned: dict[int, float]) -> Iterable[Waiting]:
    queues = {p: sorted(jobs, key=lambda j: (j.queued_at, j.job), reverse=True) for p, jobs in people.items()}
    heap = [(planned.get(p, 0.0), queue[-1].queued_at, queue[-1].job, p) for p, queue in queues.items()]
    heapq.heapify(heap)
    while heap:
        _, _, _, person = heapq.heappop(heap)
        job = queues[person].pop()
        yield job
        planned[person] = planned.get(person, 0.0) + cost(
            job.resources.all_cpus, job.resources.all_gpus, job.wall_limit
        )
        if queues[person]:
            following = queues[person][-1]
            heapq.heappush(heap, (planned[person], following.queued_at, following.job, person))
