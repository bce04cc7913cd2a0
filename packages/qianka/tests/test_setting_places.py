"""Where things lie when nobody said so."""

from __future__ import annotations

from pathlib import Path

from qianka import settings


def test_a_place_that_is_given_empty_is_the_usual_one(tmp_path: Path) -> None:
    given = {"QIANKA_DATA_DIR": str(tmp_path), "QIANKA_RUNTIME_DIR": ""}
    loaded = settings.load(environment=given)
    assert loaded.settings.runtime_dir == str(tmp_path / "runtime")
    assert loaded.sources["runtime.dir"] == "default"
    assert loaded.sources["data.dir"] == "QIANKA_DATA_DIR"
