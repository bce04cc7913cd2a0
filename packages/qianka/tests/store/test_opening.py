"""What is wrong with a database is said in words, never with a password in them."""

from __future__ import annotations

import builtins
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.cli.config import hidden
from qianka.errors import ConfigError, QiankaError, Unavailable
from qianka.settings import Settings
from qianka.store import opening
from qianka.store.opening import open_store, reach, shown
from qianka.store.session import Store, database_url
from qianka.testing.postgres import PostgresServer

pytestmark = pytest.mark.sqlite_only
SECRET = "hunter2-hunter2"


def said(error: QiankaError) -> str:
    """Everything that a person may get to see of a refusal."""
    return f"{error} {error.message} {error.hint} {error.details}"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://qianka:{SECRET}@db.example.edu:5433/qianka?sslmode=require",
        f"postgresql+psycopg://qianka:{SECRET}@db.example.edu/qianka",
        f"postgresql://qianka@db.example.edu/qianka?password={SECRET}&sslmode=require",
        f"postgresql://qianka@db.example.edu/qianka?sslmode=require&password={SECRET}",
        f"postgresql://:{SECRET}@/qianka?host=/run/postgresql",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    masked = str(hidden(url))
    assert SECRET not in masked
    assert "qianka" in masked
    store = Store(url)
    assert SECRET not in shown(store)
    assert SECRET not in repr(store.engine)
    assert store.address.password == SECRET  # but it is used
    store.close()


def test_what_is_no_secret_stays_readable() -> None:
    assert hidden("postgresql://qianka@db/qianka?sslmode=require") == ("postgresql://***@db/qianka?sslmode=require")
    assert hidden(f"postgresql://q:{SECRET}@db/qianka") == "postgresql://q:***@db/qianka"
    assert hidden("/a@b") == "/a@b"


def test_postgresql_goes_through_psycopg_however_it_is_written() -> None:
    for url in ("postgres://a/b", "postgresql://a/b", "postgresql+psycopg://a/b"):
        assert database_url(url).drivername == "postgresql+psycopg"
    assert database_url("sqlite:////srv/q.db").drivername == "sqlite"


@pytest.mark.parametrize("url", [f"nonsense {SECRET}", "mysql://a/b", "://", f"postgresql://q:{SECRET}@h:port/x"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        open_store(Settings(data_dir="/nowhere", database_url=url))
    assert refusal.value.reason == "database_url"
    assert SECRET not in said(refusal.value)


def test_a_driver_that_is_missing_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    really = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "psycopg":
            raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")
        return really(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigError) as refusal:
        open_store(Settings(data_dir="/nowhere", database_url="postgresql://q@h/x"))
    assert refusal.value.hint is not None
    assert "pip install" in refusal.value.hint.en


@pytest.fixture
def free_port() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield int(probe.getsockname()[1])  # bound, but nobody listens


def test_a_server_that_is_away_is_waited_for_then_named(free_port: int, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(f"postgresql://qianka:{SECRET}@127.0.0.1:{free_port}/qianka")
    waits: list[float] = []
    with pytest.raises(Unavailable) as refusal:
        reach(store, patience=0.2, sleep=lambda seconds: waits.append(seconds))
    assert waits
    assert f"127.0.0.1:{free_port}" in said(refusal.value)
    assert SECRET not in said(refusal.value) + caplog.text
    store.close()


def refused(url: str) -> ConfigError:
    store = Store(url)
    try:
        with pytest.raises(ConfigError) as refusal:
            reach(store, patience=30)  # at once: it will not get better by waiting
    finally:
        store.close()
    return refusal.value


def test_what_a_server_refuses(postgres: PostgresServer, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no such database" in said(refused(postgres.url("nothing")))
    assert "no such database or user" in said(refused(database_url.replace("qianka@", "nobodyknown@")))
    monkeypatch.setattr(opening, "OLDEST", 99)
    assert "too old" in said(refused(database_url))


def test_an_encoding_that_cannot_hold_chinese_is_refused(postgres: PostgresServer) -> None:
    postgres.execute("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII'")
    try:
        assert "SQL_ASCII" in said(refused(postgres.url("ascii")))
    finally:
        postgres.drop(postgres.url("ascii"))


def test_a_database_that_cannot_be_written_to_is_refused(postgres: PostgresServer, database_url: str) -> None:
    name = database_url.partition("@/")[2].partition("?")[0]
    postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert "cannot be written to" in said(refused(database_url))


def test_what_it_is_when_all_is_well(database_url: str, tmp_path: Path) -> None:
    store = Store(database_url)
    facts = reach(store)
    store.close()
    assert (facts.kind, facts.encoding, facts.collation) == ("postgresql", "UTF8", "C")
    here = open_store(Settings(data_dir=str(tmp_path)))
    assert reach(here).kind == "sqlite"
    here.close()
