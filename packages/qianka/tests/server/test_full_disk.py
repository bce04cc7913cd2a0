"""A data directory that cannot be written to: reading goes on, writing is refused with the reason."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from qianka.server import diskfull
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing import factories
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient


@contextmanager
def unwritable(platform: Platform) -> Iterator[None]:
    """The database refuses every change, as SQLite does on a disk that is read-only."""

    def forbid(connection: Any) -> None:
        connection.exec_driver_sql("PRAGMA query_only=ON")

    event.listen(platform.store.engine, "begin", forbid)
    try:
        yield
    finally:
        event.remove(platform.store.engine, "begin", forbid)


def test_reading_goes_on_and_writing_says_why_not(
    platform: Platform, with_token: Callable[[Person], TestClient]
) -> None:
    person = factories.make_person(platform)
    client = with_token(person)
    with unwritable(platform):
        assert client.get("/api/me").status_code == 200
        refused = client.post("/api/auth/login", json={"login": person.login, "password": "not this one"})
    assert refused.status_code == 503
    told = refused.json()
    assert (told["code"], told["details"]["reason"]) == ("unavailable", "disk")
    assert "disk" in told["message"]


def test_only_a_disk_is_called_a_disk() -> None:
    assert diskfull.is_disk(OSError(errno.ENOSPC, "No space left on device"))
    assert not diskfull.is_disk(PermissionError(errno.EACCES, "Permission denied"))


@pytest.mark.parametrize(
    ("told", "away"),
    [("database is locked", True), ("no such column: job.array_id", False), ("no such table: x", False)],
)
def test_tables_that_are_not_as_they_should_be_are_no_passing_silence(told: str, away: bool) -> None:
    error = OperationalError("SELECT 1", {}, sqlite3.OperationalError(told))
    assert diskfull.is_away(error) is away
