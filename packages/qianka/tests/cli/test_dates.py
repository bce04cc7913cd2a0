"""When a lab is due, as teachers type it; offsets are written out."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from qianka.cli.lab import due_instant, instant
from qianka.cli.main import main
from qianka.clock import utc_offset


def test_a_due_date_alone_means_the_end_of_that_day_in_the_cohorts_zone() -> None:
    assert due_instant("2026-12-20", "Asia/Shanghai") == datetime(2026, 12, 20, 15, 59, tzinfo=timezone.utc)
    assert due_instant("2026-12-20 08:00", "Asia/Shanghai") == datetime(2026, 12, 20, 0, 0, tzinfo=timezone.utc)
    assert instant("2026-12-20", "Asia/Shanghai") == datetime(2026, 12, 19, 16, 0, tzinfo=timezone.utc)
    assert due_instant(None, "Asia/Shanghai") is None


def test_an_offset_is_written_with_its_sign_and_colon() -> None:
    local = datetime(2026, 1, 1, tzinfo=timezone(-timedelta(hours=3, minutes=30)))
    assert utc_offset(local) == "UTC-03:30"


def test_what_is_no_lab_folder_is_told_before_a_platform_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qianka.cli.trial.start", lambda *_: pytest.fail("a platform was started"))
    assert main(["lab", "check", str(tmp_path)]) == 6
    assert "lab.toml" in capsys.readouterr().err
