"""What of a runtime's interpreter must be bound, and telling two Pythons apart."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest
from qianka.sandbox import interpreter, runtime
from qianka.testing.supervised import ORDINARY


def make_venv(folder: Path, home: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11.2\n")
    (folder / "bin/python").symlink_to(home / "python3.11")
    return folder


def make_prefix(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python3.11").touch()
    return folder


def test_an_interpreter_of_the_system_needs_nothing(tmp_path: Path) -> None:
    venv = make_venv(tmp_path / "runtime", Path("/usr/bin"))
    assert runtime.interpreter_folders(str(venv)) == []


def test_an_interpreter_elsewhere_is_bound_with_its_prefix(tmp_path: Path) -> None:
    prefix = make_prefix(tmp_path / "versions/3.11.7")
    venv = make_venv(tmp_path / "runtime", prefix / "bin")
    assert runtime.interpreter_folders(str(venv)) == [str(prefix)]


def test_a_prefix_reached_through_a_link_is_bound_under_both_names(tmp_path: Path) -> None:
    prefix = make_prefix(tmp_path / "cpython-3.11.7")
    (tmp_path / "cpython-3.11").symlink_to(prefix)
    venv = make_venv(tmp_path / "runtime", tmp_path / "cpython-3.11/bin")
    assert runtime.interpreter_folders(str(venv)) == [str(tmp_path / "cpython-3.11"), str(prefix)]


def test_the_same_python_is_proven_the_same() -> None:
    said = interpreter.answer(sys.executable)
    assert interpreter.prove(said, said) == []


def test_another_library_under_the_same_version_is_noticed() -> None:
    outside = "version 3.11.7 (main)\nbase_prefix /home/x/3.11.7\nlibpython /home/x/3.11.7/lib/libpython3.11.so.1.0\n"
    inside = "version 3.11.7 (main)\nbase_prefix /home/x/3.11.7\nlibpython /usr/lib/libpython3.11.so.1.0\n"
    (difference,) = interpreter.prove(inside, outside)
    assert "libpython" in difference
    assert interpreter.prove("", outside) != []


def test_an_interpreter_is_chosen_that_everybody_can_reach() -> None:
    chosen = interpreter.choose()
    assert chosen is None or interpreter.open_to_all(str(Path(chosen).resolve()))


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_never_runs_an_interpreter_that_somebody_else_could_have_changed() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        python = Path(folder, "venv/bin/python")
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\nid -u\n")
        python.chmod(0o755)
        Path(folder, "link").symlink_to(python)
        assert interpreter.answer(str(python)) == "0\n"
        os.chown(python.parent, ORDINARY, ORDINARY)
        assert interpreter.answer(str(python)) == f"{ORDINARY}\n"
        assert interpreter.answer(f"{folder}/link") == f"{ORDINARY}\n"


def test_an_interpreter_of_the_system_is_only_roots_to_change() -> None:
    assert interpreter.changeable_by("/usr/bin/env") is None
