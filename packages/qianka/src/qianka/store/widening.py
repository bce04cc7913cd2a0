"""Migration 0002: integers of 32 bits, as PostgreSQL got them from 0001, become ones of 64: memory is in bytes."""

from __future__ import annotations

from sqlalchemy import Connection, text

_COLUMNS = text(
    "SELECT table_name, column_name, pg_get_serial_sequence(quote_ident(table_name), column_name)"
    " FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND data_type = 'integer' ORDER BY table_name, column_name"
)


def widen(connection: Connection) -> None:
    """Change every column there is, with what numbers its rows. Nothing to do on SQLite."""
    if connection.dialect.name != "postgresql":
        return
    quote = connection.dialect.identifier_preparer.quote
    for table, column, sequence in connection.execute(_COLUMNS).all():
        connection.execute(text(f"ALTER TABLE {quote(table)} ALTER COLUMN {quote(column)} TYPE bigint"))
        if sequence is not None:
            connection.execute(text(f"ALTER SEQUENCE {sequence} AS bigint"))
