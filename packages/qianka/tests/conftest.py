"""Fixtures of general use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.session import Store
from qianka.store.tables import Base
from qianka.testing.stores import fresh_store


@pytest.fixture
def store(tmp_path: Path, database: str) -> Iterator[Store]:
    """A fresh database with all tables: SQLite in a file, or PostgreSQL where the suite runs on both."""
    if database == "sqlite":
        store = Store(f"sqlite:///{tmp_path / 'qianka.db'}")
        Base.metadata.create_all(store.engine)
    else:
        store = fresh_store()
    yield store
    store.close()


@pytest.fixture
def platform(store: Store, tmp_path: Path) -> Platform:
    """A platform on a fresh data directory."""
    platform = Platform(settings=Settings(data_dir=str(tmp_path / "data")), store=store)
    platform.folders.make()
    return platform


HOSTILE_NAMES = ["a'; echo foo", 'quote".py', "空 格", "new\nline", "$(x)", "-rf"]


@pytest.fixture(params=HOSTILE_NAMES)
def hostile_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder whose name breaks naive shells and parsers."""
    path: Path = tmp_path / request.param
    path.mkdir()
    return path
