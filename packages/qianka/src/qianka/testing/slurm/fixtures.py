"""For pytest: the test cluster, started once for all tests of a process that ask for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qianka.testing.slurm.cluster import Cluster
from qianka.testing.slurm.needs import missing


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[Cluster]:
    """A real Slurm of four nodes with simulated cards; skipped, with the reason, where it cannot be started."""
    why = missing()
    if why is not None:
        pytest.skip(why)
    with Cluster() as cluster:
        yield cluster
