"""Short words for queue scenes: a node, waiting and running jobs around the instant NOW."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from qianka.domain.jobs import Occupied, Waiting
from qianka.domain.resources import Card, Label, Node, Resources

NOW = datetime(2026, 9, 7, 1, 0, tzinfo=timezone.utc)
GIB = 1 << 30


def node(cores: int = 2, memory: int = 8 * GIB, cards: int = 0, name: str = "n1", alive: bool = True) -> Node:
    """A machine with real-looking cards."""
    made = tuple(Card(index=i, uuid=f"{name}-{i}", model="A100-80G", memory=80 * GIB) for i in range(cards))
    return Node(name=name, cores=tuple(range(cores)), memory=memory, cards=made, alive=alive)


def waiting(
    job: str,
    person: int = 1,
    *,
    cpus: float = 1.0,
    memory: int = GIB,
    gpus: int = 0,
    age: float = 0.0,
    wall: float = 60.0,
    label: Label = Label.NORMAL,
    continues: bool = False,
) -> Waiting:
    """A job queued `age` seconds before NOW."""
    return Waiting(
        job=job,
        person=person,
        resources=Resources(cpus=cpus, memory=memory, gpus=gpus),
        label=label,
        queued_at=NOW - timedelta(seconds=age),
        wall_limit=wall,
        continues=continues,
    )


def running(
    job: str,
    person: int = 9,
    *,
    cores: tuple[int, ...] = (0,),
    cards: tuple[int, ...] = (),
    cpus: float | None = None,
    memory: int = GIB,
    since: float = 0.0,
    wall: float = 60.0,
    node: str = "n1",
) -> Occupied:
    """A job that began `since` seconds before NOW."""
    return Occupied(
        job=job,
        person=person,
        node=node,
        cores=cores,
        cards=cards,
        memory=memory,
        started_at=NOW - timedelta(seconds=since),
        wall_limit=wall,
        cpus=float(len(cores)) if cpus is None else cpus,
    )
