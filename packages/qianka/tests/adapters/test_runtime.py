"""Making the student runtime; what takes a minute is asked of one that is already there."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path

import pytest
from qianka.adapters import installer, runtime
from qianka.errors import Unavailable

CLOSED = "http://127.0.0.1:9/simple"
"""nothing listens on the discard port"""


@pytest.fixture
def bare_runtime(tmp_path: Path) -> Path:
    """A runtime without packages, stamped as complete."""
    target = tmp_path / "runtime"
    chosen = runtime.interpreter.choose(None, other_uids=False, say=print)
    subprocess.run([chosen.path, "-I", "-m", "venv", "--without-pip", str(target)], check=True)
    digest = runtime._digest(chosen, False)
    made = runtime.Runtime(str(target), chosen.path, "3.11.2", "2.13.0+cpu", None, "local", digest, kit="")
    runtime._stamp(target, made)
    return target


def test_every_package_is_pinned_for_every_python() -> None:
    lines = [line for line in runtime.REQUIREMENTS.read_text("utf-8").splitlines() if line and line[0] != "#"]
    assert all(re.match(r"[a-z0-9-]+==[0-9.]+( *; .*)?$", line) for line in lines)
    wanted = {"torch", "numpy", "scikit-learn", "black", "flake8", "ipython", "matplotlib"}
    assert {line.partition("==")[0] for line in lines} == wanted


def test_an_index_that_is_silent_is_given_up_quickly() -> None:
    began = time.monotonic()
    assert not installer.answers(CLOSED)
    assert time.monotonic() - began < 5


def test_a_folder_serves_as_index(tmp_path: Path) -> None:
    assert installer.answers(f"file://{tmp_path}")
    assert not installer.answers(f"file://{tmp_path}/missing")


def test_what_the_site_told_pip_reaches_uv() -> None:
    listed = [
        ":env:.cert='/etc/ssl/ca.crt'",
        "global.extra-index-url='https://a.example/simple https://b.example/simple'",
        "global.find-links='/srv/old'",
        ":env:.find-links='/srv/wheels'",
        "global.index-url='https://mirror.example/simple'",
    ]
    assert installer.site_options(listed) == [
        "--extra-index-url", "https://a.example/simple", "--extra-index-url", "https://b.example/simple",
        "--find-links", "/srv/wheels", "--index-url", "https://mirror.example/simple",
    ]  # fmt: skip


def test_the_sources_of_torch_are_tried_in_order(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexit 1\n', "utf-8")
    python.chmod(0o755)
    said: list[str] = []
    tool = installer.Installer(python, tmp_path / "log")
    with pytest.raises(Unavailable) as refused:
        installer.install_torch(tool, "torch==2.13.0", index=f"file://{tmp_path}", cards=False, say=said.append)
    calls = log.read_text("utf-8").splitlines()
    assert "--no-index" in calls[0]
    assert f"--index-url file://{tmp_path}" in calls[1]
    assert calls[2].endswith("torch==2.13.0")
    assert "190 MB" in said[0]
    assert "3 GB" in said[-1]
    assert "mirror.torch_cpu" in str(refused.value)


def test_with_a_card_the_default_index_is_the_source(tmp_path: Path) -> None:
    tool = installer.Installer(Path("/bin/true"), tmp_path / "log")
    assert installer.install_torch(tool, "torch==2.13.0", index=CLOSED, cards=True, say=print) == "default-index"


def test_a_second_build_changes_nothing_but_the_kit(bare_runtime: Path) -> None:
    said: list[str] = []
    began = time.monotonic()
    first = runtime.build(bare_runtime, torch_index=CLOSED, say=said.append)
    assert first.kit
    assert list(bare_runtime.glob("lib/python3*/site-packages/qianka_kit/__pycache__/run.*.pyc"))
    again = runtime.build(bare_runtime, torch_index=CLOSED, say=said.append)
    assert again == first == runtime.load(bare_runtime)
    assert time.monotonic() - began < 10
    assert said == []


def test_a_build_that_was_cut_short_is_no_runtime(bare_runtime: Path) -> None:
    (bare_runtime / runtime.PARTIAL).touch()
    assert runtime.load(bare_runtime) is None


def test_an_unreadable_stamp_is_no_runtime(bare_runtime: Path) -> None:
    for text in ("", "{}", "[]", '{"path": 1, "more": 2}'):
        (bare_runtime / runtime.STAMP).write_text(text, "utf-8")
        assert runtime.load(bare_runtime) is None


@pytest.mark.runtime
def test_torch_is_the_cpu_build_without_nvidia_packages(student_runtime: Path) -> None:
    made = runtime.load(student_runtime)
    assert made is not None
    names = [path.name.lower() for path in student_runtime.glob("lib/python3*/site-packages/*.dist-info")]
    assert any(name.startswith("torch-2.13.0") for name in names)
    if made.source != "default-index":  # else neither a local CPU wheel nor PyTorch's CPU index served
        assert made.cuda is None
        assert [name for name in names if name.startswith(("nvidia", "triton"))] == []


@pytest.mark.runtime
def test_the_runtime_holds_the_kit_and_what_grading_needs(student_runtime: Path) -> None:
    ask = "import black, flake8, json, numpy, qianka_kit.run as r, sklearn, torch; print(json.dumps(r.__file__))"
    asked = subprocess.run(
        [str(student_runtime / "bin" / "python"), "-I", "-c", ask], capture_output=True, text=True, check=True
    )
    # Copied: an editable install would lead out of the sandbox.
    assert Path(json.loads(asked.stdout)).is_relative_to(student_runtime)


@pytest.mark.runtime
def test_every_uid_can_read_the_runtime(student_runtime: Path) -> None:
    places = [student_runtime, *student_runtime.rglob("*")]
    closed = [path for path in places if not path.is_symlink() and not path.stat().st_mode & 0o004]
    assert closed == []


@pytest.mark.runtime
def test_everything_is_compiled_beforehand(student_runtime: Path) -> None:
    packages = next(student_runtime.glob("lib/python3*/site-packages"))
    for name in ("torch", "numpy", "sklearn", "qianka_kit"):
        assert list((packages / name / "__pycache__").glob("__init__.*.pyc")), name
