"""Placement, reservation and reasons."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from qianka.domain.jobs import Waiting
from qianka.domain.resources import Resources
from qianka.policy.place import Free, never_fits, shares
from qianka.policy.plan import REASONS, plan
from qianka.testing.scenes import GIB, NOW, node, running, waiting


def test_jobs_of_a_core_get_cores_of_their_own_and_small_ones_share() -> None:
    view = Free(node(cores=3))
    assert view.take(Resources(cpus=0.5)).cores == (0,)
    assert view.take(Resources(cpus=1)).cores == (1,)
    assert view.take(Resources(cpus=0.5)).cores == (0,)
    assert view.lacks(Resources(cpus=2)) == "cores"
    assert view.take(Resources(cpus=0.1)).cores == (2,)


def test_ten_tenths_fill_a_core() -> None:
    view = Free(node(cores=1))
    for _ in range(10):
        assert view.lacks(Resources(cpus=0.1, memory=1)) is None
        view.take(Resources(cpus=0.1, memory=1))
    assert view.lacks(Resources(cpus=0.1, memory=1)) == "cores"


def test_cards_are_handed_out_whole_and_come_back() -> None:
    view = Free(node(cores=4, cards=2), [running("a", cards=(0,))])
    assert [card.index for card in view.take(Resources(gpus=1, memory=1)).cards] == [1]
    assert view.lacks(Resources(gpus=1, memory=1)) == "cards"
    view.give(running("a", cards=(0,)))
    assert view.lacks(Resources(gpus=1, memory=1)) is None


def test_reasons_name_what_is_missing() -> None:
    nodes = [node(cores=2, cards=1)]
    busy = [running("r", cores=(0, 1), cards=(0,), memory=7 * GIB)]
    jobs = [waiting("card", gpus=1), waiting("memory", memory=2 * GIB), waiting("never", gpus=2)]
    decided = plan(NOW, nodes, busy, jobs)
    assert decided.placements == {}
    assert decided.reasons == {"card": "waiting_cards", "memory": "waiting_memory", "never": "impossible"}
    assert plan(NOW, nodes, [running("r", cores=(0, 1))], [waiting("core")]).reasons == {"core": "waiting_cores"}
    assert plan(NOW, [node(alive=False)], [], [waiting("x")]).reasons == {"x": "no_node"}
    assert plan(NOW, [], [], [waiting("x")]).reasons == {"x": "no_node"}


def test_small_jobs_do_not_starve_a_big_one_but_fill_the_time_until_it_starts() -> None:
    busy = [running("r", cores=(0,), wall=600, since=0)]
    jobs = [
        waiting("big", person=1, cpus=2, age=100),
        waiting("long", person=2, cpus=1, age=50, wall=3600),
        waiting("short", person=3, cpus=1, age=10, wall=300),
    ]
    decided = plan(NOW, [node(cores=2)], busy, jobs)
    assert set(decided.placements) == {"short"}
    assert decided.reasons == {"big": "waiting_cores", "long": "waiting_turn"}


def test_a_job_that_waits_for_a_card_does_not_hold_back_those_that_need_none() -> None:
    busy = [running("r", cores=(0,), cards=(0,), wall=600)]
    jobs = [waiting("card", person=1, gpus=1, age=100), waiting("cpu", person=2, wall=86400)]
    decided = plan(NOW, [node(cores=4, cards=1)], busy, jobs)
    assert set(decided.placements) == {"cpu"}


def test_the_fullest_node_with_room_is_taken_so_that_big_jobs_find_room() -> None:
    nodes = [node(cores=4, name="empty"), node(cores=4, name="half")]
    decided = plan(NOW, nodes, [running("r", cores=(0, 1), node="half")], [waiting("j", cpus=2)])
    assert decided.placements["j"].node == "half"


def test_recent_use_decides_who_gets_the_last_core() -> None:
    jobs = [waiting("heavy", person=1, age=99), waiting("light", person=2, age=1)]
    assert set(plan(NOW, [node(cores=1)], [], jobs, {1: 1e6}).placements) == {"light"}
    assert set(plan(NOW, [node(cores=1)], [], jobs, None).placements) == {"heavy"}


def test_what_runs_counts_as_used() -> None:
    jobs = [waiting("again", person=1, age=99), waiting("first", person=2, age=1)]
    busy = [running("r", person=1, cores=(0,))]
    assert set(plan(NOW, [node(cores=2)], busy, jobs, {}).placements) == {"first"}


def test_what_can_never_fit_is_known_from_the_nodes_alone() -> None:
    nodes = [node(cores=2, memory=4 * GIB), node(cores=8, memory=2 * GIB, name="n2")]
    assert never_fits(nodes, Resources(cpus=8, memory=GIB)) is None
    assert never_fits(nodes, Resources(cpus=9, memory=GIB)) == "cores"
    assert never_fits(nodes, Resources(cpus=1, memory=5 * GIB)) == "memory"
    assert never_fits(nodes, Resources(cpus=1, memory=GIB, gpus=1)) == "cards"
    assert never_fits([], Resources(cpus=99)) is None


jobs_st = st.lists(
    st.builds(
        lambda i, person, cpus, memory, gpus, age, wall: waiting(
            i, person, cpus=cpus, memory=memory * GIB, gpus=gpus, age=age, wall=wall
        ),
        st.uuids().map(str),
        st.integers(1, 3),
        st.sampled_from([0.1, 0.25, 0.5, 1, 1.5, 2, 4]),
        st.integers(1, 9),
        st.integers(0, 2),
        st.integers(0, 1000),
        st.sampled_from([10.0, 60.0, 3600.0]),
    ),
    max_size=20,
)


@settings(deadline=None)
@given(jobs_st, st.integers(1, 4), st.integers(0, 2))
def test_no_plan_hands_out_more_than_there_is_and_every_job_gets_an_answer(
    jobs: list[Waiting], cores: int, cards: int
) -> None:
    nodes = [node(cores=cores, cards=cards), node(cores=2, name="n2", memory=4 * GIB)]
    decided = plan(NOW, nodes, [], jobs, {})
    assert decided.placements.keys() | decided.reasons.keys() == {job.job for job in jobs}
    assert not decided.placements.keys() & decided.reasons.keys()
    assert set(decided.reasons.values()) <= set(REASONS)
    by_id = {job.job: job for job in jobs}
    for machine in nodes:
        mine = {j: p for j, p in decided.placements.items() if p.node == machine.name}
        core_load: Counter[int] = Counter()
        for job, placement in mine.items():
            for core in placement.cores:
                core_load[core] += shares(by_id[job].resources.cpus)
        assert all(load <= 1000 for load in core_load.values())
        assert core_load.keys() <= set(machine.cores)
        assert sum(by_id[j].resources.memory for j in mine) <= machine.memory
        handed = [card.index for p in mine.values() for card in p.cards]
        assert len(handed) == len(set(handed)) == sum(by_id[j].resources.gpus for j in mine)


@settings(deadline=None)
@given(jobs_st)
def test_some_job_always_starts_on_an_empty_machine_if_any_can(jobs: list[Waiting]) -> None:
    decided = plan(NOW, [node(cores=2, cards=1)], [], jobs, {})
    assert decided.placements or all(reason == "impossible" for reason in decided.reasons.values())


@settings(deadline=None)
@given(jobs_st)
def test_the_first_that_must_wait_is_not_delayed_by_those_that_start_before_it(jobs: list[Waiting]) -> None:
    machine = node(cores=4, cards=1)
    busy = [running("r", cores=(0, 1), memory=GIB, wall=100)]
    head = waiting("head", person=7, cpus=3, memory=2 * GIB, gpus=1, age=10_000)
    decided = plan(NOW, [machine], busy, [head, *jobs], None)
    assert decided.reasons["head"] == "waiting_cores"
    by_id = {job.job: job for job in jobs}
    outlasting = Free(machine)
    for job in decided.placements:
        if by_id[job].wall_limit > 100:
            assert outlasting.lacks(by_id[job].resources) is None
            outlasting.take(by_id[job].resources)
    assert outlasting.lacks(head.resources) is None
