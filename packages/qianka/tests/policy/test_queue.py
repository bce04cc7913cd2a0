"""Order of the queue, fading use, retries."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka.domain.resources import Label
from qianka.policy.order import by_age, order
from qianka.policy.retry import delay
from qianka.policy.usage import CARD, Usage
from qianka.testing.scenes import NOW, waiting


def names(jobs: list[object]) -> list[str]:
    return [job.job for job in jobs]  # type: ignore[attr-defined]


def test_label_goes_before_work_begun_before_use_before_age() -> None:
    jobs = [
        waiting("old", person=1, age=900),
        waiting("thrifty", person=2, age=1),
        waiting("predict", person=1, age=2, continues=True),
        waiting("urgent", person=1, label=Label.URGENT),
        waiting("idle", person=3, age=9000, label=Label.IDLE),
    ]
    assert names(order(jobs, {1: 5000.0})) == ["urgent", "predict", "thrifty", "old", "idle"]


def test_people_with_equal_use_go_round_robin_however_many_jobs_one_queued() -> None:
    burst = [waiting(f"a{i}", person=1, age=100 - i) for i in range(5)]
    others = [waiting("b0", person=2, age=10), waiting("c0", person=3, age=5)]
    assert names(order([*burst, *others], {}))[:4] == ["a0", "b0", "c0", "a1"]


def test_without_fair_share_the_oldest_goes_first() -> None:
    jobs = [waiting("new", person=1, age=1), waiting("old", person=2, age=9)]
    assert names(by_age(jobs)) == ["old", "new"]


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 1000), st.booleans()), max_size=30))
def test_the_order_loses_and_invents_nothing_and_keeps_a_persons_own_age(scene: list[tuple[int, int, bool]]) -> None:
    jobs = [waiting(f"j{i:02}", person=p, age=age, continues=c) for i, (p, age, c) in enumerate(scene)]
    ordered = order(jobs, {1: 100.0})
    assert Counter(names(ordered)) == Counter(names(jobs))
    for person in (1, 2, 3, 4):
        ages = [j.queued_at for j in ordered if j.person == person and not j.continues]
        assert ages == sorted(ages)


def test_use_halves_in_every_half_life_and_a_card_weighs_more_than_a_core() -> None:
    usage = Usage(half_life=3600)
    usage.add(1, cpu_seconds=80, gpu_seconds=0, at=NOW)
    usage.add(2, cpu_seconds=0, gpu_seconds=5, at=NOW)
    later = NOW + timedelta(hours=2)
    assert usage.of(1, later) == pytest.approx(20)
    assert usage.of(2, NOW) == 5 * CARD
    assert usage.at(later).keys() == {1, 2}


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 100_000)), min_size=1, max_size=8), st.randoms())
def test_use_does_not_depend_on_the_order_in_which_it_is_learnt(uses: list[tuple[float, int]], random: object) -> None:
    shuffled = list(uses)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, two = Usage(1800), Usage(1800)
    for seconds, after in uses:
        one.add(7, seconds, 0, NOW + timedelta(seconds=after))
    for seconds, after in shuffled:
        two.add(7, seconds, 0, NOW + timedelta(seconds=after))
    end = NOW + timedelta(days=2)
    assert one.of(7, end) == pytest.approx(two.of(7, end))


def test_waiting_after_a_fault_grows_to_five_minutes() -> None:
    assert [delay(n) for n in (0, 1, 2, 3, 4, 5, 99)] == [1, 4, 16, 64, 256, 300, 300]
