"""The committed filters are what the tool builds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from qianka.sandbox import bubblewrap

ROOT = Path(__file__).parents[4]
FILTERS = Path(bubblewrap.__file__).parent / "filters"


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_seccomp", ROOT / "tools/make_seccomp.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(sys.platform != "linux", reason="libseccomp is Linux's")
@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
@pytest.mark.parametrize("without_memfd", [False, True])
def test_the_committed_filter_is_what_the_tool_builds(architecture: str, without_memfd: bool, tmp_path: Path) -> None:
    pytest.importorskip("pyseccomp", reason="needs pyseccomp and libseccomp2", exc_type=RuntimeError)
    name = f"{architecture}{'-nomemfd' if without_memfd else ''}.bpf"
    load_tool().build(tmp_path / name, architecture, without_memfd=without_memfd)
    assert (tmp_path / name).read_bytes() == (FILTERS / name).read_bytes()


def test_filters_are_whole_programs() -> None:
    found = sorted(path.name for path in FILTERS.glob("*.bpf"))
    assert found == ["aarch64-nomemfd.bpf", "aarch64.bpf", "x86_64-nomemfd.bpf", "x86_64.bpf"]
    for name in found:
        assert len((FILTERS / name).read_bytes()) % 8 == 0  # instructions of 8 bytes
