"""The range in which a waiting job will start."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from qianka.policy.estimate import LOOK_AHEAD, estimate
from qianka.testing.scenes import NOW, node, running, waiting


def test_the_range_goes_from_the_usual_to_the_limits() -> None:
    busy = [running("r", cores=(0, 1), since=60, wall=600)]
    found = estimate(NOW, [node()], busy, [waiting("me")], "me", {"r": 90.0})
    assert found is not None
    assert (found.low, found.high) == (30.0, 540.0)


def test_jobs_in_front_are_waited_for_two_at_a_time_on_two_cores() -> None:
    queue = [waiting(f"q{i}", wall=100) for i in range(4)] + [waiting("me", wall=100)]
    found = estimate(NOW, [node(cores=2)], [], queue, "me", {f"q{i}": 10.0 for i in range(4)})
    assert found is not None
    assert (found.low, found.high) == (20.0, 200.0)


def test_a_free_machine_starts_it_now_and_an_overdue_neighbour_counts_as_ending_now() -> None:
    assert estimate(NOW, [node()], [], [waiting("me")], "me", {}) is not None
    overdue = [running("r", cores=(0, 1), since=100, wall=60)]
    found = estimate(NOW, [node()], overdue, [waiting("me")], "me", {})
    assert found is not None
    assert found.high == 0.0


def test_nothing_is_promised_for_what_never_fits_or_is_too_far_back() -> None:
    assert estimate(NOW, [node(cores=1)], [], [waiting("me", cpus=2)], "me", {}) is None
    crowd = [waiting(f"q{i}") for i in range(LOOK_AHEAD)]
    assert estimate(NOW, [node()], [], [*crowd, waiting("me")], "me", {}) is None
    assert estimate(NOW, [node()], [], [waiting("other")], "me", {}) is None


def test_an_impossible_job_in_front_is_passed_over() -> None:
    found = estimate(NOW, [node(cores=1)], [], [waiting("never", cpus=9), waiting("me")], "me", {})
    assert found is not None
    assert found.high == 0.0


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.5, 1.0, 2.0]), st.floats(1, 500), st.floats(0, 500)), max_size=15))
def test_low_is_never_above_high(scene: list[tuple[float, float, float]]) -> None:
    queue = [waiting(f"q{i}", cpus=c, wall=wall) for i, (c, wall, _) in enumerate(scene)] + [waiting("me")]
    found = estimate(NOW, [node()], [], queue, "me", {f"q{i}": usual for i, (_, _, usual) in enumerate(scene)})
    assert found is not None
    assert 0 <= found.low <= found.high
