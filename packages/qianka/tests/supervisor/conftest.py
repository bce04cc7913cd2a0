"""A place to run jobs as an ordinary user."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from qianka.sandbox import find
from qianka.testing.supervised import ORDINARY, Direct


@pytest.fixture(scope="module")
def direct() -> Iterator[Direct]:
    if sys.platform != "linux":
        pytest.skip("needs Linux")
    with Direct(ORDINARY if os.geteuid() == 0 else None) as runner:
        yield runner


@pytest.fixture(params=["none", pytest.param("bubblewrap", marks=pytest.mark.sandbox)])
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "bubblewrap" and find.bubblewrap() is None:
        pytest.skip("needs bubblewrap")
    return str(request.param)
