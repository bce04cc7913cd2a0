"""Which Python makes the student runtime."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from qianka.adapters import interpreter
from qianka.errors import ConfigError


def fake_python(path: Path, answer: str, status: int = 0) -> str:
    path.write_text(f"#!/bin/sh\nprintf '%b' '{answer}'\nexit {status}\n", "utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_private_home_is_not_reachable(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "python").mkdir(parents=True)
    home.chmod(0o700)
    assert not interpreter.reachable_by_others(home / "python")
    assert interpreter.reachable_by_others("/usr/bin")


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    link = tmp_path / "open"
    link.symlink_to(closed)
    assert not interpreter.reachable_by_others(link)


def test_the_own_python_is_chosen_where_runs_share_its_uid() -> None:
    chosen = interpreter.choose(None, other_uids=False, say=print)
    assert chosen.path == os.path.realpath(sys.executable)
    assert chosen.version == sys.version_info[:2]


@pytest.mark.parametrize("answer", ["3\\n9\\n/usr\\n", "3\\n", ""])
def test_what_is_too_old_or_odd_cannot_make_an_environment(tmp_path: Path, answer: str) -> None:
    assert interpreter.examine(fake_python(tmp_path / "python3", answer)) is None


def test_a_wanted_python_that_cannot_is_refused_with_the_cure(tmp_path: Path) -> None:
    broken = fake_python(tmp_path / "python3", "", status=1)
    with pytest.raises(ConfigError) as refused:
        interpreter.choose(broken, other_uids=False, say=print)
    assert refused.value.hint is not None
    assert "python3-venv" in refused.value.hint.en


def test_where_none_can_be_reached_the_first_is_taken_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "private"
    home.mkdir()
    mine = fake_python(home / "python3", f"3\\n12\\n{home}\\n")
    home.chmod(stat.S_IRWXU)
    monkeypatch.setattr(sys, "executable", mine)
    monkeypatch.setattr(interpreter, "SYSTEM_PYTHON", str(tmp_path / "missing"))
    lines: list[str] = []
    chosen = interpreter.choose(None, other_uids=True, say=lines.append)
    assert (chosen.path, chosen.version) == (mine, (3, 12))
    assert str(home) in lines[0]


def test_root_passes_over_a_python_in_a_private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "private"
    home.mkdir()
    monkeypatch.setattr(sys, "executable", fake_python(home / "python3", f"3\\n12\\n{home}\\n"))
    home.chmod(stat.S_IRWXU)
    public = fake_python(tmp_path / "public", "3\\n11\\n/usr\\n")
    monkeypatch.setattr(interpreter, "SYSTEM_PYTHON", public)
    monkeypatch.setattr(interpreter, "reachable_by_others", lambda path: "private" not in str(path))
    assert interpreter.choose(None, other_uids=True, say=print).path == public
