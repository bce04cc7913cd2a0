"""The database: one engine, transactions as a context, SQLite tuned for durable small writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.orm import Session, sessionmaker


class Store:
    """Opens transactions on the database at `url`."""

    def __init__(self, url: str) -> None:
        self.url = url
        is_sqlite = url.startswith("sqlite")
        arguments: dict[str, Any] = {"timeout": 30, "check_same_thread": False} if is_sqlite else {}
        self.engine = create_engine(url, connect_args=arguments, pool_pre_ping=not is_sqlite)
        if is_sqlite:
            event.listen(self.engine, "connect", _tune_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session that commits at the end of the block, or rolls back on an exception."""
        with self._sessions() as session, session.begin():
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session for reading alone: on SQLite it never waits for a writer."""
        with self._sessions() as session:
            session.connection(execution_options={"qianka_reading": True})
            yield session

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()


def _tune_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # BEGIN is ours: see _begin_sqlite
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Any) -> None:
    # A transaction that will write takes the write lock at once: a later upgrade of a reader fails
    # with "database is locked" without waiting.
    reading = connection.get_execution_options().get("qianka_reading")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
