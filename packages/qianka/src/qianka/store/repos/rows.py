"""All rows of all tables, from one database to another, as they are.

Between SQLite and PostgreSQL nothing is interpreted on the way but times and truth values: JSON goes as
its text, so that a null of SQL and one of JSON stay two things.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import JSON, Column, ColumnElement, Connection, MetaData, Table, Text, cast, func, select, text
from sqlalchemy.types import DateTime, NullType, TypeEngine

from qianka.store.tables import Base
from qianka.store.types import Instant

BATCH = 1000


def tables() -> list[Table]:
    """Every table, those that others point to first."""
    return list(Base.metadata.sorted_tables)


def count(connection: Connection) -> dict[str, int]:
    """How many rows each table has."""
    return {table.name: connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables()}


def copy(source: Connection, target: Connection, copied: Callable[[int], None] = lambda _: None) -> None:
    """Copy all rows; `copied` is told how many more were. The target's tables are there and empty."""
    for table in tables():
        plain = _plain(table)
        wanted = select(*(_as_text(plain.c[column.name], column) for column in table.c))
        rows = source.execution_options(yield_per=BATCH).execute(wanted).mappings()
        for batch in rows.partitions(BATCH):
            target.execute(plain.insert(), [dict(row) for row in batch])
            copied(len(batch))
    _number_on(target)


def is_empty(connection: Connection) -> bool:
    """Whether no table has a row."""
    return not any(count(connection).values())


def _as_text(plain: Column[Any], column: Column[Any]) -> ColumnElement[Any]:
    return cast(plain, Text).label(column.name) if isinstance(column.type, JSON) else plain


def _plain(table: Table) -> Table:
    """The table with types that convert nothing: JSON as text whose kind the database itself finds out."""
    return Table(table.name, MetaData(), *(Column(column.name, _plain_type(column.type)) for column in table.c))


def _plain_type(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(kind, JSON):
        return NullType()
    return DateTime() if isinstance(kind, Instant) else kind


def _number_on(target: Connection) -> None:
    """New rows go on behind the highest number. (SQLite does so by itself.)"""
    if target.dialect.name != "postgresql":
        return
    quote = target.dialect.identifier_preparer.quote
    for table in tables():
        column = table.autoincrement_column
        if column is None:
            continue
        name, key = quote(table.name), quote(column.name)
        target.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence(:table, :column), (SELECT max({key}) FROM {name}))"  # noqa: S608
                f" WHERE EXISTS (SELECT 1 FROM {name}) AND pg_get_serial_sequence(:table, :column) IS NOT NULL"
            ),
            {"table": name, "column": column.name},
        )
