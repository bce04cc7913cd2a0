"""For pytest: the test cluster, started once for all tests of a process that ask for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qianka.testing.slurm.cluster import Cluster
from qianka.testing.slurm.daemons import DoesNotStart
from qianka.testing.slurm.needs import missing


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[Cluster]:
    """A real Slurm of four nodes with simulated cards; skipped, with the reason, where it cannot be started."""
    why = missing()
    if why is not None:
        pytest.skip(why)
    cluster = _started()
    try:
        yield cluster
    finally:
        cluster.down()


def _started(tries: int = 3) -> Cluster:
    """A cluster that came up. Its ports are free when they are chosen, but nobody keeps them for us until then."""
    while True:
        cluster = Cluster()
        try:
            cluster.up()
        except DoesNotStart:
            tries -= 1
            if tries == 0:
                raise
        else:
            return cluster
