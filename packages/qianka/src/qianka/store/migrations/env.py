"""Alembic's entry: run with a connection that `qianka.store.upgrade` hands over; there is no alembic.ini."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from qianka.store.tables import Base
from qianka.store.types import Instant, Prose
from sqlalchemy.sql.elements import False_, True_


def render_item(kind: str, item: Any, _: Any) -> str | Literal[False]:
    """A migration must not change with the code: our column types are written as what they are in SQL."""
    if kind == "type" and isinstance(item, Instant):
        return "sa.DateTime()"
    if kind == "type" and isinstance(item, Prose):
        return "sa.String()"
    if kind == "server_default" and item is not None and isinstance(getattr(item, "arg", None), True_ | False_):
        return f"sa.{item.arg.__visit_name__}()"  # as SQLite writes it, PostgreSQL would take it for a number
    return False


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    # SQLite cannot alter a table: it is made anew and copied.
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
    render_item=render_item,
)
with context.begin_transaction():
    context.run_migrations()
