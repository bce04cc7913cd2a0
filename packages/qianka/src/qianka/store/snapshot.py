"""The whole database at one instant as one SQLite file, whatever it is kept in; and back.

So a backup of PostgreSQL can be looked at, verified and restored without a server, also into SQLite,
and the other way round.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sqlalchemy import text

from qianka.errors import ConfigError, Text
from qianka.store.repos import rows
from qianka.store.session import Store
from qianka.store.tables import Base
from qianka.store.upgrade import newest_revision, revision_of, stamp, upgrade

_PAGES = 2000
Copied = Callable[[int, int], None]
"""told (done, total), in pages or rows"""


def _nobody(done: int, total: int) -> None:
    return None


def take(store: Store, file: Path, copied: Copied = _nobody) -> str:
    """Write the database as it is at one instant into the new `file` (mode 0600); writers go on. Its revision.

    Raises ConfigError for a PostgreSQL database that this version has not upgraded yet.
    """
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    if store.is_sqlite:
        _take_sqlite(store, file, copied)
    else:
        _take_rows(store, file, copied)
    with closing(Store(f"sqlite:///{file}")) as taken:
        revision = revision_of(taken)
    _settle(file)
    return str(revision)


def pour(file: Path, store: Store, copied: Copied = _nobody) -> None:
    """Fill the empty PostgreSQL database of `store` from a snapshot of the present revision, in one transaction.

    Raises ConfigError when it is not empty: nothing is ever overwritten.
    """
    upgrade(store)
    with closing(Store(f"sqlite:///{file}")) as source, source.engine.connect() as reader:
        reader.execution_options(qianka_reading=True)
        total, done = sum(rows.count(reader).values()), 0

        def tell(more: int) -> None:
            nonlocal done
            done += more
            copied(done, total)

        with store.engine.begin() as writer:
            if not rows.is_empty(writer):
                raise ConfigError(
                    Text("目标数据库不是空的", "the database to restore into is not empty"),
                    Text("另建一个空库，用它作 database.url", "create an empty one and name it as database.url"),
                    reason="not_empty",
                )
            rows.copy(reader, writer, tell)


def is_sound(file: Path) -> str | None:
    """What SQLite itself finds wrong with a snapshot; None: nothing."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            told = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(10)")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.DatabaseError as error:
        return str(error)
    if told != ["ok"]:
        return "; ".join(told)
    return f"{len(broken)} rows point to nothing: {sorted({str(row[0]) for row in broken})}" if broken else None


def _take_sqlite(store: Store, file: Path, copied: Copied) -> None:
    with closing(store.engine.raw_connection()) as pooled, closing(sqlite3.connect(file)) as target:
        source = pooled.driver_connection
        assert isinstance(source, sqlite3.Connection)  # noqa: S101 - for the type checker
        # In steps, a change of the source would start the copy anew, without end under load; within a
        # reading transaction all steps see the same instant.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(target, pages=_PAGES, progress=lambda _, left, total: copied(total - left, total), sleep=0)
        source.execute("ROLLBACK")


def _take_rows(store: Store, file: Path, copied: Copied) -> None:
    if revision_of(store) != newest_revision():
        raise ConfigError(
            Text("数据库的版本和这个程序不同，不能备份", "the database is not of this version of the platform"),
            Text("先用这个版本启动一次平台（qianka up）", "start the platform of this version once (qianka up)"),
            reason="revision",
        )
    with closing(Store(f"sqlite:///{file}")) as target:
        Base.metadata.create_all(target.engine)
        stamp(target)
        with (
            store.engine.connect().execution_options(**store.reading_options) as reader,
            target.engine.connect() as writer,
        ):
            # Between two batches the disk may take its time.
            reader.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            total, done = sum(rows.count(reader).values()), 0

            def tell(more: int) -> None:
                nonlocal done
                done += more
                copied(done, total)

            rows.copy(reader, writer, tell)
            writer.commit()


def _settle(file: Path) -> None:
    """Make it one file: no journal beside it, as a copy of it must be complete."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    for end in ("-wal", "-shm"):
        Path(f"{file}{end}").unlink(missing_ok=True)
