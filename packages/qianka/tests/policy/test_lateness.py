"""Penalties and late days: what counts follows from the works, not from the order of grading."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.policy.lateness import Assignment, LatePolicy, Work, settle

TEN = LatePolicy(mode="penalty", per_day=0.1)

policies = st.builds(
    LatePolicy,
    mode=st.sampled_from(["mark", "penalty", "refuse"]),
    per_day=st.floats(0, 1),
    steps=st.lists(st.floats(0, 1), max_size=4).map(lambda steps: tuple(sorted(steps))),
    cap=st.floats(0, 1),
    floor=st.floats(0, 1),
    budget_days=st.none() | st.integers(0, 5),
)
works = st.builds(
    Work,
    id=st.uuids().map(str),
    points=st.floats(0, 100).map(lambda points: round(points, 2)),
    most=st.just(100.0),
    days=st.integers(0, 12),
    policy=policies,
)
assignments = st.lists(st.lists(works, min_size=1, max_size=4), max_size=5).map(
    lambda labs: [Assignment(lab=n, order=(n,), works=tuple(made)) for n, made in enumerate(labs)]
)


@pytest.mark.parametrize(
    ("policy", "days", "left"),
    [
        (TEN, 0, 80),
        (TEN, 1, 72),
        (TEN, 3, 56),
        (TEN, 30, 0),
        (LatePolicy(mode="penalty", per_day=0.1, cap=0.5), 30, 40),
        (LatePolicy(mode="penalty", per_day=0.1, floor=0.6), 30, 60),
        (LatePolicy(mode="penalty", steps=(0.1, 0.3, 0.5)), 2, 56),
        (LatePolicy(mode="penalty", steps=(0.1, 0.3, 0.5)), 9, 40),
        (LatePolicy(mode="mark", per_day=0.5), 9, 80),
    ],
)
def test_what_is_left_of_eighty_points(policy: LatePolicy, days: int, left: float) -> None:
    assert policy.points(80, 100, days) == left


def test_the_floor_lifts_nobody() -> None:
    assert LatePolicy(mode="penalty", per_day=0.1, floor=0.6).points(30, 100, 5) == 30


def work(name: str, points: float, days: int = 0, policy: LatePolicy = TEN) -> Work:
    return Work(id=name, points=points, most=100, days=days, policy=policy)


def test_the_best_is_compared_after_its_penalty() -> None:
    (found,) = settle([Assignment(lab=1, order=1, works=(work("early", 80), work("late", 85, 1)))], 0).values()
    assert (found.work.id, found.points, found.penalty) == ("early", 80, 0)


def test_the_last_counts_with_its_penalty_where_the_lab_says_so() -> None:
    one = Assignment(lab=1, order=1, works=(work("early", 80), work("late", 85, 1)), last=True)
    (found,) = settle([one], 0).values()
    assert (found.work.id, found.points, found.penalty) == ("late", 76.5, 8.5)


def test_late_days_go_to_the_lab_that_was_due_first() -> None:
    first = Assignment(lab=1, order=1, works=(work("a", 50, 2),))
    second = Assignment(lab=2, order=2, works=(work("b", 100, 2),))
    found = settle([second, first], 3)
    assert (found[1].late_days, found[1].points) == (2, 50)
    assert (found[2].late_days, found[2].points) == (1, 90)


def test_no_late_day_is_spent_for_nothing() -> None:
    capped = LatePolicy(mode="penalty", per_day=0.5, cap=0.5)
    found = settle(
        [
            Assignment(lab=1, order=1, works=(work("zero", 0, 3),)),
            Assignment(lab=2, order=2, works=(work("capped", 80, 9, capped),)),
            Assignment(lab=3, order=3, works=(work("marked", 80, 2, LatePolicy(mode="mark")),)),
        ],
        2,
    )
    assert [outcome.late_days for outcome in found.values()] == [0, 0, 0]


@given(assignments, st.integers(0, 12), st.randoms(use_true_random=False))
def test_the_order_of_grading_never_matters(labs: list[Assignment], budget: int, chance: random.Random) -> None:
    shuffled = list(labs)
    chance.shuffle(shuffled)
    assert settle(shuffled, budget) == settle(labs, budget)


@given(assignments, st.integers(0, 12))
def test_no_more_is_spent_than_there_is_and_points_never_grow(labs: list[Assignment], budget: int) -> None:
    found = settle(labs, budget)
    assert sum(outcome.late_days for outcome in found.values()) <= budget
    for outcome in found.values():
        assert 0 <= outcome.points <= outcome.work.points
        assert outcome.late_days <= outcome.work.days
        assert outcome.penalty == 0 or outcome.work.days > outcome.late_days


@given(assignments)
def test_being_later_never_pays(labs: list[Assignment]) -> None:
    for one in labs:
        for done in one.works:
            points = [done.policy.points(done.points, done.most, days) for days in range(12)]
            assert points == sorted(points, reverse=True)
