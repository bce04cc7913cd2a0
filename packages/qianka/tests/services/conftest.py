"""Fixtures of the use cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka.testing import FakeClock, make_platform
from qianka.testing.handins import HandinScene, make_handin_scene


@pytest.fixture
def course(tmp_path: Path) -> Iterator[HandinScene]:
    """A class with one lab, one student and one teacher, on a store in memory."""
    clock = FakeClock()
    platform = make_platform(tmp_path / "data", clock=clock)
    yield make_handin_scene(platform, clock)
    platform.store.close()
