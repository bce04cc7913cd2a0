"""Migrations: together they make the tables, and old databases open."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from qianka.clock import SystemClock
from qianka.errors import ConfigError
from qianka.store.session import Store
from qianka.store.tables import Base, Event, Person
from qianka.store.upgrade import config_for, upgrade
from sqlalchemy import inspect, text


@pytest.fixture
def address(tmp_path: Path, request: pytest.FixtureRequest, database: str) -> str:
    """Of a database without tables."""
    if database == "postgresql":
        return str(request.getfixturevalue("bare_database_url"))
    return f"sqlite:///{tmp_path / 'new.db'}"


@pytest.fixture
def bare(address: str) -> Iterator[Store]:
    store = Store(address)
    yield store
    store.close()


def test_the_sum_of_all_migrations_is_the_tables(bare: Store) -> None:
    upgrade(bare)
    with bare.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_migrations_are_one_line_without_branches(bare: Store) -> None:
    with bare.engine.connect() as connection:
        script = ScriptDirectory.from_config(config_for(connection))
        assert len(script.get_heads()) <= 1
        assert len(script.get_bases()) <= 1


def test_upgrading_again_changes_nothing_and_keeps_the_rows(bare: Store) -> None:
    upgrade(bare)
    with bare.transaction() as session:
        session.execute(
            text(
                "INSERT INTO person (login, name, alias, show_name, is_admin, demo, created_at) "
                "VALUES ('a', 'A', 'a', false, false, false, '2026-01-01 00:00:00')"
            )
        )
    upgrade(bare)
    with bare.reading() as session:
        assert [p.login for p in session.query(Person)] == ["a"]


def test_references_are_checked_as_before_once_the_upgrade_is_over(bare: Store, database: str) -> None:
    upgrade(bare)
    if database != "sqlite":
        return  # PostgreSQL always checks them
    with bare.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_several_processes_may_upgrade_at_once(address: str) -> None:
    failures: list[BaseException] = []

    def one() -> None:
        store = Store(address)
        try:
            upgrade(store)
        except Exception as error:  # noqa: BLE001 - shown below
            failures.append(error)
        finally:
            store.close()

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def has_migrations(store: Store) -> bool:
    with store.engine.connect() as connection:
        return ScriptDirectory.from_config(config_for(connection)).get_current_head() is not None


def test_a_database_of_a_newer_version_is_refused_untouched(bare: Store) -> None:
    if not has_migrations(bare):
        return  # nothing was released yet
    upgrade(bare)
    with bare.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigError, match="newer version"):
        upgrade(bare)


def test_a_database_without_a_version_is_refused_untouched(bare: Store) -> None:
    if not has_migrations(bare):
        return  # nothing was released yet
    Base.metadata.create_all(bare.engine)
    with pytest.raises(ConfigError, match="before the first release"):
        upgrade(bare)
    assert not inspect(bare.engine).has_table("alembic_version")


def test_whole_numbers_have_64_bits(bare: Store) -> None:
    """Memory is counted in bytes; PostgreSQL would refuse 3 GiB in 32 bits."""
    upgrade(bare)
    with bare.transaction() as session:
        session.add(Event(id=2**40, at=SystemClock().now(), topic="t", kind="k", payload={}))
    with bare.reading() as session:
        assert session.query(Event).one().id == 2**40


def test_a_database_of_the_first_release_is_brought_to_the_present_on_both(bare: Store) -> None:
    with bare.engine.begin() as connection:
        command.upgrade(config_for(connection), "0001")
    upgrade(bare)
    with bare.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
