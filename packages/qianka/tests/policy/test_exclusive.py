"""Exclusive jobs get an empty machine and all of it; jobs of several nodes are no job of a placement."""

from __future__ import annotations

from dataclasses import replace

from qianka.domain.jobs import Waiting
from qianka.domain.resources import Resources
from qianka.policy.place import Free, fitting, never_fits
from qianka.policy.plan import plan
from qianka.testing.scenes import GIB, NOW, node, running, waiting


def alone(job: str) -> Waiting:
    found = waiting(job, cpus=1.0)
    return replace(found, resources=replace(found.resources, exclusive=True))


def test_it_waits_for_an_empty_machine_and_takes_all_of_it() -> None:
    machine = node(4, cards=2)
    busy = plan(NOW, [machine], [running("r", cores=(3,))], [alone("x")])
    assert (busy.placements, busy.reasons) == ({}, {"x": "waiting_cores"})
    placed = plan(NOW, [machine], [], [alone("x")]).placements["x"]
    assert (placed.cores, len(placed.cards)) == ((0, 1, 2, 3), 2)


def test_nothing_starts_beside_it() -> None:
    made = plan(NOW, [node(4)], [], [alone("x"), waiting("y", age=-1.0)])
    assert set(made.placements) == {"x"}
    assert made.reasons == {"y": "waiting_cores"}


def test_it_is_not_starved_by_small_jobs() -> None:
    """It holds a reservation; what would outlast that waits."""
    made = plan(
        NOW,
        [node(2)],
        [running("r", cores=(0,), wall=60.0)],
        [alone("x"), waiting("long", age=-1.0, wall=600.0), waiting("short", age=-2.0, wall=30.0)],
    )
    assert set(made.placements) == {"short"}
    assert made.reasons["long"] == "waiting_turn"


def test_several_nodes_never_fit_a_placement_but_are_counted() -> None:
    machines = [node(4, cards=2, name=f"n{number}") for number in range(3)]
    assert never_fits(machines, Resources(nodes=2, memory=GIB)) == "nodes"
    assert plan(NOW, machines, [], [replace(waiting("x"), resources=Resources(nodes=2))]).reasons == {"x": "impossible"}
    assert fitting(machines, Resources(nodes=2, gpus=2, memory=GIB)) == 3
    assert fitting(machines, Resources(nodes=2, gpus=3, memory=GIB)) == 0


def test_a_machine_is_empty_again_when_its_jobs_are_over() -> None:
    free = Free(node(2, cards=1), [running("r", cores=(0,), cards=(0,))])
    assert not free.empty
    free.give(running("r", cores=(0,), cards=(0,)))
    assert free.empty
