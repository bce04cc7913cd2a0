"""`qianka doctor` looks at the database that the settings name."""

from __future__ import annotations

from pathlib import Path

import pytest
from qianka.cli import doctor
from qianka.settings import Settings


def look(url: str, data_dir: Path) -> doctor.Finding:
    (finding,) = doctor._database(Settings(data_dir=str(data_dir), database_url=url))
    return finding


def test_sqlite_needs_no_look(tmp_path: Path) -> None:
    assert look("", tmp_path).level == "ok"


def test_a_good_postgresql_is_named_with_its_version(database_url: str, tmp_path: Path) -> None:
    finding = look(database_url, tmp_path)
    assert (finding.level, finding.fix) == ("ok", None)
    assert "PostgreSQL 1" in finding.text.en


@pytest.mark.parametrize("url", ["postgresql://q:hunter2@127.0.0.1:1/x", "nonsense://hunter2"])
def test_what_cannot_be_used_comes_with_its_fix_and_without_its_password(url: str, tmp_path: Path) -> None:
    finding = look(url, tmp_path)
    assert finding.level == "bad"
    assert finding.fix is not None
    assert "hunter2" not in repr(finding)
