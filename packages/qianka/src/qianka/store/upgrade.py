"""The tables of a database, brought to what this version needs: a database made by any earlier version opens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from qianka.errors import ConfigError, Text
from qianka.store.opening import reach
from qianka.store.session import Store
from qianka.store.tables import Base

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).resolve().parent / "migrations"
_LOCK = 7_305_190_121  # any number: names this lock among all of a PostgreSQL server


def upgrade(store: Store) -> None:
    """Create or alter what is missing, in one transaction; two processes at once do it one after the other.

    Raises ConfigError for a database of a newer version, or of none (made before the first release), and what
    `reach` raises: a server that is only just starting is waited for.
    """
    reach(store)
    with store.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            # Only outside a transaction, and only for this connection: a table that is made anew is
            # dropped first, which must not take the rows with it that point to it.
            raw = connection.connection.driver_connection
            assert raw is not None  # noqa: S101 - a connection in use has one
            raw.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                _upgrade(connection)
        finally:
            connection.invalidate()


def stamp(store: Store) -> None:
    """Note that the tables of a database are those of this version, as after an upgrade."""
    from alembic import command

    with store.engine.begin() as connection:
        command.stamp(config_for(connection), "head")


def newest_revision() -> str:
    """The revision that this version's tables have."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return str(ScriptDirectory.from_config(config).get_current_head())


def revision_of(store: Store) -> str | None:
    """The revision that a database's tables have; None: it has none."""
    from alembic.runtime.migration import MigrationContext

    with store.engine.connect().execution_options(**store.reading_options) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def config_for(connection: Connection) -> Config:
    """Alembic's configuration for a connection, without a file."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    config = config_for(connection)
    script = ScriptDirectory.from_config(config)
    present, head = MigrationContext.configure(connection).get_current_revision(), script.get_current_head()
    if head is None:
        Base.metadata.create_all(connection)  # before the first release
        return
    if present == head:
        return
    if present is None and inspect(connection).has_table("person"):
        raise ConfigError(
            Text("这个数据库是正式版之前建的，没有版本号", "this database was made before the first release"),
            Text("把旧的数据目录移走再启动", "move the old data directory away and start again"),
        )
    if present is not None and present not in {revision.revision for revision in script.walk_revisions()}:
        raise ConfigError(
            Text(f"这个数据库是更新的版本建的（{present}）", f"this database was made by a newer version ({present})"),
            Text("升级平台后再启动", "upgrade the platform, then start again"),
        )
    command.upgrade(config, "head")
    _check_references(connection)


def _check_references(connection: Connection) -> None:
    """Raises ConfigError, which rolls everything back, when a row points to nothing."""
    if connection.dialect.name != "sqlite":
        return
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    if broken:
        raise ConfigError(
            Text(
                f"升级后有 {len(broken)} 行指向不存在的数据，已撤销升级",
                f"after the upgrade {len(broken)} rows point to nothing; it was undone",
            ),
            Text("用备份恢复，并报告这个问题", "restore a backup and report this"),
            tables=sorted({str(row[0]) for row in broken}),
        )
