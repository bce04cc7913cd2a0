"""Where `make_platform` gets a database from: in memory, unless a test run asks for another kind."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from qianka.store.session import Store
from qianka.store.tables import Base


def memory_store() -> Store:
    """A fresh database in memory with all tables, for any number of threads of this process. Close it."""
    store = Store(f"sqlite:///file:/{secrets.token_hex(8)}?vfs=memdb&uri=true")
    Base.metadata.create_all(store.engine)
    return store


class Source:
    """Makes the stores of a test; `make` is exchanged to run a suite on another database."""

    make: Callable[[], Store] = staticmethod(memory_store)


def fresh_store() -> Store:
    """A fresh database with all tables, of the kind that this test run is about. Close it."""
    return Source.make()
