"""Whom the platform serves as when root starts it."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka.cli import identity


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A data directory whose parents everybody may pass (pytest's own are private)."""
    folder = Path(tempfile.mkdtemp(prefix="qianka-identity-", dir="/tmp"))
    folder.chmod(0o755)
    data = folder / "data"
    (data / "run").mkdir(parents=True)
    yield data
    shutil.rmtree(folder)


def test_an_ordinary_user_stays_who_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert identity.choose("nobody", tmp_path) == identity.Identity(None)


@pytest.mark.root
def test_root_is_kept_where_there_is_no_such_user(tmp_path: Path) -> None:
    chosen = identity.choose("no-such-user-here", tmp_path)
    assert chosen.user is None
    assert chosen.fix is not None
    assert "useradd" in chosen.fix.en


@pytest.mark.root
def test_root_is_kept_where_the_user_cannot_reach_the_data(reachable: Path) -> None:
    reachable.parent.chmod(0o700)
    chosen = identity.choose("nobody", reachable)
    assert chosen.user is None
    assert chosen.why is not None
    assert reachable.stat().st_uid == 0  # given back


@pytest.mark.root
def test_the_data_follow_the_user_that_serves(reachable: Path) -> None:
    run_uid = 61_007
    (reachable / "ours").write_text("x", "utf-8")
    (reachable / "of-a-run").write_text("x", "utf-8")
    os.chown(reachable / "of-a-run", run_uid, run_uid)
    (reachable / "link").symlink_to("/etc/passwd")
    chosen = identity.choose("nobody", reachable)
    nobody = pwd.getpwnam("nobody").pw_uid
    owner = nobody if chosen.user is not None else 0  # a clone below /root is for root alone
    assert reachable.stat().st_uid == owner
    assert (reachable / "ours").stat().st_uid == owner
    assert (reachable / "of-a-run").stat().st_uid == run_uid
    assert Path("/etc/passwd").stat().st_uid == 0
