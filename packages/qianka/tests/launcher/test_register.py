"""The launcher's register: who lives, whatever else stands in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from qianka.launcher.register import Register


def test_only_the_living_are_told_of_and_the_rest_is_removed(tmp_path: Path) -> None:
    register = Register((str(tmp_path / "runs"),))
    register.enter("/data/jobs", "j-1", 2, 61000)
    mine = os.getpid()
    entry = json.loads((tmp_path / "runs" / str(mine)).read_text())
    (tmp_path / "runs" / "1").write_text(json.dumps({**entry, "start": entry["start"] + 1}))
    (tmp_path / "runs" / "999999999").write_text("{")
    (tmp_path / "runs" / ".4711").write_text("half written")
    assert register.living() == {mine: ("/data/jobs", "j-1", 2, (61000,))}
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted([".4711", str(mine)])
    register.strike(mine)
    register.strike(mine)
    assert register.living() == {}


def test_a_process_that_was_killed_counts_for_nothing(tmp_path: Path) -> None:
    program = (
        "from qianka.launcher.register import Register; import sys; Register((sys.argv[1],)).enter('/j', 'j', 1, 5)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", f"{program}; print('in', flush=True); input()", str(tmp_path / "runs")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    register = Register((str(tmp_path / "runs"),))
    assert register.living() == {child.pid: ("/j", "j", 1, (5,))}
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert register.living() == {}


def test_a_folder_that_others_may_enter_or_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="can be made"):
        Register((str(tmp_path / "open"), str(tmp_path / "link")))
    good = Register((str(tmp_path / "open"), str(tmp_path / "good")))
    assert good.folder == str(tmp_path / "good")
