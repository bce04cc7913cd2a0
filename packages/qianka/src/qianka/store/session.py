"""The database: one engine, transactions as a context; the same promises on SQLite and PostgreSQL.

One writer at a time: a transaction that writes waits for the one before it, from its first statement
to its end. On SQLite that is BEGIN IMMEDIATE, on PostgreSQL an advisory lock of the database. So what a
use case has read is still true when it commits (nothing is updated from a stale row, no limit is passed
by two at once), deadlocks and serialization failures cannot happen, and the numbers of events rise in
the order of their commits, which live streams and the dispatcher rely on. Readers never wait: each sees
one snapshot. (docs/decisions/0010-postgresql-and-backups.md has the figures.)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event, make_url
from sqlalchemy.orm import Session, sessionmaker

WRITERS = 7_305_190_122
"""the advisory lock of PostgreSQL that a writing transaction holds"""
LOCK_SECONDS = 30
"""how long a writer waits for its turn before it fails; the same on both databases"""
IDLE_SECONDS = 60
"""after so long without a statement PostgreSQL ends a transaction: its process hangs and holds up all others"""
KEPT = 20
"""connections to SQLite that stay open"""
_PING = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}


class Store:
    """Opens transactions on the database at `url`.

    Raises ValueError for an address that is none, ModuleNotFoundError where the driver is not installed.
    """

    def __init__(self, url: str) -> None:
        self.address = database_url(url)
        self.is_sqlite = self.address.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self.engine = create_engine(
                self.address,
                connect_args={"timeout": LOCK_SECONDS, "check_same_thread": False},
                # Kept, not made anew for each burst: opening one costs more than the query it is for.
                pool_size=KEPT,
                max_overflow=KEPT,
            )
            event.listen(self.engine, "connect", _tune_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            self.engine = create_engine(
                self.address, connect_args=_postgres_arguments(), pool_pre_ping=True, pool_size=10, max_overflow=30
            )
            event.listen(self.engine, "begin", _begin_postgres)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session that commits at the end of the block, or rolls back on an exception."""
        with self._sessions() as session, session.begin():
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session for reading alone: one snapshot, which never waits for a writer."""
        with self._sessions() as session:
            session.connection(execution_options=self.reading_options)
            yield session

    @property
    def reading_options(self) -> dict[str, Any]:
        """Execution options of a connection that only reads."""
        if self.is_sqlite:
            return {"qianka_reading": True}
        return {"qianka_reading": True, "isolation_level": "REPEATABLE READ", "postgresql_readonly": True}

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()


def database_url(url: str) -> URL:
    """The address as SQLAlchemy wants it: PostgreSQL, however it is written, goes through psycopg 3."""
    try:
        found = make_url(url)
    except Exception as error:  # SQLAlchemy's own kinds, which quote nothing of the address
        raise ValueError("not an address of a database") from error
    if found.drivername in ("postgres", "postgresql"):
        found = found.set(drivername="postgresql+psycopg")
    if "password" in found.query:
        # Where it is masked when an address is written out.
        found = found.set(password=str(found.query["password"])).difference_update_query(["password"])
    if found.get_backend_name() not in ("sqlite", "postgresql"):
        raise ValueError(f"{found.get_backend_name()} is not supported")
    return found


def _postgres_arguments() -> dict[str, Any]:
    waits = f"-c lock_timeout={LOCK_SECONDS}s -c idle_in_transaction_session_timeout={IDLE_SECONDS}s"
    return {
        "application_name": "qianka",
        "client_encoding": "utf8",
        "connect_timeout": 10,
        "options": waits,
        # Prepared statements gain nothing here and fail behind a pooler that changes servers.
        "prepare_threshold": None,
        **_PING,
    }


def _tune_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # BEGIN is ours: see _begin_sqlite
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={LOCK_SECONDS}000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that will write takes the write lock at once: a later upgrade of a reader fails
    # with "database is locked" without waiting.
    reading = connection.get_execution_options().get("qianka_reading")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _begin_postgres(connection: Connection) -> None:
    if not connection.get_execution_options().get("qianka_reading"):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITERS})")
