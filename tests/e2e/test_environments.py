"""What is installed where: the platform without torch, the students' torch without CUDA on a machine without a card."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from qianka.adapters import runtime


def test_torch_is_never_a_dependency_of_the_platform() -> None:
    names = {(distribution.metadata["Name"] or "").lower() for distribution in metadata.distributions()}
    assert "qianka" in names
    assert not [name for name in names if name == "torch" or name.startswith("nvidia-")]


@pytest.mark.runtime
def test_the_students_environment_holds_no_cuda_where_a_cpu_build_was_served(student_runtime: Path) -> None:
    made = runtime.load(student_runtime)
    assert made is not None
    program = "from importlib import metadata as m; print(*(d.name for d in m.distributions()))"
    asked = subprocess.run([str(made.python), "-I", "-c", program], check=True, capture_output=True, text=True)
    names = asked.stdout.lower().split()
    assert {"torch", "numpy", "scikit-learn", "black", "flake8"} <= set(names)
    if made.source in ("local", "cpu-index"):
        assert made.cuda is None
        assert not [name for name in names if name.startswith("nvidia-")]


def test_the_help_loads_little() -> None:
    program = "import sys; from qianka.cli.main import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    asked = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert not {"fastapi", "sqlalchemy", "httpx", "pydantic", "rich"} & set(asked.stderr.split())
