"""The tables of a database, brought to what this version needs."""

from __future__ import annotations

from qianka.store.session import Store
from qianka.store.tables import Base


def upgrade(store: Store) -> None:
    """Create what is missing; a database made by any earlier version opens."""
    Base.metadata.create_all(store.engine)
