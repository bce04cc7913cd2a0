"""For all tests: where they must run (CI), a skipped test is a failed one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["qianka.testing.databases", "qianka.testing.slurm.fixtures"]


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


@pytest.fixture(scope="session")
def student_runtime() -> Path:
    """A finished student runtime: the one of the settings, or the one `make demo` made."""
    from qianka import settings
    from qianka.adapters import runtime

    usual = settings.default_data_dir()
    places = [Path(settings.load().settings.runtime_dir), usual.with_name(usual.name + "-demo") / "runtime"]
    found = next((place for place in places if runtime.load(place) is not None), None)
    if found is None:
        pytest.skip("no student runtime: make demo builds one, QIANKA_RUNTIME_DIR names another")
    return found
