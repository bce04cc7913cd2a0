"""The database of the settings, opened: or a sentence about what is wrong with it and what to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from qianka import logs
from qianka.errors import ConfigError, QiankaError, Text, Unavailable
from qianka.settings import Settings
from qianka.store.session import Store

OLDEST = 12
"""the oldest PostgreSQL that will do"""
PATIENCE = 30.0
"""seconds to wait for a server that is not there yet, as when the machine has just started"""
_AGAIN = 0.5
_INSTALL = "pip install 'qianka[postgresql]'"
_FILE = "qianka.db"
RESTORING = "restoring"
"""lies in a data directory while a backup is being restored into it"""

_log = logs.get("store")


class Facts(NamedTuple):
    """What a database is: `sqlite` or `postgresql`, its version, its encoding and collation."""

    kind: str
    version: str
    encoding: str
    collation: str


def sqlite_file(data_dir: Path) -> Path:
    """Where the database lies when no other was named."""
    return data_dir / _FILE


def open_store(found: Settings) -> Store:
    """The store of the settings; connects to nothing yet. Raises ConfigError for an address that is none.

    Also for a data directory into which a backup was not restored to the end.
    """
    if (Path(found.data_dir) / RESTORING).exists():
        raise _refused(
            f"{found.data_dir} 里的恢复没有做完",
            f"a backup was not restored to the end in {found.data_dir}",
            Text("清空这个目录，再恢复一次", "empty that folder and restore again"),
        )
    url = found.database_url or f"sqlite:///{sqlite_file(Path(found.data_dir))}"
    try:
        return Store(url)
    except ModuleNotFoundError as error:
        raise ConfigError(
            Text(
                f"没有装 PostgreSQL 的驱动（{error.name}）", f"the driver of PostgreSQL is not installed ({error.name})"
            ),
            Text(f"运行：{_INSTALL}", f"run: {_INSTALL}"),
            reason="no_driver",
        ) from error
    except ImportError as error:  # psycopg is there, the library that it needs is not
        raise ConfigError(
            Text("PostgreSQL 的驱动缺少 libpq", "the driver of PostgreSQL finds no libpq"),
            Text(f"运行：{_INSTALL}", f"run: {_INSTALL}"),
            reason="no_driver",
        ) from error
    except ValueError as error:
        raise ConfigError(
            Text("database.url 不是能用的数据库地址", "database.url is no address of a database that can be used"),
            Text(
                "写成 postgresql://用户@主机/库名；空则用数据目录里的 SQLite",
                "write postgresql://USER@HOST/NAME; empty: SQLite in the data directory",
            ),
            reason="database_url",
        ) from error


def reach(store: Store, patience: float = PATIENCE, sleep: Callable[[float], None] = time.sleep) -> Facts:
    """Connect, waiting up to `patience` seconds for a server that does not listen yet, and look at what is there.

    Raises Unavailable when nothing answers; ConfigError for a refused sign-in, a database that is not
    UTF-8, a server that is too old, or one that cannot be written to.
    """
    until = time.monotonic() + patience
    told = False
    while True:
        try:
            return _look(store)
        except OperationalError as error:
            refusal = refusal_of(store, error)
            if not isinstance(refusal, Unavailable) or time.monotonic() >= until:
                raise refusal from error
            if not told:
                _log.warning("%s; waiting for it", refusal.message.en)
                told = True
            sleep(_AGAIN)


def shown(store: Store) -> str:
    """The address as it may be shown: never with a password."""
    query = {name: value for name, value in store.address.query.items() if name not in ("password", "sslpassword")}
    return store.address.set(password=None, query=query).render_as_string()


def refusal_of(store: Store, error: DBAPIError) -> QiankaError:
    """What a failure to connect means to the operator."""
    # Why it failed stands in the last line only; psycopg gives no code for what the server never answered.
    words = " ".join(str(error.orig).split())
    where = shown(store)
    for sign in (
        "password authentication failed",
        "no password supplied",
        "no pg_hba.conf entry",
        "Peer authentication",
    ):
        if sign in words:
            return _refused(f"数据库拒绝登录：{words}", f"the database refuses the sign-in: {words}", _HINT_SIGN_IN)
    if "does not exist" in words:
        return _refused(f"数据库或用户不存在：{words}", f"no such database or user: {words}", _HINT_CREATE)
    return Unavailable(
        Text(f"连不上数据库 {where}：{words}", f"the database {where} cannot be reached: {words}"),
        Text(
            "看 PostgreSQL 是否在运行、地址和防火墙是否正确；qianka doctor 检查",
            "see whether PostgreSQL runs, and the address and firewall; qianka doctor looks",
        ),
        reason="database",
    )


_HINT_SIGN_IN = Text(
    "检查用户、密码（建议放在 ~/.pgpass）和 pg_hba.conf",
    "check user, password (best kept in ~/.pgpass) and pg_hba.conf",
)
_HINT_CREATE = Text(
    "建库：createdb -O qianka -E UTF8 -T template0 --locale=C qianka（见 docs/howto/postgresql.md）",
    "create it: createdb -O qianka -E UTF8 -T template0 --locale=C qianka (see docs/howto/postgresql.md)",
)


def _look(store: Store) -> Facts:
    with store.engine.connect().execution_options(qianka_reading=True) as connection:
        if store.is_sqlite:
            version = connection.exec_driver_sql("SELECT sqlite_version()").scalar_one()
            return Facts("sqlite", str(version), "UTF8", "C")
        number = int(connection.execute(text("SHOW server_version_num")).scalar_one())
        if number < OLDEST * 10_000:
            raise _refused(
                f"PostgreSQL {number // 10_000} 太旧", f"PostgreSQL {number // 10_000} is too old", _need(OLDEST)
            )
        row: Any = connection.execute(
            text(
                "SELECT current_setting('server_version'), pg_encoding_to_char(encoding), datcollate,"
                " pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"
                " FROM pg_database WHERE datname = current_database()"
            )
        ).one()
    facts = Facts("postgresql", str(row[0]), str(row[1]), str(row[2]))
    if facts.encoding != "UTF8":
        raise _refused(
            f"数据库的编码是 {facts.encoding}，存不了中文", f"the database is encoded in {facts.encoding}", _HINT_CREATE
        )
    if row[3]:
        raise _refused(
            "这个 PostgreSQL 只读（备用机？）",
            "this PostgreSQL cannot be written to (a standby?)",
            Text("database.url 要指向主库", "database.url must name the primary"),
        )
    return facts


def _need(version: int) -> Text:
    return Text(f"需要 {version} 或更新", f"{version} or newer is needed")


def _refused(zh: str, en: str, hint: Text) -> ConfigError:
    return ConfigError(Text(zh, en), hint, reason="database")
