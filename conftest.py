"""For all tests: where they must run (CI), a skipped test is a failed one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from typing import Any

import pytest


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, with the reason, what this machine cannot do."""
    needs = {mark.name for mark in item.iter_markers()}
    if "root" in needs and (os.name != "posix" or os.geteuid() != 0):
        pytest.skip("needs root")
    if "sandbox" in needs and shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Turn a skip into a failure where QIANKA_TESTS_MUST_RUN is set."""
    report = yield
    if report.skipped and os.environ.get("QIANKA_TESTS_MUST_RUN") and "gpu" not in item.keywords:
        report.outcome = "failed"
        report.longrepr = f"skipped where it must run: {report.longrepr}"
    return report
